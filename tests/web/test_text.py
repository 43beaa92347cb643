"""What people type: without control and direction characters, and unable to turn the staff's pages round."""

import re
from typing import Any

import pytest
from django import forms
from django.http import QueryDict
from django.template import Context, Template
from django.test import Client
from django.urls import reverse

from accounts.roles import ADMIN
from tests.adminpanel.conftest import make_order_with_events
from tests.architecture.apps import APPS, ROOT
from tests.architecture.routes import ROUTES
from tests.factories import make_user, sign_in_staff
from web.forms import Form
from web.text import clean_text

# What is written by people, by the names that the staff's templates have for it.
_PEOPLES_WORDS = re.compile(
    r"\b(?:(?:order|person|user|journal)\.(?:name|email)|event\.(?:actor|note|details)|line\.(?:who|subject)"
    r"|order_return\.(?:reason|answer)|promotion\.title|(?<![.\w])value(?!\.))\b(?P<filters>[^\s%}]*)"
)
_PRINTED = re.compile(r"\{\{(?P<printed>[^}]*)\}\}|\{% blocktranslate (?P<handed>[^%]*)%\}")
_TITLE = re.compile(r"\{% block title %\}.*?\{% endblock %\}", re.S)


def all_forms(kind: type) -> set[type]:
    found: set[type] = set(kind.__subclasses__())
    return found.union(*(all_forms(each) for each in found))


class SomeForm(Form):
    words = forms.CharField(widget=forms.Textarea)
    name = forms.CharField(widget=forms.HiddenInput)
    password = forms.CharField(strip=False, widget=forms.PasswordInput)


@pytest.mark.parametrize(
    ("typed", "clean"),
    [
        ("Ann\u202egnp.exe", "Anngnp.exe"),
        ("a\x00b\x1b[31m\x7f\x85c", "ab[31m c"),
        ("\u2066Ann\u2069\u200e\u200f\u061c", "Ann"),
        ("one\r\ntwo\u2028three", "one  two three"),
        # Joiners are parts of words, and of a family.
        (
            "می\u200cخواهم 👩\u200d👩\u200d👧 Zoë Łódź 東京",
            "می\u200cخواهم 👩\u200d👩\u200d👧 Zoë Łódź 東京",
        ),
    ],
)
def test_s78_what_nobody_sees_is_taken_out(typed: str, clean: str) -> None:
    assert clean_text(typed) == clean


def test_s78_every_form_cleans_all_its_fields_and_no_password() -> None:
    unseen = "a\u202eb\x00c\r\nd"
    for data in (
        QueryDict(mutable=True) | dict.fromkeys(("words", "name", "password"), unseen),
        dict.fromkeys(("words", "name", "password"), unseen),
    ):
        form = SomeForm(data)
        assert form["words"].value() == "abc\nd"
        assert form["name"].value() == "abc  d"
        assert form["password"].value() == unseen
    assert ROUTES, "all addresses, so that all forms are there"
    shops = {each for each in all_forms(forms.BaseForm) if each.__module__.split(".")[0] in APPS}
    assert len(shops) >= 40
    assert [each for each in shops if not issubclass(each, Form)] == []


def test_s78_an_order_and_a_search_are_stored_and_shown_clean() -> None:
    order = make_order_with_events("paid")
    staff = sign_in_staff(Client(), make_user(role=ADMIN))
    note = "Ring\u202e twice\x00\nThen wait"
    answer: Any = staff.post(reverse("adminpanel:note", args=[order.number]), {"note": note})
    assert answer.status_code == 303
    page = staff.get(answer["Location"]).content.decode()
    assert "<bdi>Ring twice<br>Then wait</bdi>" in page
    assert f"<bdi>{order.name}</bdi>" in page
    found = Client().get(reverse("search"), {"q": "zz\u202ezz\x00zz"}).content.decode()
    assert 'value="zzzzzz"' in found


def test_s78_the_staffs_pages_put_peoples_words_apart() -> None:
    violations, seen = [], 0
    for path in sorted((ROOT / "templates" / "adminpanel").rglob("*.html")):
        text = _TITLE.sub("", path.read_text())
        for printed in _PRINTED.finditer(text):
            for words in _PEOPLES_WORDS.finditer(printed["printed"] or printed["handed"]):
                seen += 1
                if "|bdi" not in words["filters"]:
                    violations.append(f"{path.name}: {printed[0]}")
    assert seen >= 20
    assert not violations, "\n".join(violations)


def test_s78_words_are_put_apart_and_stay_text() -> None:
    drawn = Template("{% load bdi %}{{ words|bdi }}").render(Context({"words": "<b>\u202ex"}))
    assert drawn == "<bdi>&lt;b&gt;\u202ex</bdi>"
    assert Template("{% load bdi %}{{ words|bdi }}").render(Context({})) == "<bdi></bdi>"


def test_an_e_mail_address_is_one_word_and_stays_whole() -> None:
    shown = Template("{% load emails bdi %}{{ a|email_address }} {{ a|email_address|bdi }}")
    drawn = '<span class="mailbox">&lt;a@b.de&gt;</span>'
    assert shown.render(Context({"a": "<a@b.de>"})) == f"{drawn} <bdi>{drawn}</bdi>"
