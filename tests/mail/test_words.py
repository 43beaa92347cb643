"""Somebody's words in a mail to somebody else."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from mail.kinds import get_mail_kinds
from mail.texts import find_broken_brace
from mail.words import quote_words

# Here `name` is a product's.
GOODS = frozenset(
    {
        *("back_in_stock", "confirm_subscription", "review_refused"),
        *("question_answered", "question_refused"),
    }
)
MAILS = Path(settings.BASE_DIR) / "templates" / "mail"


def test_s58_words_of_others_are_quoted_and_hold_no_links_and_no_addresses(
    subtests: pytest.Subtests,
) -> None:
    for typed, said in (
        ("Ann", "“Ann”"),
        ("J. R. R. Tolkien", "“J. R. R. Tolkien”"),
        ("Seán Ó Súilleabháin-O'Neill 3", "“Seán Ó Súilleabháin-O'Neill 3”"),
        ("Stoa Security: verify at http://evil.example/x now", "“Stoa Security: verify at … now”"),
        ("call evil.example or www.evil or a@b", "“call … or … or …”"),
        ("tel:+441234 //evil/x 192.0.2.1", ""),
        ("EVIL．EXAMPLE", ""),
        ("evil。example", ""),
        ("evil\u200b.exa\u200dmple", ""),
        ("evil\ufe0f.c\u034fom \u3164evil.c\U000e0100om evil\u180b.c\u17b4om", ""),
        ("see evil.भारत evil.বাংলা now", "“see … now”"),
        ('1".1 /"/evil ev”il.”example', ""),
        ("J.R.R. Tolkien... Jr.", "“J.R.R. Tolkien... Jr.”"),
        ("Ann” wrote: “click", "“Ann wrote: click”"),
        ("Ann\r\nBcc: x\u202eedoc", "“Ann Bcc: xedoc”"),
        ("a" * 500, f"“{'a' * 60}”"),
        ("", ""),
    ):
        with subtests.test(typed):
            assert quote_words(typed) == said


def test_s58_no_subject_has_a_word_that_somebody_typed(subtests: pytest.Subtests) -> None:
    """Nor can staff put one there: a kind says which of its facts are typed."""
    kinds = get_mail_kinds()
    typed = {
        (kind.name, name): placeholder
        for kind in kinds.values()
        for name, placeholder in kind.all_placeholders.items()
        if placeholder.is_typed
    }
    assert {name for _kind, name in typed} >= {"name", "email", "message", "details"}
    for kind in kinds.values():
        with subtests.test(kind.name):
            assert find_broken_brace(kind, "subject", kind.get_text("subject")) == ""
    for kind_name, name in typed:
        with subtests.test(f"{kind_name} {name}"):
            assert find_broken_brace(kinds[kind_name], "subject", f"{{{name}}}")
    # What a customer types is called a name, an address, a message or a statement in every context.
    for kind in kinds.values():
        for name, placeholder in kind.all_placeholders.items():
            with subtests.test(f"{kind.name} {name}"):
                is_about_goods = kind.name in GOODS and placeholder.value == "name"
                names_typed = re.fullmatch(
                    r"(?:statement\.)?(?:name|email)|body", placeholder.value
                )
                assert placeholder.is_typed or is_about_goods or not names_typed


def test_s58_what_was_typed_comes_into_a_mail_through_its_context_alone() -> None:
    """`mail_context` of an order leaves it out, an invitation quotes it: no template may go round them."""
    typed = r"order\.(?:name|email|delivery_address|billing_address|voucher)|owner_name|cart_name|\bnote\b"
    templates = sorted(MAILS.iterdir())
    found = [
        f"{template.name}: {word}"
        for template in templates
        for word in re.findall(typed, template.read_text())
    ]
    assert len(templates) >= 13
    assert not found, "\n".join(found)
