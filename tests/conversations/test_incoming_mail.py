"""Mails of customers: what is taken in, as whose, and what is not."""

import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from time import process_time
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid1, uuid4

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

import conversations.management.commands.receive_mail as command
from accounts.models import User
from cassandra_db import CassandraUnavailable, current_time
from conversations.entities import Customer
from conversations.incoming import receive_mail
from conversations.mail_parsing import MailRefused, read_mail
from conversations.operations import messages
from conversations.operations.attachments import iterate_content
from conversations.operations.blocked_senders import block_sender
from conversations.quotes import find_typed_text, remove_quotes
from conversations.spam import is_spam
from conversations.states import DONE, NOTE, SHOP, SPAM, WAITING_FOR_US
from mail.messages import bounce_address, read_reply_address, reply_address
from mail.queries import list_recipient_mails
from tests.catalogue.photo_files import make_telltale_file
from tests.conversations.incoming_mails import get_head, list_messages, make_mail, take_in
from tests.conversations.mailboxes import customer_of, guest, new_message, start
from tests.factories import make_user
from tests.rules import for_each
from tests.threads import call_at_once
from web.errors import TooManyAttempts

QUOTE = "\n\nOn Mon, 4 January 2027 at 10:00, Stoa <shop@shop.example> wrote:\n> What broke?\n"
HEAD = b"From: Ada <ada@example.com>\r\nMessage-ID: <1@mail.example>\r\n"


@pytest.fixture(autouse=True)
def addresses(settings: Settings) -> None:
    settings.MAIL_REPLY_ADDRESS = "reply@shop.example"
    settings.MAIL_BOUNCE_ADDRESS = "bounce@shop.example"


@pytest.fixture
def user() -> User:
    return make_user("Ada")


@pytest.fixture
def asked(user: User) -> UUID:
    """A conversation in which the shop has answered."""
    ident = start(customer_of(user))
    messages.send_message(ident, new_message("What broke?", SHOP), current_time())
    return ident


def test_x382_an_answer_by_mail_is_one_message_however_often_it_comes(
    asked: UUID, user: User
) -> None:
    state = get_head(asked)
    messages.set_state(asked, DONE, seen=state.version, change_id=uuid4(), now=current_time())
    raw = make_mail(f"Ada <{user.email.upper()}>", f"It is the handle.{QUOTE}")
    assert call_at_once(*[partial(take_in, raw, asked)] * 3) == ["Stored."] * 3
    assert take_in(raw.replace(b"else", b"other"), asked) == "Stored.", "with other headers"
    *_, stored = list_messages(asked)
    assert get_head(asked).message_count == 3
    assert get_head(asked).state == WAITING_FOR_US, "it is open again"
    assert stored.body == "It is the handle."
    assert stored.quoted.endswith("> What broke?")
    assert (stored.sender.author_id, stored.sender.name) == (user.pk, "Ada")
    assert stored.sender.is_verified
    assert stored.mail_message_id.endswith("@mail.example>")
    nameless = make_mail(user.email, "Without a Message-ID").replace(b"Message-ID", b"X-None")
    assert [take_in(nameless, asked) for _ in range(2)] == ["Stored."] * 2
    assert get_head(asked).message_count == 4
    assert get_head(asked).customer.email == user.email


def test_s113_only_the_signed_address_finds_a_conversation(asked: UUID, user: User) -> None:
    other = start(guest())
    address, raw = reply_address(asked), make_mail(user.email, In_Reply_To=f"<{asked}@x>")
    assert read_reply_address(address.upper()) == asked
    forged = [
        address.replace(address[-15], "0" if address[-15] != "0" else "1"),
        address.replace(asked.hex, other.hex),
        bounce_address(asked),
        "reply@shop.example",
        f"reply+{asked.hex}@shop.example",
        "",
        f"reply+{'é' * 52}@shop.example",
    ]
    for each in forged:
        with pytest.raises(MailRefused, match="no address"):
            receive_mail(BytesIO(raw).read, each, current_time())
    with pytest.raises(MailRefused, match="no longer"):
        take_in(raw, uuid1())
    erased = start(Customer(uuid4(), "", "", is_member=False))
    with pytest.raises(MailRefused, match="no longer"):
        take_in(raw, erased)
    assert [get_head(each).message_count for each in (asked, other)] == [2, 1]


def test_s114_another_address_is_shown_as_unverified_and_gets_no_mail(
    asked: UUID, user: User
) -> None:
    eve = f"eve-{uuid4().hex}@example.com"
    for sender in (f"Ada <{eve}>", f"{user.email}, {eve}", f"{eve}, {user.email}"):
        assert take_in(make_mail(sender, f"It is {sender}"), asked) == "Stored."
        *_, stored = list_messages(asked)
        assert not stored.sender.is_verified, sender
        assert stored.sender.author_id is None
    twice = make_mail(user.email).replace(b"Subject:", f"From: {eve}\r\nSubject:".encode())
    assert take_in(twice, asked) == "Stored."
    assert not list_messages(asked)[-1].sender.is_verified
    messages.send_message(asked, new_message("We know.", SHOP), current_time())
    assert list_recipient_mails(eve) == []


AUTOMATIC: list[dict[str, Any]] = [
    {"Auto_Submitted": "auto-replied; x=y"},
    {"Precedence": "Bulk"},
    {"List_Id": "<l.example>"},
    {"X_Auto_Response_Suppress": "All"},
]
FROM_SERVERS: list[dict[str, Any]] = [
    {"Return_Path": "<>"},
    {"From": "Mail <MAILER-DAEMON@mx.example.com>"},
    {"From": "Stoa <shop@shop.example>"},
    {"From": "reply"},
]


def test_x384_no_loop_starts(asked: UUID, user: User) -> None:
    before = len(list_recipient_mails(user.email))
    version = get_head(asked).version
    for headers in AUTOMATIC:
        assert take_in(make_mail(user.email, "I am away.", **headers), asked) == "Stored as a note."
    assert [each.kind for each in list_messages(asked)[2:]] == [NOTE] * len(AUTOMATIC)
    for headers in FROM_SERVERS:
        changed = {"From": reply_address(asked)} if headers == {"From": "reply"} else headers
        raw = make_mail(user.email, "Undelivered", **changed)
        assert take_in(raw, asked).startswith("Nothing stored"), headers
    assert take_in(make_mail(user.email, Auto_Submitted="no"), asked) == "Stored."
    assert get_head(asked).message_count == 3 + len(AUTOMATIC)
    assert get_head(asked).version == version + 1, "only the person's mail changed its state"
    assert len(list_recipient_mails(user.email)) == before


def test_x385_what_says_nothing_is_refused_in_a_sentence(
    asked: UUID, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("", " \n\xa0\n", QUOTE, "> only\n> this", "<br>"):
        raw = make_mail(user.email, text)
        if text == "<br>":
            raw = raw.replace(b"text/plain", b"text/html")
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(raw)))
        with pytest.raises(CommandError, match="no text besides what it quotes") as refused:
            call_command("receive_mail", reply_address(asked))
        assert refused.value.returncode == 65
    crowd = ", ".join(f"a{number}@example.com" for number in range(99))
    for nobody in ("nobody", crowd):
        with pytest.raises(MailRefused, match="no sender"):
            take_in(make_mail(nobody), asked)
    assert get_head(asked).message_count == 2
    long = "word " * 5000
    assert take_in(make_mail(user.email, long), asked) == "Stored."
    *_, stored = list_messages(asked)
    assert len(stored.body) == 20_000
    assert stored.quoted == long.strip(), "nothing of it is lost"


def nest(count: int, kind: bytes) -> bytes:
    """Headers of parts, each within the one before it."""
    return b"".join(kind % {b"n": number} for number in range(count))


MULTIPART = b"Content-Type: multipart/mixed; boundary=b%(n)d\r\n\r\n--b%(n)d\r\n"
BOMBS = {
    "many parts": HEAD
    + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\n\r\n" * 9999,
    "deep parts": HEAD + nest(500, MULTIPART) + b"\r\nhi",
    "deep mails": HEAD + nest(500, b"Content-Type: message/rfc822\r\n\r\n") + b"hi",
    "many headers": HEAD + b"X: y\r\n" * 2000 + b"\r\nhi",
    "a long header": HEAD + b"X: " + b"y\r\n " * 40_000 + b"\r\n\r\nhi",
    "many lines": HEAD + b"\r\n" + b"\r" * 1_300_000,
    "many bytes": HEAD + b"\r\n" + b"x" * (37 * 1024 * 1024),
}


@for_each(sorted(BOMBS), at_least=7)
def test_s115_bombs_are_refused_before_they_are_unpacked(name: str) -> None:
    began = process_time()
    with pytest.raises(MailRefused, match="too"):
        read_mail(BytesIO(BOMBS[name]).read)
    assert process_time() - began < 10, "not a measurement: a bomb would take minutes"


HTML = b"""<head><style>p {color: red}</style><title>T</title></head><p>It is the <b>handle</b> &amp; lid &lt;1&gt;
<div>Second<br>line</div><script>alert(1)</script><div>On Mon, 4 January 2027 at 10:00, Stoa wrote:</div>
<blockquote><p>What broke?</p><blockquote>It broke.</blockquote></blockquote><p>Below</p>"""
TEXTS = {
    "It is the handle & lid <1>\nSecond\nline\n\nBelow": (b"text/html; charset=utf-8", HTML),
    "Grüße": (b"text/plain; charset=iso-8859-1", "Grüße".encode("latin-1")),
    "Gr?üße": (b"text/plain; charset=utf-7", b"Gr+2AA-+APwA3w-e"),
    "Grüße 1": (b'text/plain; charset="no\x00such"', "Grüße 1".encode()),
    "Grüße 2": (b"text/plain; charset=idna", "Grüße 2".encode()),
    "ÿ damaged": (b"text/plain; charset=utf-8", b"\xff damaged"),
    "no control": (b"text/plain", b"no\x00 \x1b\xe2\x80\xaecontrol"),
    "x": (b"text/html", b"<p>x" + b"<blockquote>" * 20_000),
    "two": (b"text/html", b"<!--" * 5_000 + b"--><p>two"),
}


@for_each(sorted(TEXTS), at_least=9)
def test_x383_a_text_is_read_in_any_charset_and_from_html(expected: str) -> None:
    kind, content = TEXTS[expected]
    raw = HEAD + b"Content-Type: " + kind + b"\r\n\r\n" + content
    assert find_typed_text(read_mail(BytesIO(raw).read).text) == expected


def test_s115_no_header_has_a_line_break_and_no_name_unseen_letters() -> None:
    raw = (
        b"From: =?utf-8?q?Ada=0D=0ABcc=3A_x=40example=2Ecom?= <ada@example.com>\r\n"
        b"Message-ID: <a\r\n b@c>\r\n\r\nhi"
    )
    mail = read_mail(BytesIO(raw).read)
    assert (mail.senders, mail.message_id) == (("ada@example.com",), "")
    assert mail.sender_name.isprintable()
    damaged = b"From: \xff\xfe <ada@example.com>\r\nMessage-ID: \xff\r\n\r\nhi"
    read_mail(BytesIO(damaged).read).sender_name.encode()


def test_x383_quotes_are_removed_wherever_they_stand() -> None:
    texts = {
        "top": f"Thanks!{QUOTE}",
        "bottom": f"{QUOTE.strip()}\n\nThanks!",
        "between": f"{QUOTE.strip()}\nThanks!\n> Anything else?\n",
        "outlook": "Thanks!\n\nFrom: Stoa <s@x.y>\nSent: Monday\nTo: Ada\nSubject: Re: jug\n\nOld",
        "german": "Thanks!\n\nAm Mo., 4. Jan. 2027 um 10:00 Uhr schrieb Stoa <s@x.y>:\n> Alt\n",
        "none": "Thanks!",
    }
    assert {name: find_typed_text(text) for name, text in texts.items()} == dict.fromkeys(
        texts, "Thanks!"
    )
    assert remove_quotes(texts["top"]) == "Thanks!"
    endless = "Am 1 schrieb " * 1500
    assert remove_quotes(endless) == endless, "the library does not end, so the text stays whole"


def test_x386_files_of_mails_become_attachments_within_the_bounds(asked: UUID, user: User) -> None:
    files = [("photo.png", make_telltale_file()), ("../run.sh", b"#!/bin/sh"), ("empty", b"")]
    files += [(f"{number}.txt", b"%d" % number) for number in range(12)]
    raw = make_mail(user.email, "Look", tuple(files))
    assert take_in(raw, asked) == take_in(raw, asked) == "Stored."
    *_, stored = list_messages(asked)
    photo, script, *_ = stored.attachments
    assert len(stored.attachments) == 10
    assert (photo.name, photo.content_type) == ("photo.jpg", "image/jpeg")
    assert b"elltale" not in b"".join(iterate_content(photo))
    assert (script.name, script.is_image) == ("run.sh.txt", False)
    assert (
        stored.body == "Look\n\nFiles that we could not keep: empty, 8.txt, 9.txt, 10.txt, 11.txt"
    )
    forwarded = (
        b"From: %s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee\r\n--b\r\n"
        b"Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nInner\r\n--b--"
        % user.email.encode()
    )
    assert take_in(forwarded, asked) == "Stored."
    assert [each.name for each in list_messages(asked)[-1].attachments] == ["mail.txt"]
    named = b'attachment; filename="a\xff\xe2\x80\xae.txt"'
    damaged = forwarded.replace(b"message/rfc822", b"text/plain\r\nContent-Disposition: " + named)
    assert take_in(damaged.replace(b"Subject: Inner\r\n\r\nInner", b""), asked) == "Stored."
    assert (
        list_messages(asked)[-1].body
        == "See\n\nFiles that we could not keep: a" + "\ufffd" * 4 + ".txt"
    )


def test_s116_blocked_senders_and_floods_are_kept_out(
    asked: UUID, user: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"message": (2, 0, 0, 3600)}
    blocked = f"eve-{uuid4().hex}@example.com"
    block_sender(blocked.upper(), user.pk, current_time())
    assert take_in(make_mail(blocked), asked).startswith("Nothing stored")
    raw = make_mail(user.email)
    assert [take_in(raw, asked) for _ in range(4)] == ["Stored."] * 4, "a repeat counts once"
    take_in(make_mail(user.email), asked)
    with pytest.raises(TooManyAttempts):
        take_in(make_mail("new@example.com"), asked)
    for reason in (TooManyAttempts(60), CassandraUnavailable("away")):
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(raw)))
        monkeypatch.setattr(command, "receive_mail", Mock(side_effect=reason))
        with pytest.raises(CommandError) as later:
            call_command("receive_mail", reply_address(asked), stdout=StringIO())
        assert later.value.returncode == 75
    block_sender(user.email, user.pk, current_time())
    assert take_in(make_mail("new@example.com"), asked).startswith("Nothing stored")
    assert get_head(asked).message_count == 4


def test_x387_spam_by_stated_rules(asked: UUID, user: User) -> None:
    links = " ".join(f"http://{number}.example/" for number in range(6))
    assert is_spam(links)
    assert not is_spam(links.replace("http://5", "")), "five links are none"
    assert not is_spam("https://shop.example.com " * 3 + "[1] <b>")
    assert is_spam("[URL=http://x.example]x[/url]")
    assert is_spam("", is_flagged=True)
    flagged: dict[str, Any] = {"X_Spam_Flag": "YES"}
    assert take_in(make_mail("eve@example.com", **flagged), asked) == "Stored as a note."
    assert take_in(make_mail(user.email, links), asked) == "Stored."
    assert get_head(asked).state == WAITING_FOR_US, "the shop has answered here"
    unanswered = start(customer_of(user))
    assert take_in(make_mail(user.email, **flagged), unanswered) == "Stored."
    assert get_head(unanswered).state == SPAM
    take_in(make_mail(user.email), unanswered)
    assert get_head(unanswered).state == SPAM


def test_x388_the_command_says_what_became_of_a_mail(
    asked: UUID, user: User, monkeypatch: pytest.MonkeyPatch, deliver_mail: Callable[[str], object]
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(make_mail(user.email))))
    said = StringIO()
    call_command("receive_mail", reply_address(asked), stdout=said)
    assert said.getvalue() == "Stored.\n"
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"")))
    with pytest.raises(CommandError, match="no address") as refused:
        call_command("receive_mail", "reply@shop.example", stdout=said)
    assert refused.value.returncode == 65
