"""Somebody's words in a mail to somebody else."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from mail.words import quote_words

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


def test_s58_no_subject_has_a_word_that_somebody_typed() -> None:
    allowed = {
        "name",  # a product's, in the mails about its stock, its reviews and its questions
        "count",  # of SKUs that are low
        "number",
        "order.number",
        "statement.number",  # eight letters and digits, or the form refuses it
        "letter.headline",
        "label",  # of a kind of notifications
    }
    seen, found = set(), []
    for subject in sorted(MAILS.glob("*.subject.txt")):
        text = subject.read_text()
        seen.add(subject.name)
        found += [
            f"{subject.name}: {variable}"
            for variable in re.findall(r"(?:\{\{ |with \w+=)([\w.]+)", text)
            # An answer has the subject of what its reader wrote.
            if (variable, subject.name) != ("subject", "conversation_reply.subject.txt")
            and (
                variable not in allowed
                or (
                    variable == "name"
                    and subject.name.split(".")[0]
                    not in (
                        *("back_in_stock", "confirm_subscription", "review_refused"),
                        *("question_answered", "question_refused"),
                    )
                )
            )
        ]
    assert len(seen) >= 15
    assert not found, "\n".join(found)


def test_s58_what_was_typed_comes_into_a_mail_through_its_context_alone() -> None:
    """`mail_context` of an order leaves it out, an invitation quotes it: no template may go round them."""
    typed = r"order\.(?:name|email|delivery_address|billing_address|voucher)|owner_name|cart_name|\bnote\b"
    templates = sorted(MAILS.iterdir())
    found = [
        f"{template.name}: {word}"
        for template in templates
        for word in re.findall(typed, template.read_text())
    ]
    assert len(templates) >= 50
    assert not found, "\n".join(found)
