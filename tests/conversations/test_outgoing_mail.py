"""The mails about messages of the shop: what they say, how they hang together, and who gets one."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller
from pytest_django import Settings

from accounts.models import User
from accounts.operations import save_notification_choice
from cassandra_db import current_time
from conversations.entities import Attachment, Customer, NewMessage, Sender
from conversations.mails import SHOP_REPLIED
from conversations.operations import messages
from conversations.states import NOTE, SHOP
from mail.messages import read_reply_address
from mail.operations import LATEST_OUTBOX_ENTRY, send_due_mails
from mail.queries import list_recipient_mails
from notifications.entities import NOTHING
from tests.conversations.incoming_mails import make_mail, take_in
from tests.conversations.mailboxes import customer_of, guest, new_message, start
from tests.factories import make_user
from tests.shards import ItemsShard
from tests.web_server import find_free_port


class Server:
    """A mail server of the test's own."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def deliver(self, email: str) -> list[EmailMessage]:
        """Have the worker send what waits for an address; return all mails that came to it."""
        now = current_time()
        waiting = frozenset(row.mail_id for row in list_recipient_mails(email))
        shard = ItemsShard("mail", item_ids=waiting)
        send_due_mails(now, position=now - LATEST_OUTBOX_ENTRY, shard=shard)
        return [each for each in self.got if each["To"] == email]


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    handler = Server()
    controller = Controller(handler, hostname="127.0.0.1", port=find_free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    settings.MAIL_REPLY_ADDRESS = "reply@shop.example"
    yield handler
    controller.stop()


def ask(user: User | None = None, subject: str = "Broken jug") -> tuple[UUID, Customer]:
    customer = customer_of(user) if user else guest()
    return start(customer, subject), customer


def answer(conversation_id: UUID, body: str = "Sorry!", *file_names: str) -> None:
    files = tuple(Attachment(uuid4(), each, "application/pdf", 1, "") for each in file_names)
    new = NewMessage(uuid4(), SHOP, Sender(uuid4(), "Ann"), body, attachments=files)
    messages.send_message(conversation_id, new, current_time())


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    part = mail.get_body((kind,))
    assert part
    return str(part.get_content()).replace("\r\n", "\n")


def test_x389_the_shops_answers_are_mails_of_one_thread(server: Server) -> None:
    ident, customer = ask(make_user("Ada"), "Jug\r\nBcc: all@example.com")
    answer(ident, "Which <b>part</b>?\n\nAnn", "manual.pdf", "a&b.pdf")
    messages.send_message(ident, new_message("Not for Ada", NOTE), current_time())
    messages.follow_conversation(ident)
    (first,) = server.deliver(customer.email)
    assert first["Subject"] == "Re: Jug Bcc: all@example.com"
    assert (first["Bcc"], first["Auto-Submitted"]) == (None, None)
    assert read_reply_address(first["Reply-To"]) == ident
    assert (first["In-Reply-To"], first["References"]) == (None, None)
    assert text_of(first).startswith("Which <b>part</b>?\n\nAnn\n"), "staff greet the reader"
    assert "Which &lt;b&gt;part&lt;/b&gt;?" in text_of(first, "html")
    assert "manual.pdf" in text_of(first)
    assert "a&amp;b.pdf" in text_of(first, "html")
    assert not list(first.iter_attachments()), "files are links"
    assert f"/account/messages/{ident}/" in text_of(first)
    assert "reply to this email" in text_of(first)
    assert first["List-Unsubscribe"]
    raw = make_mail(f"Ada <{customer.email}>", In_Reply_To=first["Message-ID"])
    take_in(raw, ident)
    own_id = message_from_bytes(raw)["Message-ID"]
    answer(ident, "Thank you")
    *_, second = server.deliver(customer.email)
    assert second["In-Reply-To"] == own_id
    assert second["References"].split() == [first["Message-ID"], own_id]
    assert "Not for Ada" not in text_of(first) + text_of(second)
    assert len(server.deliver(customer.email)) == 2


def test_x389_a_guest_gets_the_link_that_is_signed_and_always_the_mail(
    server: Server, settings: Settings
) -> None:
    settings.MAIL_REPLY_ADDRESS = ""
    ident, customer = ask(subject="RE: jug")
    answer(ident)
    (mail,) = server.deliver(customer.email)
    assert mail["Subject"] == "RE: jug"
    assert mail["Reply-To"] is None
    assert mail["List-Unsubscribe"] is None
    assert "/messages/" in text_of(mail)
    assert str(ident) not in text_of(mail)
    assert "don’t reply to this email" in text_of(mail)


def test_x389_a_member_who_wants_no_mail_gets_none_and_one_who_moved_gets_it_there(
    server: Server,
) -> None:
    user = make_user("Ada")
    ident, customer = ask(user)
    save_notification_choice(user.pk, SHOP_REPLIED, NOTHING)
    answer(ident)
    assert server.deliver(customer.email) == []
    other = make_user("Eve")
    moved = start(Customer(other.pk, f"old-{uuid4()}@example.com", "Eve", is_member=True))
    answer(moved)
    assert len(server.deliver(other.email)) == 1
