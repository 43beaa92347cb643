"""Entries, sums and closed months (X520, X521, I53): each entry is booked once, and what is closed stays."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count
from unittest.mock import Mock
from uuid import uuid4

import pytest
from cassandra.util import uuid_from_time

from adminpanel.books.pages import get_books_page, list_payment_rows, list_tax_rows
from analytics.days import shop_today
from books import jobs, operations, queries
from books.entities import PAYMENT, REFUND, BookEntry, BookSum, TaxedAmount
from books.operations import LATEST_ENTRY, close_month, record_entries, roll_up_day
from jobs.due_rows import DueRows
from jobs.rows import collect_failed_rows
from tests.clock import now
from tests.orders.crashes import kill_at_write, record_writes
from tests.threads import map_at_once

RATE = Decimal(19)
# Closing a month closes all before it, so each test has a later one. No other test moves money in these years.
_months = count()


def new_month() -> date:
    number = next(_months)
    return date(1961 + number // 12, number % 12 + 1, 1)


def make_entry(day: date, kind: str = PAYMENT, gross: int = 119, **more: str) -> BookEntry:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    given = {"gateway": "card", "currency": "EUR", "country": "DE"} | more
    tax = round(gross * 19 / 119)
    return BookEntry(
        uuid4(),
        uuid_from_time(at),
        kind,
        day,
        "S-1",
        amounts=(TaxedAmount(RATE, gross - tax, tax),),
        **given,
    )


def close(month: date) -> None:
    at = now()
    assert close_month(month, at)
    assert close_month(month, at + LATEST_ENTRY)


def read_sums(day: date) -> dict[str, BookSum]:
    """Return a day's sums by kind and currency."""
    sums = queries.sums_from_rows(queries.prefetch_sums(day).rows())
    return {f"{key.kind} {key.currency}": each for key, each in sums.items() if key.day == day}


def list_rows(month: date) -> list[list[object]]:
    page = get_books_page(month)
    return [*list_tax_rows(page), *list_payment_rows(page)]


def run_job(monkeypatch: pytest.MonkeyPatch, *days: date) -> str:
    """Let the job add up these days, of those that are due."""
    list_own = DueRows.list_rows

    def list_rows(table: DueRows, partitions: list[datetime]) -> list[object]:
        rows = list_own(table, partitions)
        return [row for row in rows if table.column != "minute" or row.day.date() in days]

    with monkeypatch.context() as patch:
        patch.setattr(DueRows, "list_rows", list_rows)
        patch.setattr("jobs.due_rows.get_position", lambda _: (now() - LATEST_ENTRY).isoformat())
        patch.setattr("jobs.due_rows.save_position", lambda *_: None)
        return jobs.roll_up_books(now() + timedelta(minutes=5))


def test_x520_an_entry_is_booked_once_and_its_day_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    day = new_month()
    paid = make_entry(day)
    refund = replace(make_entry(day, REFUND, 50), order_id=paid.order_id)
    dollars = make_entry(day, currency="USD", gross=200)
    assert [record_entries(each) for each in ([paid], [paid, refund], [paid, refund], [])] == [
        *(1, 1, 0, 0)
    ]
    assert record_entries([dollars]) == 1
    assert run_job(monkeypatch, day)
    assert read_sums(day) == {
        "payment EUR": BookSum(100, 19),
        "refund EUR": BookSum(42, 8),
        "payment USD": BookSum(168, 32),
    }
    assert run_job(monkeypatch, day) == "", "nothing has changed since"


def test_s110_a_day_that_fails_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = new_month(), new_month()
    for day in (first, second):
        record_entries([make_entry(day)])

    def fail_first(day: date) -> None:
        if day == first:
            raise ValueError
        roll_up_day(day)

    monkeypatch.setattr(jobs, "roll_up_day", fail_first)
    with collect_failed_rows() as failed:
        run_job(monkeypatch, first, second)
    assert [str(row) for row, _ in failed.failures] == [f"books of {first}"]
    assert (read_sums(first), read_sums(second)) == ({}, {"payment EUR": BookSum(100, 19)})


def test_x521_nothing_is_booked_in_a_closed_month_and_what_comes_late_stands_on_its_day() -> None:
    month = new_month()
    paid = make_entry(month)
    record_entries([paid])
    roll_up_day(month)
    assert close_month(month, now())
    before = list_rows(month)
    late = [
        replace(make_entry(month, REFUND, 30), order_id=paid.order_id),
        make_entry(month + timedelta(days=9)),
    ]
    # The mark alone keeps them out: the month is closed some minutes later.
    assert sum(record_entries([each]) for each in late) == 2
    assert sum(record_entries([each]) for each in late) == 0
    assert not close_month(month, now() + LATEST_ENTRY / 2)
    assert close_month(month, now() + LATEST_ENTRY)
    assert not close_month(month, now() + 2 * LATEST_ENTRY)
    record_entries([paid])
    assert not roll_up_day(month)
    assert list_rows(month) == before
    assert get_books_page(month).state
    for each in late:
        (booked,) = queries.list_booked([each])
        assert booked == replace(each, day=shop_today())
    assert get_books_page(month - timedelta(days=1)).is_closed_before


def test_x521_two_processes_book_a_late_entry_on_one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    month = new_month()
    close(month)
    entry, today = make_entry(month), shop_today()
    days = iter([today, today - timedelta(days=1)] * 9)
    monkeypatch.setattr(operations, "shop_today", lambda: next(days))
    map_at_once(lambda _: record_entries([entry]), range(4))
    assert len(queries.list_order_entries(entry.order_id, [today, today - timedelta(days=1)])) == 1


def test_x521_a_late_day_whose_month_was_closed_before_the_write_is_decided_anew() -> None:
    first, second = new_month(), new_month()
    close(first)
    entry = make_entry(first)
    # A process has decided for a day of the second month, and died.
    operations.LATE_BOOKED.apply(
        if_lost=operations.REFUSED_MEANS_DONE,
        order_id=entry.order_id,
        event_id=entry.event_id,
        kind=entry.kind,
        day=second,
        seen=None,
    )
    close(second)
    assert record_entries([entry]) == 1
    assert [each.day for each in queries.list_booked([entry])] == [shop_today()]


@pytest.mark.parametrize("is_late", [False, True])
def test_x520_a_process_that_dies_at_any_write_books_once(is_late: bool) -> None:
    month = new_month()
    if is_late:
        close(month)

    def make_pair() -> list[BookEntry]:
        paid = make_entry(month)
        return [paid, replace(make_entry(month, REFUND, 30), order_id=paid.order_id)]

    act: Callable[[list[BookEntry]], int] = record_entries
    writes = record_writes(lambda: act(make_pair()))
    assert len(writes) == (3 if is_late else 1)
    for write in writes:
        entries = make_pair()
        assert kill_at_write(write, lambda: act(entries))  # noqa: B023 -- called at once
        act(entries)
        booked = queries.list_booked(entries)
        assert sorted(each.gross for each in booked) == [30, 119]
        assert {each.day for each in booked} == {shop_today() if is_late else month}


def test_x521_a_month_whose_closing_dies_at_any_write_is_closed_by_the_next() -> None:
    month = new_month()
    record_entries([make_entry(month)])
    at = now()

    def go_on() -> None:
        close_month(month, at)
        close_month(month, at + LATEST_ENTRY)

    def find_state() -> bool:
        return any(each.month == month and each.closed_at for each in queries.list_closed_months())

    # The first closing of another month shows which writes there are.
    writes = record_writes(lambda: close(new_month()))
    kinds = list(dict.fromkeys(write.texts for write in writes))
    assert len(kinds) == 3
    for write in [each for each in writes if each.occurrence == 1]:
        assert kill_at_write(write, go_on)
        assert not find_state()
    go_on()
    assert find_state()
    assert read_sums(month) == {"payment EUR": BookSum(100, 19)}


def test_x521_months_are_closed_in_their_order_ten_days_after_their_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[object] = []
    closed: list[date] = []
    monkeypatch.setattr(
        operations,
        "close_month",
        lambda month, now: not closed.append(month),  # type: ignore[func-returns-value]
    )
    monkeypatch.setattr(queries, "list_closed_months", lambda: rows)
    # Their sums may not be there yet.
    booked = [Mock(day=Mock(date=lambda: date(1960, 3, 1)))]
    booked.append(Mock(day=Mock(date=lambda: date(1960, 2, 29))))
    monkeypatch.setattr(queries, "BOOKED_DAYS", Mock(iterate_table=lambda: booked))
    for day, month in ((10, None), (11, date(1960, 2, 1))):
        at = datetime(1960, 3, day, 12, tzinfo=UTC)
        assert operations.close_due_month(at) == month
    rows.append(Mock(month=date(1960, 2, 1), closed_at=None))
    assert operations.close_due_month(at) == date(1960, 2, 1), "it is being closed"
    rows.append(Mock(month=date(1960, 2, 1), closed_at=at))
    assert operations.close_due_month(at) is None
    assert operations.close_due_month(at + timedelta(days=31)) == date(1960, 3, 1)
    assert closed == [date(1960, 2, 1)] * 2 + [date(1960, 3, 1)]
