"""The demo shop's mail reader, fed by the mail catcher itself."""

import re
import smtplib
import subprocess
import sys
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from uuid import uuid1, uuid4

import pytest
from django.conf import settings as shop
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations import queries
from conversations.entities import Customer
from mail.messages import reply_address
from tests.conversations.mailboxes import start
from tests.web_server import find_free_port


@pytest.fixture
def catcher(settings: Settings, tmp_path: Path) -> Iterator[int]:
    """The port of a mail catcher that keeps what it gets where the reader looks."""
    settings.MAILDIR, port = tmp_path / "caught", find_free_port()
    command = [
        sys.executable,
        "manage.py",
        "mailcatcher",
        "--port",
        str(port),
        "--maildir",
        str(settings.MAILDIR),
    ]
    running = subprocess.Popen(command, cwd=shop.BASE_DIR, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    assert "Catching" in running.stdout.readline()
    yield port
    running.terminate()
    running.wait(10)


def send(port: int, subject: str, text: str, reply_to: str = "") -> None:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = (
        subject,
        "Stoa <shop@shop.example>",
        "alice@example.com",
    )
    message["Date"] = "Sat, 21 Nov 2026 10:00:00 +0000"
    if reply_to:
        message["Reply-To"] = reply_to
    message.set_content(text)
    message.add_alternative("<p>HTML</p>", subtype="html")
    with smtplib.SMTP("127.0.0.1", port, timeout=10) as server:
        server.send_message(message)


def test_it_lists_what_was_caught_and_shows_a_text_with_links_to_follow(catcher: int) -> None:
    client = Client()
    send(catcher, "The letter before it", "Hello")
    send(
        catcher,
        "Grüße <b>",
        "Follow https://shop.example/o/abc/?a=1&b=2 soon. <script>alert(1)</script>",
    )
    page = client.get(reverse("mail:messages")).content.decode()
    assert page.index("Grüße &lt;b&gt;") < page.index("The letter before it")
    assert "alice@example.com" in page
    key = re.findall(r'href="(/demo/mail/[^"]+/)"', page)[0]
    page = client.get(key).content.decode()
    assert '<a href="https://shop.example/o/abc/?a=1&amp;b=2" rel="nofollow">' in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert "HTML" not in page[page.index("<h1>") :]


def test_x388_a_visitor_answers_the_shops_message_from_the_mail_reader(
    catcher: int, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", catcher
    customer = Customer(uuid4(), "alice@example.com", "Alice", is_member=False)
    ident, client = start(customer), Client()
    send(catcher, "A notice", "No answer, please")
    send(catcher, "Re: Broken jug", "Which part?", reply_address(ident))
    send(catcher, "Re: Gone", "Too late", reply_address(uuid1()))
    addresses = re.findall(
        r'href="(/demo/mail/[^"]+/)"', client.get("/demo/mail/").content.decode()
    )
    gone, asked, notice = (f"{each}answer/" for each in addresses)
    assert b"Send answer" not in client.get(addresses[2]).content
    page = client.get(addresses[1]).content.decode()
    assert "Send answer" in page
    typed = {"message": "The handle.", "operation": str(uuid4())}
    for _ in range(2):
        assert client.post(asked, typed).status_code == 303
    messages = queries.messages_from_rows(queries.prefetch_messages(ident).rows())
    assert [(each.body, each.sender.is_verified) for each in messages[1:]] == [
        ("The handle.", True)
    ]
    assert "> Which part?" in messages[1].quoted
    for address, typed, words in (
        (asked, {"message": ""}, "Enter your answer"),
        (gone, {"message": "Hello"}, "The shop has not taken your email"),
    ):
        answer = client.post(address, typed)
        assert (answer.status_code, words in answer.content.decode()) == (422, True)
    assert client.post(notice, {"message": "Hello"}).status_code == 404


def test_it_says_when_there_is_no_mail_yet(settings: Settings, tmp_path: Path) -> None:
    settings.MAILDIR = tmp_path / "none"
    assert b"No emails yet" in Client().get(reverse("mail:messages")).content


def test_what_is_not_there_is_not_found(catcher: int) -> None:
    send(catcher, "The letter before it", "Hello")
    keys = ["nothing", "..", "%2e%2e%2fetc%2fpasswd", "x" * 500, "a\x00b"]
    assert {key: Client().get(f"/demo/mail/{key}/").status_code for key in keys} == dict.fromkeys(
        keys, 404
    )


def test_a_shop_has_no_such_pages(settings: Settings) -> None:
    settings.DEMO = False
    assert Client().get(reverse("mail:messages")).status_code == 404
    assert Client().get("/demo/mail/some/").status_code == 404
