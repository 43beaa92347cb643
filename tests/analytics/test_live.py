"""The staff's live page: the last thirty minutes of all processes."""

from datetime import UTC, datetime, timedelta
from itertools import count
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from adminpanel.reports.live import LiveView, get_live_view
from analytics import live
from analytics.event_writer import EventWriter, WaitingEvent, make_batches
from cassandra_db import CassandraUnavailable
from tests.factories import make_user, sign_in_staff

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
MINUTE = timedelta(minutes=1)
_days = count()


@pytest.fixture
def hour() -> datetime:
    """An hour of a day of its own, which no other test has."""
    return datetime(2013, 1, 1, 10, tzinfo=UTC) + timedelta(days=next(_days))


def event(at: datetime, visitor: int, kind: str = "category") -> WaitingEvent:
    return WaitingEvent(kind, at, f"192.0.2.{visitor}", BROWSER, category_id=uuid4())


def totals(view: LiveView) -> tuple[int, int, int]:
    return view.visitors, view.pages, view.orders


@pytest.mark.usefixtures("told_apart")
def test_x206_processes_are_added_up_and_somebody_is_one_visitor_in_all(hour: datetime) -> None:
    one, other = EventWriter(), EventWriter()
    at = hour + 40 * MINUTE
    one.write(make_batches([event(at, 1), event(at, 2)]))
    one.write(make_batches([event(at, 1)]))
    other.write(make_batches([event(at, 1), event(at + MINUTE, 3), event(at, 1, "order")]))
    view = get_live_view(at + 5 * MINUTE)
    assert totals(view) == (3, 5, 1)
    assert [(each.at, each.visitors, each.pages, each.orders) for each in view.lines] == [
        (at + MINUTE, 1, 1, 0),
        (at, 2, 4, 1),
    ]
    assert len(view.minutes) == 30
    # Half an hour lies in two hours; what is older is gone.
    assert totals(get_live_view(at + 29 * MINUTE)) == (3, 5, 1)
    assert totals(get_live_view(at + 30 * MINUTE)) == (1, 1, 0)
    assert totals(get_live_view(at + 31 * MINUTE)) == (0, 0, 0)


def test_x206_minutes_that_cannot_be_written_hold_no_event_up_and_come_with_the_next(
    hour: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = EventWriter()
    with monkeypatch.context() as away:
        away.setattr(live.WRITE_MINUTE, "start", Mock(side_effect=CassandraUnavailable("away")))
        assert writer.write(make_batches([event(hour, 1)])) == []
    assert totals(get_live_view(hour)) == (0, 0, 0)
    writer.write(make_batches([event(hour + MINUTE, 1)]))
    assert totals(get_live_view(hour + MINUTE)) == (1, 2, 0)


def test_x206_analysts_see_the_last_half_hour_and_an_open_page_only_what_is_new(
    hour: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adminpanel.reports.views.current_time", lambda: hour + MINUTE)
    client, url = Client(), reverse("adminpanel:live")
    sign_in_staff(client, make_user(role="analyst"))
    empty = client.get(url)
    assert "There were no visitors in the last 30 minutes." in empty.content.decode()
    EventWriter().write(make_batches([event(hour, 1), event(hour, 1, "order")]))
    seen = {"seen": empty.context["live"].fingerprint}
    part = client.get(url, seen, headers={"hx-request": "true", "x-refreshes-itself": "1"})
    text = part.content.decode()
    assert text.strip().startswith('<div id="live"')
    assert '<title id="pages-title">' in text
    assert text.count('<span class="tally__count">1</span>') == 3
    seen = {"seen": get_live_view(hour + MINUTE).fingerprint}
    assert client.get(url, seen, headers={"hx-request": "true"}).status_code == 204
    assert 'data-pause="live"' in client.get(url).content.decode()
