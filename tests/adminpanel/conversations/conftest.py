"""Sue, who answers customers' messages, and what her pages show."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html

from accounts.models import User
from adminpanel.conversations.inbox_page import current_people
from conversations import queries
from conversations.entities import Label
from conversations.operations.labels import create_label
from conversations.rules import SHOP_MAILBOX
from tests.factories import make_user, sign_in_staff


@pytest.fixture(autouse=True)
def long_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show a folder whole, as other tests' conversations are among them, and the staff of this test."""
    monkeypatch.setattr(current_people, "seconds", 0)
    monkeypatch.setattr(queries, "PAGE_SIZE", 1_000)


@pytest.fixture
def sue() -> User:
    return make_user("Sue", role="support")


@pytest.fixture
def desk(client: Client, sue: User) -> Client:
    return sign_in_staff(client, sue)


def url(name: str, *args: object) -> str:
    return reverse(f"adminpanel:{name}", args=args)


def parse(answer: Any) -> html.HtmlElement:
    return html.fromstring(answer.content)


def text_of(answer: Any) -> str:
    return " ".join(parse(answer).text_content().split())


def form_of(page: html.HtmlElement, action: str) -> dict[str, str]:
    """Return what a browser would send of the first form with this action, without its buttons."""
    form = next(each for each in page.forms if each.get("action", "").partition("?")[0] == action)
    return {
        name: value or ""
        for name, value in form.form_values()
        if not hasattr(value, "read") and name != "files"
    }


def listed(page: html.HtmlElement) -> list[str]:
    """Return the subjects in the inbox."""
    return [each.text_content() for each in page.cssselect(".inbox__subject")]


def make_label() -> Label:
    return create_label(SHOP_MAILBOX, f"Label {uuid4().hex[:8]}", "teal")


def state_of(conversation_id: UUID) -> str:
    found = queries.get_conversation(conversation_id)
    assert found
    return found.state
