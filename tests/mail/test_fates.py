"""What becomes of a mail: refused for good, tried again, come back, and the addresses that get none."""

import asyncio
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller
from django.core.management import CommandError, call_command
from pytest_django import Settings

import mail.operations
from cassandra_db import CassandraUnavailable, Row
from consistency.findings import Scope
from consistency.runner import check_consistency
from mail import fates, queries
from mail.bounces import read_delivery_report
from mail.messages import bounce_address, read_bounce_address
from mail.operations import (
    LATEST_OUTBOX_ENTRY,
    MailOptions,
    allow_address,
    note_fate,
    queue_mail,
    send_due_mails,
)
from mail.privacy import erase_personal_data, export_personal_data
from orders.lifecycle.errors import MailRefused
from orders.operations.resent_mails import resend_mail
from tests.factories import make_order
from tests.orders.crashes import kill_in
from tests.reads import existing
from tests.web_server import find_free_port
from web.personal_data import DataSubject


class Server:
    """A mail server that answers as an address or a subject says: "rcpt-550-…@" is refused at its recipient with 550."""

    def __init__(self) -> None:
        self.envelopes: list[Any] = []

    async def handle_MAIL(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        phase, code, *_ = f"{address}-".split("-")
        if phase == "rcpt":
            return f"{code} 5.1.1 <{address}> says no"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        await asyncio.sleep(0)
        phase, code, *_ = f"{envelope.rcpt_tos[0]}-".split("-")
        if phase == "data":
            return f"{code} your text says no"
        self.envelopes.append(envelope)
        return "250 OK"


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    handler = Server()
    controller = Controller(handler, hostname="127.0.0.1", port=find_free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    settings.MAIL_BOUNCE_ADDRESS = "bounce@shop.example"
    yield handler
    controller.stop()


@pytest.fixture
def now() -> datetime:
    """A minute of the test's own, so that it sends its own mails alone."""
    return datetime(2060, 1, 1, 12, 0, 30, tzinfo=UTC) + timedelta(minutes=random.randrange(10**7))


def queued(now: datetime, to: str, order_number: str = "") -> UUID:
    options = MailOptions(order_number=order_number)
    return queue_mail(uuid4(), "asked", to, "registration", {"url": ""}, now, options)


def send(now: datetime) -> tuple[int, int]:
    result = send_due_mails(now, position=now - LATEST_OUTBOX_ENTRY)
    return result.sent, result.failed


def read(mail_id: UUID) -> Row:
    return existing(queries.get_mail(mail_id))


def at_order(number: str) -> dict[UUID, str]:
    return {row.mail_id: row.fate for row in queries.prefetch_order_mails(number).rows()}


def failed_on(day: datetime) -> set[UUID]:
    (pending,) = queries.prefetch_failed_days(day, 1)
    return {row.mail_id for row in pending.rows()}


def address(how: str = "alice") -> str:
    return f"{how}-{uuid4().hex}@example.com"


def report(status: str, action: str = "failed", to: str = "somebody@example.net") -> bytes:
    return f"""From: MAILER-DAEMON@mx.example.com
To: bounce@shop.example
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b
Content-Type: text/plain

I'm sorry to have to inform you that your message could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com
Arrival-Date: Mon, 4 Jan 2060 10:00:00 +0000

Final-Recipient: rfc822; {to}
Action: {action}
Status: {status}
Diagnostic-Code: smtp; 550 {status} No such
 user here

--b
Content-Type: text/rfc822-headers

Subject: Status: 5.1.1

--b--
""".replace("\n", "\r\n").encode()


def pipe(monkeypatch: pytest.MonkeyPatch, to: str, raw: bytes) -> str:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(raw)))
    said = StringIO()
    call_command("receive_bounce", to, stdout=said)
    return said.getvalue()


def test_x192_what_a_server_refuses_for_good_is_final_and_what_it_does_not_is_tried_again(
    server: Server, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    number = f"T-{uuid4().hex}"
    kinds = ("rcpt-550", "rcpt-553", "data-554", "rcpt-451", "data-452", "rcpt-530", "data-535")
    mails = {kind: queued(now, address(kind), number) for kind in kinds}
    assert send(now) == (0, len(kinds))
    final = {kind for kind, mail_id in mails.items() if read(mail_id).failed_at}
    assert final == {"rcpt-550", "rcpt-553", "data-554"}
    refused = read(mails["rcpt-550"])
    assert (refused.fate, refused.attempts) == (fates.REFUSED, 1)
    assert refused.failure.startswith("550 5.1.1 <rcpt-550-")
    assert read(mails["data-554"]).failure == "554 your text says no"
    assert read(mails["rcpt-451"]).failure.startswith("451 ")
    assert at_order(number) == {
        mail_id: fates.REFUSED if kind in final else fates.WAITING
        for kind, mail_id in mails.items()
    }
    assert failed_on(now) >= {mails[kind] for kind in final}
    assert "@example.com" not in caplog.text, "s95"
    assert send(now + timedelta(minutes=2, seconds=30)) == (0, 4), "the four others"
    for days, count in ((2, 3), (3, 0)):
        reading = queries.prefetch_failed_days(now + timedelta(days), queries.FAILED_COUNTED_FOR)
        assert len(queries.list_failed_mails(reading)[0]) == count


def test_x193_a_server_that_refuses_us_at_its_door_refuses_no_mail(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(*_: object) -> str:
        return "554 5.7.1 we do not know you"

    mail_id = queued(now, address())
    with monkeypatch.context() as patch:
        patch.setattr(Server, "handle_MAIL", no)
        assert send(now) == (0, 1)
    assert read(mail_id).failed_at is None
    assert send(now + timedelta(minutes=2, seconds=30)) == (1, 0)


def test_x193_a_mail_that_comes_back_closes_its_address_until_it_is_allowed(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    to, number = address("Alice"), f"T-{uuid4().hex}"
    mail_id = queued(now, to, number)
    assert send(now) == (1, 0)
    (envelope,) = server.envelopes
    assert envelope.mail_from == bounce_address(mail_id)
    assert len(envelope.mail_from.partition("@")[0]) <= 64
    assert b"From: Stoa <shop@shop.example>" in envelope.content
    assert "delayed" in pipe(monkeypatch, envelope.mail_from, report("4.4.1", "delayed"))
    assert (fates.get_fate(read(mail_id)), queries.get_undeliverable_address(to)) == (
        fates.SENT,
        None,
    )
    assert "for good" in pipe(monkeypatch, envelope.mail_from.upper(), report("5.1.1"))
    first = read(mail_id)
    pipe(monkeypatch, envelope.mail_from, report("5.1.1"))
    assert read(mail_id) == first, "twice is once"
    assert (first.fate, first.failure) == (fates.BOUNCED, "5.1.1 550 5.1.1 No such user here")
    assert at_order(number) == {mail_id: fates.BOUNCED}
    closed = existing(queries.get_undeliverable_address(to.upper()))
    assert closed.mail_id == mail_id
    assert queries.get_undeliverable_address("somebody@example.net") is None, "s95"
    later = now + timedelta(hours=1)
    unsent = queued(later, to.upper(), number)
    assert send(later) == (0, 1)
    assert (read(unsent).fate, len(server.envelopes)) == (fates.UNDELIVERABLE, 1)
    allow_address(to)
    assert send(later + timedelta(minutes=1)) == (0, 0), "what has ended is over"
    queued(later, to)
    assert send(later) == (1, 0)


def test_x193_a_policy_is_no_dead_address_and_other_mails_are_no_reports(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = address()
    mail_id = queued(now, to)
    send(now)
    back = bounce_address(mail_id)
    pipe(monkeypatch, back, report("5.7.1"))
    assert (read(mail_id).fate, queries.get_undeliverable_address(to)) == (fates.BOUNCED, None)
    for raw in (b"", b"\xff\x00", b"Subject: I am away\r\n\r\n5.1.1", report("2.0.0", "delivered")):
        assert read_delivery_report(raw) is None
        assert "Nothing" in pipe(monkeypatch, back, raw)
    gone = bounce_address(uuid4())
    assert "no longer kept" in pipe(monkeypatch, gone, report("5.1.1"))


def test_s95_a_return_address_that_we_have_not_signed_is_refused(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    mail_id = queued(now, address())
    signed = bounce_address(mail_id)
    assert read_bounce_address(signed) == mail_id
    local = signed.partition("@")[0]
    last = "0" if local[-1] != "0" else "1"
    other = bounce_address(uuid4()).partition("@")[0]
    forged = (local[:-1] + last, local[:39] + other[39:], "bounce+" + "é" * 52, "bounce", "")
    for each in forged:
        assert read_bounce_address(f"{each}@shop.example") is None, each
        with pytest.raises(CommandError) as refused:
            pipe(monkeypatch, f"{each}@shop.example", report("5.1.1"))
        assert refused.value.returncode == 65
    assert read(mail_id).failed_at is None
    monkeypatch.setattr("mail.queries.get_mail", Mock(side_effect=CassandraUnavailable))
    with pytest.raises(CommandError) as later:
        pipe(monkeypatch, signed, report("5.1.1"))
    assert later.value.returncode == 75
    settings.MAIL_BOUNCE_ADDRESS = ""
    assert bounce_address(mail_id) == ""


def test_x195_a_worker_that_is_killed_before_the_lists_leaves_that_to_the_next(
    server: Server, now: datetime
) -> None:
    number = f"T-{uuid4().hex}"
    mails = {kind: queued(now, address(kind), number) for kind in ("alice", "rcpt-550")}
    for _ in mails:
        kill_in(mail.operations, "note_fate", lambda: send(now))
    for minutes in range(6):
        send_due_mails(now + timedelta(minutes=minutes), position=now - LATEST_OUTBOX_ENTRY)
    assert at_order(number) == {mails["alice"]: fates.SENT, mails["rcpt-550"]: fates.REFUSED}
    assert mails["rcpt-550"] in failed_on(now)
    assert len(server.envelopes) == 1


def test_i14_what_an_order_says_of_its_mail_is_put_right(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = f"T-{uuid4().hex}"
    missing, stale = (queued(now, address(), number) for _ in range(2))
    note_fate(read(stale), fates.WAITING)
    with monkeypatch.context() as lost:
        lost.setattr("mail.operations.note_fate", lambda *_: None)
        assert send(now) == (2, 0)
    assert at_order(number) == {stale: fates.WAITING}
    report = check_consistency(
        Scope(tables=frozenset({"mails_by_order"})),
        ("I14",),
        recheck_after=(0.0, 0.0),
        grace_period=timedelta(0),
    )
    for violation in report.violations:
        if number in violation.subject:
            assert violation.fix
            violation.fix(now)
    assert at_order(number) == {missing: fates.SENT, stale: fates.SENT}


def test_x194_a_mail_is_sent_again_with_its_words_to_the_orders_present_address(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = make_order(paid=True, email=address())
    first = queued(now, address("before"), order.number)
    send(now)
    submit_id, again = uuid4(), now + timedelta(minutes=1)
    for _ in range(2):
        resend_mail(order, first, actor="staff", submit_id=submit_id, now=again)
    send_due_mails(again, position=again - LATEST_OUTBOX_ENTRY)
    before, after = server.envelopes
    assert after.rcpt_tos == [order.email] != before.rcpt_tos
    was, is_now = (message_from_bytes(each.content) for each in (before, after))
    assert is_now["Subject"] == was["Subject"]
    assert [part.get_payload() for part in is_now.walk() if not part.is_multipart()] == [
        part.get_payload() for part in was.walk() if not part.is_multipart()
    ]
    assert sorted(at_order(order.number).values()) == [fates.SENT, fates.SENT]
    other = make_order(email=address())
    with pytest.raises(MailRefused):
        resend_mail(other, first, actor="staff", submit_id=uuid4(), now=again)
    pipe(monkeypatch, after.mail_from, report("5.1.1"))
    with pytest.raises(MailRefused):
        resend_mail(order, first, actor="staff", submit_id=uuid4(), now=again)


def test_an_erased_person_leaves_no_word_of_a_mail_server(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = address()
    mail_id = queued(now, to)
    send(now)
    pipe(monkeypatch, bounce_address(mail_id), report("5.1.1"))
    person = DataSubject(uuid4(), to, "Alice")
    exported = export_personal_data(person)
    assert "No such user" in str(exported["gets_no_mail"])
    erase_personal_data(person, now)
    assert queries.get_undeliverable_address(to) is None
    assert queries.get_mail(mail_id) is None
