"""The outbox: written once, sent once, tried again, given up in words."""

import logging
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiosmtpd.controller import Controller
from moneyed import EUR, Money
from pytest_django import Settings

from accounts.addresses import Address
from cassandra_db.leases import lease, position
from mail import jobs, queries
from mail.operations import HINT, LATEST_HINT, WAITS, Sending, mail_queued, mails_sent, minute_of
from tests.serving import free_port

REFUSED = "refused"  # whose mailbox the test's server does not know


ORDER = {
    "order": SimpleNamespace(
        number="S-1\r\nBcc: all@example.com",
        name="<b>Alice</b> & Co",
        subtotal=Money("24.00", EUR),
        delivery=Money("4.90", EUR),
        discount=Money("0.00", EUR),
        total=Money("28.90", EUR),
        tax=Money("4.61", EUR),
        delivery_address=Address("Alice", "Lindenallee 5", "10115", "Berlin", "DE"),
    ),
    "items": [SimpleNamespace(label="Mug, olive", quantity=2, line_total=Money("24.00", EUR))],
    "url": "https://shop.example/o/x/",
}


class Server:
    """A mail server of the test's own."""

    def __init__(self) -> None:
        self.got: list[EmailMessage] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if address.startswith(REFUSED):
            return "450 mailbox busy"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.got.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def to(self, email: str) -> list[EmailMessage]:
        return [message for message in self.got if message["To"] == email]


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    handler = Server()
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    yield handler
    controller.stop()


@pytest.fixture
def now() -> datetime:
    """A minute of the test's own, so that it sends its own mails alone."""
    return datetime(2030, 1, 1, 12, 0, 30, tzinfo=UTC) + timedelta(minutes=random.randrange(10**7))


def queued(now: datetime, *, to: str = "", subject_id: UUID | None = None, event: str = "asked") -> tuple[UUID, str]:
    email = to or f"alice-{uuid4().hex}@example.com"
    context = {"url": "https://shop.example/account/register/abc/"}
    return mail_queued(subject_id or uuid4(), event, email, "registration", context, now), email


def sent(now: datetime, limit: int = 200, since: timedelta = LATEST_HINT) -> Sending:
    return mails_sent(now, limit, now - since)


def test_a_mail_goes_out_as_text_and_html_with_a_fixed_message_id(server: Server, now: datetime) -> None:
    mail_id, email = queued(now)
    assert (sent(now).sent, len(server.to(email))) == (1, 1)
    message = server.to(email)[0]
    assert message["Subject"] == "Finish creating your account at Stoa"
    assert message["Message-ID"] == f"<{mail_id}@stoa.example>"
    assert message["Auto-Submitted"] == "auto-generated"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "https://shop.example/account/register/abc/" in text.get_content()
    assert '<a href="https://shop.example/account/register/abc/">' in html.get_content()
    assert "style" not in html.get_content()


def test_what_was_sent_is_not_kept_and_not_sent_again(server: Server, now: datetime) -> None:
    subject_id = uuid4()
    mail_id, email = queued(now, subject_id=subject_id)
    sent(now)
    row = queries.mail(mail_id)
    assert row is not None
    assert (row.text, row.html) == (None, None)
    assert row.sent_at == now.replace(microsecond=row.sent_at.microsecond)
    assert queued(now, to=email, subject_id=subject_id)[0] == mail_id
    assert sent(now).sent == 0
    assert len(server.to(email)) == 1
    assert queries.hints([minute_of(now) + timedelta(minutes=m) for m in range(5)], 10) == []


def test_the_same_event_told_by_many_is_one_mail_and_another_event_another(server: Server, now: datetime) -> None:
    subject_id, email = uuid4(), f"alice-{uuid4().hex}@example.com"
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: queued(now, to=email, subject_id=subject_id)[0], range(8)))
    assert len(ids) == 1
    queued(now, to=email, subject_id=subject_id, event="asked again")
    assert sent(now).sent == 2


def test_two_workers_that_run_beside_each_other_send_a_mail_once(server: Server, now: datetime) -> None:
    emails = [queued(now)[1] for _ in range(12)]
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: sent(now), range(3)))
    assert sum(run.sent for run in runs) == 12
    assert [len(server.to(email)) for email in emails] == [1] * 12


def test_a_mailbox_that_refuses_is_tried_again_later_and_given_up_with_an_error(
    server: Server, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    mail_id, email = queued(now, to=f"{REFUSED}-{uuid4().hex}@example.com")
    _, other = queued(now)
    assert sent(now) == Sending(sent=1, failed=1, position=minute_of(now - LATEST_HINT))
    assert len(server.to(other)) == 1
    assert sent(now) == Sending(sent=0, failed=0, position=minute_of(now - LATEST_HINT))  # not due yet
    at = now
    for wait in WAITS:
        assert "given up" not in caplog.text
        at += timedelta(minutes=wait)
        assert sent(at).failed == 1
    assert "given up after 11 attempts" in caplog.text
    assert email not in caplog.text  # S48
    row = queries.mail(mail_id)
    assert row is not None
    assert (row.attempts, row.sent_at) == (len(WAITS) + 1, None)
    assert mails_sent(at + timedelta(days=1), position=at) == Sending(
        0, 0, minute_of(at + timedelta(days=1) - LATEST_HINT)
    )


def test_while_no_mail_server_answers_nothing_is_tried_and_nothing_lost(
    server: Server, settings: Settings, now: datetime
) -> None:
    mail_id, email = queued(now)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    later = now + timedelta(hours=3)
    away = mails_sent(later, position=now)
    assert away == Sending(sent=0, failed=0, position=minute_of(now))
    row = queries.mail(mail_id)
    assert row is not None
    assert row.attempts == 0
    settings.EMAIL_PORT = port
    assert mails_sent(later, position=away.position) == Sending(1, 0, minute_of(later - LATEST_HINT))
    assert len(server.to(email)) == 1


def test_a_worker_killed_while_sending_leaves_a_hint_for_the_next(
    server: Server, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_id, email = queued(now)
    monkeypatch.setattr("mail.operations._message", _killed)
    with pytest.raises(KeyboardInterrupt):
        sent(now)
    monkeypatch.undo()
    assert sent(now).sent == 1
    assert server.to(email)[0]["Message-ID"] == f"<{mail_id}@stoa.example>"


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_hint_without_its_mail_is_waited_for_and_then_dropped(server: Server, now: datetime) -> None:
    HINT.run(minute=minute_of(now), mail_id=uuid4())
    assert sent(now).sent == 0
    assert len(queries.hints([minute_of(now)], 1)) == 1
    later = now + LATEST_HINT + timedelta(minutes=1)
    assert mails_sent(later, position=now).position == minute_of(later - LATEST_HINT)
    assert queries.hints([minute_of(now)], 1) == []


def test_more_than_fits_in_a_run_is_left_for_the_next_one(server: Server, now: datetime) -> None:
    emails = [queued(now)[1] for _ in range(5)]
    assert sent(now, limit=3).sent == 3
    assert sent(now, limit=3).sent == 2
    assert all(len(server.to(email)) == 1 for email in emails)


def test_s27_a_line_break_in_what_is_told_makes_no_header_and_markup_stays_text(server: Server, now: datetime) -> None:
    email = f"alice-{uuid4().hex}@example.com"
    mail_queued(uuid4(), "placed", email, "order_placed", ORDER, now)
    sent(now)
    message = server.to(email)[0]
    assert message["Bcc"] is None
    assert message["Subject"] == "Your order S-1 Bcc: all@example.com at Stoa"
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "<b>Alice</b> & Co" in text.get_content()
    assert "&lt;b&gt;Alice&lt;/b&gt; &amp; Co" in html.get_content()


@pytest.mark.parametrize("template", ["order_placed", "order_moved"])
def test_the_mails_of_an_order_tell_what_when_where_and_how_much(server: Server, now: datetime, template: str) -> None:
    email = f"alice-{uuid4().hex}@example.com"
    told = ORDER | {"headline": "Sent", "text": "it is on its way."}
    mail_queued(uuid4(), "told", email, template, told, now)
    sent(now)
    message = server.to(email)[0]
    for part in (message.get_body(("plain",)), message.get_body(("html",))):
        assert part is not None
        for words in (
            "2 × Mug, olive",
            "€24.00",
            "€4.90",
            "€28.90",
            "€4.61",
            "Lindenallee 5",
            "Germany",
            "shop.example/o/x/",
        ):
            assert words in part.get_content()
    if template == "order_moved":
        assert message["Subject"].startswith("Sent: S-1")


def test_the_job_goes_on_where_the_last_run_got_to(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with lease(jobs.NAME):
        for _ in range(10):  # what other tests have queued is more than one run sends
            jobs.send(datetime.now(UTC))
    _, email = queued(datetime.now(UTC))
    now = datetime.now(UTC)
    with lease(jobs.NAME):
        said = jobs.send(now)
        assert "sent" in said
        assert position(jobs.NAME) == minute_of(now - LATEST_HINT).isoformat()
        assert jobs.send(now + timedelta(minutes=1)) == ""
    assert len(server.to(email)) == 1
