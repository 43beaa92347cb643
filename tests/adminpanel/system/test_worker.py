"""The page of the workers: what each did last, what waits, and what needs a look."""

import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from pytest_django import Settings

from adminpanel.system import workers
from adminpanel.templatetags.job_labels import LABELS, job_label
from jobs.leases import hold_lease, save_position
from jobs.registry import Job, list_jobs
from jobs.worker import Worker
from mail.operations import delete_mails, queue_mail
from mail.queries import list_due_mail_minutes
from web.rate_limits import get_rate_limit, hit_rate_limit


def failing(now: datetime) -> str:
    raise RuntimeError("the roof leaks")


def test_the_page_shows_what_was_done_what_failed_and_which_mails_wait(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = Job(f"test-{uuid4()}", timedelta(hours=1), lambda now: "7 orders looked after")
    ill, idle = (Job(f"test-{uuid4()}", timedelta(hours=1), failing) for _ in range(2))
    Worker([well, ill]).run_due_jobs()
    monkeypatch.setattr(workers, "list_jobs", lambda: [well, ill, idle])
    email = f"{uuid4().hex}@example.com"
    queue_mail(
        uuid4(), "asked", email, "registration", {"url": "https://x.example/"}, datetime.now(UTC)
    )
    text = staff_client.get("/staff/worker/").content.decode()
    assert "7 orders looked after" in text
    assert "RuntimeError: the roof leaks" in text
    assert "2 of 3 jobs need attention" in text
    assert "Has never run" in text
    assert "waiting to be sent, the oldest from" in text
    delete_mails(uuid4(), email, uuid4())


def test_jobs_have_names_that_staff_understand() -> None:
    names = {re.sub(r" \d+ of \d+$", "", job.name) for job in list_jobs()}
    assert not LABELS.keys() - names, "no jobs"
    assert [job_label(each) for each in ("moves", "orders 1 of 4", "low stock mail")] == [
        "Moves between carts",
        "Orders, shard 1 of 4",
        "Low stock mail",
    ]


def test_s64_it_shows_an_alarm_when_more_is_tried_than_the_whole_shop_may(
    staff_client: Client, settings: Settings
) -> None:
    kind = f"test-{uuid4().hex}"
    settings.RATE_LIMITS = {kind: (0, 0, 1, 60)}
    request = RequestFactory().post("/")
    hit_rate_limit(request, kind)
    assert b"Unusually many attempts" not in staff_client.get("/staff/worker/").content
    hit_rate_limit(request, kind)
    assert f"Unusually many attempts: {kind}" in staff_client.get("/staff/worker/").content.decode()


def test_x115_the_page_shows_what_its_process_keeps_of_pages(staff_client: Client) -> None:
    text = staff_client.get("/staff/worker/").content.decode()
    assert re.search(
        r">Page fragments</th>\s*<td[^>]*>\d+</td>\s*<td[^>]*>[\d.]+.\w+ of 48.0.MB</td>", text
    )


def test_every_limit_of_the_whole_shop_has_words_for_its_alarm() -> None:
    limited = {kind for kind in settings.RATE_LIMITS if get_rate_limit(kind).overall}
    assert limited == set(workers.ATTEMPT_LABELS)


def test_a_job_that_is_behind_says_by_how_much(
    staff_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, now = Job(f"test-{uuid4()}", timedelta(seconds=10), lambda now: ""), datetime.now(UTC)
    with hold_lease(job.name) as lease:
        lease.last_run = now
        save_position(job.name, (now - timedelta(minutes=20)).isoformat())
    monkeypatch.setattr(workers, "list_jobs", lambda: [job])
    page = staff_client.get("/staff/worker/").content.decode()
    assert re.search(r"Behind by 19 minutes 5\d seconds", page)


def test_mails_are_counted_by_the_minute_and_no_further_than_asked() -> None:
    then = datetime(2100, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=uuid4().int % 10**6)
    for minutes in (0, 0, 61):
        queue_mail(
            uuid4(),
            "asked",
            "a@example.com",
            "registration",
            {"url": "x"},
            then + timedelta(minutes=minutes),
        )
    assert list_due_mail_minutes(then, then + timedelta(minutes=90), 10) == [
        then,
        then,
        then + timedelta(minutes=61),
    ]
    assert list_due_mail_minutes(then, then + timedelta(minutes=90), 2) == [then, then]
    assert list_due_mail_minutes(then + timedelta(minutes=1), then + timedelta(minutes=2), 2) == []
