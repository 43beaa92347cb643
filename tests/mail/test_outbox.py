"""The outbox: written once, sent once, tried again, given up in words."""

import asyncio
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller
from django.test import override_settings
from moneyed import EUR, Money
from pytest_django import Settings

import mail.operations
from accounts.addresses import Address
from jobs.leases import get_position, hold_lease
from jobs.minutes import floor_to_minute
from mail import jobs, queries
from mail.operations import (
    INSERT_OUTBOX_ENTRY,
    LATEST_OUTBOX_ENTRY,
    RETRY_DELAYS,
    SendResult,
    queue_mail,
    send_due_mails,
)
from orders.operations.mail_texts import MailContent
from pricing.quotes import Discount
from tests.orders.crashes import kill_in
from tests.reads import existing
from tests.shards import SingleItemShard
from tests.threads import map_at_once
from tests.web_server import find_free_port

# When the second attempt is surely due: a run's clock goes on while it works, for seconds on a busy machine.
NEXT = timedelta(minutes=RETRY_DELAYS[0], seconds=30)
REFUSED = "refused"  # whose mailbox the test's server does not know


ORDER = {
    "order": SimpleNamespace(
        number="S-1\r\nBcc: all@example.com",
        subtotal=Money("24.00", EUR),
        delivery=Money("4.90", EUR),
        method=SimpleNamespace(name="Standard"),
        discount=Money("2.00", EUR),
        discounts=(Discount("Spring", Money("2.00", EUR)),),
        tax_added=Money("0.00", EUR),
        total=Money("26.90", EUR),
        tax=Money("4.61", EUR),
    ),
    "name": "<b>Alice</b> & Co",
    "delivery_address": Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE").lines,
    "items": [SimpleNamespace(label="Mug, olive", quantity=2, line_total=Money("24.00", EUR))],
    "url": "https://shop.example/o/x/",
    "letter": MailContent("Sent", ("It’s on its way.",), has_order_summary=True),
    "details": "It’s on its way.",
}


class Server:
    """A mail server of the test's own."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []
        self.asked = threading.Event()
        self.slow: threading.Event | None = None  # answers only once this is set

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if address.startswith(REFUSED):
            return "450 mailbox busy"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.asked.set()
        while self.slow and not self.slow.is_set():
            await asyncio.sleep(0.02)
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def to(self, email: str) -> list[EmailMessage]:
        return [message for message in self.got if message["To"] == email]


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    handler = Server()
    controller = Controller(handler, hostname="127.0.0.1", port=find_free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    yield handler
    controller.stop()


@pytest.fixture
def now() -> datetime:
    """A minute of the test's own, so that it sends its own mails alone."""
    return datetime(2030, 1, 1, 12, 0, 30, tzinfo=UTC) + timedelta(minutes=random.randrange(10**7))


def queued(
    now: datetime, *, to: str = "", subject_id: UUID | None = None, event: str = "asked"
) -> tuple[UUID, str]:
    email = to or f"alice-{uuid4().hex}@example.com"
    context = {"url": "https://shop.example/account/register/abc/"}
    return queue_mail(subject_id or uuid4(), event, email, "registration", context, now), email


def sent(now: datetime, limit: int = 200, since: timedelta = LATEST_OUTBOX_ENTRY) -> SendResult:
    return send_due_mails(now, limit, now - since)


def test_a_mail_that_is_queued_late_in_a_long_run_goes_out(server: Server) -> None:
    now = datetime.now(UTC)
    mail_id, email = queued(now - timedelta(minutes=20))
    send_due_mails(
        now, position=now - LATEST_OUTBOX_ENTRY, shard=SingleItemShard("mail", item_id=mail_id)
    )
    assert len(server.to(email)) == 1


def test_a_mail_goes_out_as_text_and_html_with_a_fixed_message_id(
    server: Server, now: datetime
) -> None:
    mail_id, email = queued(now)
    assert (sent(now).sent, len(server.to(email))) == (1, 1)
    message = server.to(email)[0]
    assert message["Subject"] == "Finish creating your account at Stoa"
    assert message["Message-ID"] == f"<{mail_id}@shop.example>"
    assert message["Auto-Submitted"] == "auto-generated"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "https://shop.example/account/register/abc/" in text.get_content()
    assert '<a href="https://shop.example/account/register/abc/"' in html.get_content()
    assert message["From"] == "Stoa <shop@shop.example>"


def test_s62_a_mail_that_waits_shows_its_link_to_nobody_who_reads_the_table(
    server: Server, now: datetime, settings: Settings
) -> None:
    mail_id, email = queued(now)
    row, opened = queries.MAIL.one(mail_id=mail_id), queries.get_mail(mail_id)
    assert row
    assert opened
    for stored, readable in ((row.text, opened.text), (row.html, opened.html)):
        assert "https://shop.example/account/register/abc/" in readable
        assert "https" not in stored
    # Another SECRET_KEY: what waits goes out as long as the old one is known.
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a" * 60, [settings.SECRET_KEY]
    assert sent(now).sent == 1
    assert len(server.to(email)) == 1


def test_a_mail_whose_key_is_gone_is_a_failure_and_keeps_no_other_back(
    server: Server, now: datetime
) -> None:
    with override_settings(SECRET_KEY="a" * 60):
        _, lost = queued(now)
    _, email = queued(now)
    result = sent(now)
    assert (result.sent, result.failed) == (1, 1)
    assert (len(server.to(lost)), len(server.to(email))) == (0, 1)


def test_what_was_sent_is_not_kept_and_not_sent_again(server: Server, now: datetime) -> None:
    subject_id = uuid4()
    mail_id, email = queued(now, subject_id=subject_id)
    sent(now)
    row = existing(queries.get_mail(mail_id))
    assert (row.text, row.html) == (None, None)
    assert row.sent_at == now.replace(microsecond=row.sent_at.microsecond)
    assert queued(now, to=email, subject_id=subject_id)[0] == mail_id
    assert sent(now).sent == 0
    assert len(server.to(email)) == 1
    assert (
        queries.list_outbox_entries(
            [floor_to_minute(now) + timedelta(minutes=m) for m in range(5)], 10
        )
        == []
    )


def test_the_same_event_sent_by_many_is_one_mail_and_another_event_another(
    server: Server, now: datetime
) -> None:
    subject_id, email = uuid4(), f"alice-{uuid4().hex}@example.com"
    ids = set(map_at_once(lambda _: queued(now, to=email, subject_id=subject_id)[0], range(8)))
    assert len(ids) == 1
    queued(now, to=email, subject_id=subject_id, event="asked again")
    assert sent(now).sent == 2


def test_an_address_that_cannot_be_written_keeps_no_other_mail_from_being_sent(
    server: Server, now: datetime
) -> None:
    # it looks like an address, and no domain's name is written so
    queued(now, to="alice@xאy.example")
    _, email = queued(now)
    for later in range(3):
        sent(now + timedelta(seconds=later))
    assert len(server.to(email)) == 1


def test_two_workers_that_run_beside_each_other_send_a_mail_once(
    server: Server, now: datetime
) -> None:
    emails = [queued(now)[1] for _ in range(12)]
    runs = map_at_once(lambda _: sent(now), range(3))
    assert sum(run.sent for run in runs) == 12
    assert [len(server.to(email)) for email in emails] == [1] * 12


def test_a_mailbox_that_refuses_is_tried_again_later_and_given_up_with_an_error(
    server: Server, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    mail_id, email = queued(now, to=f"{REFUSED}-{uuid4().hex}@example.com")
    _, other = queued(now)
    assert sent(now) == SendResult(
        sent=1, failed=1, position=floor_to_minute(now - LATEST_OUTBOX_ENTRY)
    )
    assert len(server.to(other)) == 1
    # not due yet
    assert sent(now) == SendResult(
        sent=0, failed=0, position=floor_to_minute(now - LATEST_OUTBOX_ENTRY)
    )
    at = now
    for wait in RETRY_DELAYS:
        assert "given up" not in caplog.text
        at += timedelta(minutes=wait, seconds=30)
        assert sent(at).failed == 1
    assert "given up after 11 attempts" in caplog.text
    assert email not in caplog.text  # S48
    row = existing(queries.get_mail(mail_id))
    assert (row.attempts, row.sent_at) == (len(RETRY_DELAYS) + 1, None)
    later = at + timedelta(minutes=RETRY_DELAYS[-1] + 60)
    assert send_due_mails(later, position=at) == SendResult(
        0, 0, floor_to_minute(later - LATEST_OUTBOX_ENTRY)
    )


def test_while_no_mail_server_answers_nothing_is_tried_and_nothing_lost(
    server: Server, settings: Settings, now: datetime
) -> None:
    mail_id, email = queued(now)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    later = now + timedelta(hours=3)
    away = send_due_mails(later, position=now)
    assert away == SendResult(0, 0, floor_to_minute(now), has_left_some=True)
    row = existing(queries.get_mail(mail_id))
    assert row.attempts == 0
    settings.EMAIL_PORT = port
    assert send_due_mails(later, position=away.position) == SendResult(
        1, 0, floor_to_minute(later - LATEST_OUTBOX_ENTRY)
    )
    assert len(server.to(email)) == 1


def test_a_worker_killed_while_sending_leaves_its_outbox_entry_for_the_next(
    server: Server, now: datetime
) -> None:
    mail_id, email = queued(now)
    kill_in(mail.operations, "build_message", lambda: sent(now))
    # Who looks at once cannot know whether it is being sent just now.
    assert sent(now + timedelta(seconds=30)).sent == 0
    assert sent(now + NEXT).sent == 1
    assert server.to(email)[0]["Message-ID"] == f"<{mail_id}@shop.example>"


def test_a_crash_before_our_note_repeats_the_mail_once_with_the_same_message_id(
    server: Server, now: datetime
) -> None:
    mail_id, email = queued(now)
    kill_in(mail.operations.SENT, "apply", lambda: sent(now))
    assert len(server.to(email)) == 1
    for minutes in (*range(8), 20, 39):
        sent(now + timedelta(minutes=minutes), since=timedelta(minutes=minutes + 1))
    assert [message["Message-ID"] for message in server.to(email)] == [
        f"<{mail_id}@shop.example>"
    ] * 2
    assert (
        queries.list_outbox_entries(
            [floor_to_minute(now) + timedelta(minutes=m) for m in range(40)], 10
        )
        == []
    )


def test_a_worker_that_comes_while_another_is_sending_does_not_send_it_too(
    server: Server, now: datetime
) -> None:
    _, email = queued(now)
    server.slow = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(sent, now)
        assert server.asked.wait(10)
        beside = [sent(now + timedelta(seconds=seconds)) for seconds in (0, 5, 55)]
        server.slow.set()
        assert first.result().sent == 1
    assert [run.sent for run in beside] == [0, 0, 0]
    assert sent(now + NEXT, since=timedelta(hours=1)).sent == 0
    assert len(server.to(email)) == 1


def test_two_workers_may_stop_at_any_write_and_each_mail_goes_out_once_or_twice(
    server: Server, now: datetime
) -> None:
    """Killed before each of its writes in turn: nothing is lost, and only what the server had may come again."""
    for place, write in enumerate(
        (
            (INSERT_OUTBOX_ENTRY, "run"),
            (mail.operations.ATTEMPT, "apply"),
            (mail.operations.SENT, "apply"),
            (mail.operations.DELETE_OUTBOX_ENTRY, "run"),
        )
    ):
        mail_id, email = queued(now)
        kill_in(*write, partial(sent, now))
        for minutes in range(8):
            sent(now + timedelta(minutes=minutes), since=timedelta(minutes=minutes + 1))
        assert {message["Message-ID"] for message in server.to(email)} == {
            f"<{mail_id}@shop.example>"
        }
        assert len(server.to(email)) == (2 if write[0] is mail.operations.SENT else 1), place
        now += timedelta(hours=place + 2)


def test_after_hours_without_a_server_a_run_looks_at_no_more_than_it_can_send(
    server: Server, settings: Settings, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    emails = [queued(now + timedelta(hours=hours))[1] for hours in range(6)]
    looked, list_entries = [], queries.list_outbox_entries

    def noted(minutes: list[datetime], at_once: int) -> list[Any]:
        looked.append(minutes)
        return list_entries(minutes, at_once)

    monkeypatch.setattr("mail.queries.list_outbox_entries", noted)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    later = now + timedelta(hours=8)
    away = send_due_mails(later, 2, now)
    assert away == SendResult(0, 0, floor_to_minute(now), has_left_some=True)
    assert len(looked) == 1
    settings.EMAIL_PORT, position = port, away.position
    for _ in range(6):
        position = send_due_mails(later, 2, position).position
    assert [len(server.to(email)) for email in emails] == [1] * 6
    assert position == floor_to_minute(later - LATEST_OUTBOX_ENTRY)


def test_an_outbox_entry_without_its_mail_is_waited_for_and_then_dropped(
    server: Server, now: datetime
) -> None:
    INSERT_OUTBOX_ENTRY.run(minute=floor_to_minute(now), mail_id=uuid4())
    assert sent(now).sent == 0
    assert len(queries.list_outbox_entries([floor_to_minute(now)], 1)) == 1
    later = now + LATEST_OUTBOX_ENTRY + timedelta(minutes=1)
    assert send_due_mails(later, position=now).position == floor_to_minute(
        later - LATEST_OUTBOX_ENTRY
    )
    assert queries.list_outbox_entries([floor_to_minute(now)], 1) == []


def test_more_than_fits_in_a_run_is_left_for_the_next_one(server: Server, now: datetime) -> None:
    emails = [queued(now)[1] for _ in range(5)]
    assert sent(now, limit=3).sent == 3
    assert sent(now, limit=3).sent == 2
    assert all(len(server.to(email)) == 1 for email in emails)


def test_s27_a_line_break_in_what_is_sent_makes_no_header_and_markup_stays_text(
    server: Server, now: datetime
) -> None:
    email = f"alice-{uuid4().hex}@example.com"
    queue_mail(uuid4(), "placed", email, "order_confirmed", ORDER, now)
    sent(now)
    message = server.to(email)[0]
    assert message["Bcc"] is None
    assert message["Subject"] == "Your order S-1 Bcc: all@example.com at Stoa"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "<b>Alice</b> & Co" in text.get_content()
    assert "&lt;b&gt;Alice&lt;/b&gt; &amp; Co" in html.get_content()


def test_the_mails_of_an_order_say_what_when_where_and_how_much(
    server: Server, now: datetime
) -> None:
    email = f"alice-{uuid4().hex}@example.com"
    templates = {"order_confirmed": "Your order S-1", "order_changed": "Sent: S-1"}
    for template in templates:
        queue_mail(uuid4(), template, email, template, ORDER, now)
    assert sent(now).sent == 2
    words = [
        "It’s on its way.",
        "2 × Mug, olive",
        "€24.00",
        "Spring",
        "−€2.00",
        "Delivery, Standard",
        "€4.90",
        "€26.90",
        "€4.61",
        "Lindenallee 5",
        "Germany",
    ]
    missing = []
    for template, subject in templates.items():
        (message,) = [each for each in server.to(email) if each["Subject"].startswith(subject)]
        for kind in ("plain", "html"):
            part = existing(message.get_body((kind,)))
            text = part.get_content()
            missing += [
                (template, kind, each) for each in (*words, "shop.example/o/x/") if each not in text
            ]
    assert missing == []


def test_the_job_goes_on_where_the_last_run_got_to(server: Server) -> None:
    mail_id, email = queued(datetime.now(UTC))
    shard = SingleItemShard(f"mail {mail_id}", item_id=mail_id)
    now = datetime.now(UTC)
    with hold_lease(shard.job_name):
        assert jobs.send_mails(now, shard) == "1 sent, 0 failed"
        assert (
            get_position(shard.job_name) == floor_to_minute(now - LATEST_OUTBOX_ENTRY).isoformat()
        )
        assert jobs.send_mails(now + timedelta(minutes=1), shard) == ""
    assert len(server.to(email)) == 1
