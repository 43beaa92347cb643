"""The one clock: to the millisecond, compared with the nodes', and nothing is written while it is wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import monotonic, time
from uuid import uuid4

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from cassandra_db import ClockWrong, bulk, clock, current_time
from cassandra_db.timestamps import WriteTimestamps
from jobs.leases import SAVE_POSITION, SELECT_LEASE, hold_lease
from tests.factories import make_product, make_stock

DAY = timedelta(days=1)
MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def strict_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forbid what other tests may do: to write at another time than the nodes'."""
    monkeypatch.setattr(clock, "MAX_CLOCK_ERROR", timedelta(seconds=5))
    monkeypatch.setattr(clock, "_last", None)
    yield
    clock._last = None


@contextmanager
def clock_off_by(offset: timedelta) -> Iterator[None]:
    with time_machine.travel(time() + offset.total_seconds(), tick=True):
        yield


def comparison(*ahead: float) -> clock.ClockComparison:
    nodes = {str(number): timedelta(seconds=each) for number, each in enumerate(ahead)}
    return clock.ClockComparison(nodes, monotonic(), time() - monotonic())


def test_it_is_rounded_as_cassandra_keeps_it() -> None:
    with time_machine.travel(MOMENT + timedelta(microseconds=123_987), tick=False):
        assert current_time() == MOMENT + timedelta(milliseconds=123)


def test_i11_who_is_a_day_off_reads_and_writes_nothing() -> None:
    job = f"test-{uuid4()}"
    for offset in (DAY, -DAY, timedelta(seconds=7)):
        with clock_off_by(offset):
            assert SELECT_LEASE.one(job=job) is None
            with pytest.raises(ClockWrong, match="ahead of" if offset > -offset else "behind"):
                hold_lease(job)
            with pytest.raises(ClockWrong), bulk.BulkWriter() as writer:
                writer.send(SAVE_POSITION.bind(job=job, position="x", me=uuid4()))
    assert SELECT_LEASE.one(job=job) is None
    # A clock that was set right is noticed at once, and one that is a little off is right.
    with hold_lease(job), clock_off_by(timedelta(seconds=3)):
        assert clock.is_clock_right()


def test_i11_the_median_decides_and_a_slow_answer_says_little() -> None:
    assert comparison(0, 0, 86_400).is_right
    assert not comparison(0, 86_400, 86_400).is_right
    assert "1 day, 0:00:00 behind" in comparison(-86_400).problem
    told, second = MOMENT, timedelta(seconds=1)
    assert clock._clock_ahead(told - 30 * second, told, told + 30 * second) == timedelta(0)
    assert clock._clock_ahead(told + 7 * second, told, told + 8 * second) == 7 * second
    assert clock._clock_ahead(told - 9 * second, told, told - 7 * second) == -7 * second


def test_i11_timestamps_follow_a_clock_that_was_set_back() -> None:
    stamps = WriteTimestamps()
    with time_machine.travel(MOMENT, tick=False):
        assert stamps() < stamps() < stamps(), "each later than the one before"
    with time_machine.travel(MOMENT + DAY, tick=False):
        stamps()
    with time_machine.travel(MOMENT + timedelta(minutes=1), tick=False):
        assert stamps() == (MOMENT + timedelta(minutes=1)).timestamp() * 1_000_000


def test_i11_pages_are_read_and_changes_are_refused_in_words(client: Client) -> None:
    product = make_product("Sundial")
    variant = product.variants[0]
    make_stock(5, product_id=product.product_id, variant_id=variant.variant_id)
    page = reverse("product", args=(product.slug,))
    form = {"variant": variant.sku, "quantity": "1", "operation": str(uuid4())}
    with clock_off_by(DAY):
        assert client.get(page).status_code == 200
        refused = client.post(reverse("cart:add"), form)
        ready = client.get("/readyz")
        assert client.get("/healthz").status_code == 200
    assert (refused.status_code, refused["Retry-After"]) == (503, "10")
    assert "What you sent wasn’t saved." in refused.content.decode()
    assert (ready.status_code, b"1 day, 0:00:00 ahead of" in ready.content) == (503, True)
    assert client.post(reverse("cart:add"), form).status_code == 303
    assert client.get("/readyz").status_code == 200
