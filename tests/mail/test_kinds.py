"""The kinds of mails: each has the brand's name and look, one button where there is something to do, and a readable text."""

import re
from email import message_from_bytes, policy
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from lxml import html

from catalogue.palette import make_palette
from mail.kinds import SAMPLE, MailKind, get_mail_kinds
from mail.operations import queue_mail
from mail.rendering import LINE_LENGTH, RenderedMail, lay_out_text, render_mail
from mail.texts import MailTexts, fill_text
from shop_settings.brand import BRAND, KEY, Brand, find_brand
from shop_settings.operations import save_setting
from shop_settings.queries import get_settings_at_quorum
from tests.clock import now
from tests.factories import make_order
from tests.outbox import deliver_mail
from tests.shop_settings.saved import own_settings

__all__ = ["own_settings"]
NAME = 'Ærø & Søn "Kram"'


def save_brand(**values: Any) -> None:
    seen = BRAND.fingerprint(find_brand(get_settings_at_quorum()))
    save_setting(BRAND, KEY, Brand(tagline="", **values), seen, now())


def render_sample(kind: MailKind, texts: MailTexts | None = None) -> RenderedMail:
    """Return a mail as the staff's page previews it."""
    context = kind.preview(make_order(paid=True)) if kind.preview else {**SAMPLE, **kind.sample}
    return render_mail(kind.name, context, texts)


def test_x470_each_mail_carries_the_brand_and_no_other_name(
    own_settings: None, subtests: pytest.Subtests
) -> None:
    save_brand(name=NAME, accent="0b5d3b", ground="fdf6e3")
    kinds = get_mail_kinds()
    assert len(kinds) >= 40
    for kind in kinds.values():
        mail = render_sample(kind)
        with subtests.test(kind.name):
            assert mail.html
            page = html.fromstring(mail.html)
            assert mail.subject == " ".join(mail.subject.split()) != ""
            assert page.findtext(".//title") == mail.subject
            assert page.cssselect(".m-name")[0].text_content() == NAME
            assert "Ærø &amp; Søn &quot;Kram&quot;" in mail.html
            assert NAME in mail.text
            assert "stoa" not in f"{mail.subject}{mail.text}{mail.html}".casefold()
            assert "{" not in mail.subject + mail.text
            # What is seen needs no sheet, and the sheet has the dark colours.
            assert len(page.cssselect(".m-button")) == (1 if kind.button else 0)
            for button in page.cssselect(".m-button"):
                assert "background:#0b5d3b" in button.get("style", "")
                assert button.get("href", "") in mail.text.splitlines()
            assert f"#{make_palette('0b5d3b', 'fdf6e3')['dark']['paper']}" in mail.html
            assert all(each.get("alt") is not None for each in page.iter("img"))
    queue_mail(uuid4(), "asked", to := f"{uuid4().hex}@example.org", "registration", SAMPLE, now())
    (message,) = deliver_mail(to)
    parsed = message_from_bytes(message.message().as_bytes(), policy=policy.default)
    (sender,) = parsed["From"].addresses
    assert (sender.display_name, sender.domain) == (NAME, "shop.example")


def test_x470_the_text_is_wrapped_and_each_address_has_a_line_of_its_own(
    subtests: pytest.Subtests,
) -> None:
    for kind in get_mail_kinds().values():
        lines = render_sample(kind).text.split("\n")
        with subtests.test(kind.name):
            for line in lines:
                assert len(line) <= LINE_LENGTH or "://" in line, line
                assert re.fullmatch(r"https?://\S+", line) or "://" not in line, line
            assert ("", "") not in list(pairwise(lines[:-1]))
    assert lay_out_text("See https://shop.example/a there.\n> https://b.example is quoted") == (
        "See\nhttps://shop.example/a\nthere.\n> https://b.example is quoted\n"
    )
    assert lay_out_text("See https://shop.example/a/. Or (https://shop.example/?b=1)!") == (
        "See\nhttps://shop.example/a/\nOr (\nhttps://shop.example/?b=1\n)!\n"
    )


def test_x470_an_order_is_mailed_with_the_pictures_of_its_items() -> None:
    order = make_order(paid=True)
    kind = get_mail_kinds()["order_confirmed"]
    assert kind.preview
    context = kind.preview(order)
    page = html.fromstring(render_mail(kind.name, context).html or "")
    shown = [each.get("src", "") for each in page.iter("img")]
    assert len(shown) == len([each for each in context["items"] if each.picture]) > 0
    assert all(each.startswith(settings.PUBLIC_URL) for each in shown)


def test_x471_an_empty_fact_takes_its_space_along_and_a_value_is_filled_in_once() -> None:
    assert fill_text("Hello {name},", {"name": ""}) == "Hello,"
    assert fill_text("Hello {name},", {"name": "{shop}", "shop": "x"}) == "Hello {shop},"
    assert fill_text("{gone} here", {}) == " here"
