"""Keeps the books: books the entries of orders, adds them up by day, and closes months.

Entries stand on the day on which the money moved. Once a month is closed, nothing is booked in it any more: an entry that is found
later is booked on the day on which it is found. So the sums of a closed month never change.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from uuid import UUID

from cassandra.query import BoundStatement

from analytics.days import month_start, order_shard, shop_day, shop_today
from books import queries
from books.entities import (
    BookDifference,
    BookEntry,
    BookMonth,
    BookSum,
    OpenInvoice,
    SumKey,
    add_up,
    next_month,
)
from books.queries import SHOP
from cassandra_db import (
    REFUSED_MEANS_DONE,
    conditional_write,
    current_microseconds,
    read,
    write,
    write_batch,
)
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE
from shop_settings.restores import copy_timestamp_at

# A month is closed this long after its end: money that moved in it is booked within minutes, and a broken worker is mended sooner.
CLOSE_AFTER = timedelta(days=10)
# From the mark that a month is being closed to its last sums: a process that has not seen the mark has booked by then.
LATEST_ENTRY = timedelta(minutes=10)
_ONE_DAY = timedelta(days=1)

ENTRY = write(
    "Q26",
    """INSERT INTO book_entries (day, shard, order_id, event_id, kind, number, gateway, currency, country, amounts)
       VALUES (:day, :shard, :order_id, :event_id, :kind, :number, :gateway, :currency, :country, :amounts)""",
)
ENTRY_REMOVED = write(
    "Q26",
    """DELETE FROM book_entries WHERE day = :day AND shard = :shard AND order_id = :order_id
       AND event_id = :event_id AND kind = :kind""",
)
# Of an entry that has no day yet, `seen` is null.
LATE_BOOKED = conditional_write(
    "Q26",
    """UPDATE late_book_entries SET day = :day WHERE order_id = :order_id AND event_id = :event_id AND kind = :kind
       IF day = :seen""",
)
DAY_CHANGED = write(
    "Q26",
    """INSERT INTO pending_book_days_by_minute (minute, day, written) VALUES (:minute, :day, :written)
       USING TIMESTAMP :written""",
)
DAY_DONE = write(
    "Q26",
    """DELETE FROM pending_book_days_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND day = :day""",
)
CHANGED_DAYS = read(
    "Q26", "SELECT minute, day, written FROM pending_book_days_by_minute WHERE minute = :minute"
)
# A row is written in one batch with its entries.
DUE_BOOK_DAYS = DueRows(
    job="book sums",
    label="books of",
    select=CHANGED_DAYS,
    insert=DAY_CHANGED,
    delete=DAY_DONE,
    wait=MINUTE,
)


def record_entries(entries: Sequence[BookEntry]) -> int:
    """Book the entries of one order that are not booked yet, each with the day of its event. Return how many were booked.

    What belongs into a closed month is booked today. Raises CassandraUnavailable.
    """
    if not entries:
        return 0
    order_id = entries[0].order_id
    known = {
        each.key for each in queries.list_order_entries(order_id, {entry.day for entry in entries})
    }
    missing = [entry for entry in entries if entry.key not in known]
    # Later months cannot be closed yet, and most entries are of today.
    if any(entry.day <= shop_today() - CLOSE_AFTER for entry in missing):
        missing = _move_out_of_closed_months(order_id, missing)
    if missing:
        days = {entry.day for entry in missing}
        write_batch(
            [
                *map(entry_row, missing),
                *(DAY_CHANGED.bind(**DUE_BOOK_DAYS.date_row({"day": day})) for day in days),
            ]
        )
    return len(missing)


def _move_out_of_closed_months(order_id: UUID, entries: Sequence[BookEntry]) -> list[BookEntry]:
    """Return the entries that are still to be booked, each with the day on which it will stand."""
    closed = queries.list_closed_months()
    if not closed:
        return list(entries)
    until, late_days = next_month(closed[-1].month), queries.get_late_days(order_id)
    booked = {
        each.key for each in queries.list_order_entries(order_id, late_days.values())
    } & late_days.keys()
    return [
        entry if entry.day >= until else _book_late(entry, late_days.get(entry.key), until)
        for entry in entries
        if entry.day >= until or entry.key not in booked
    ]


def _book_late(entry: BookEntry, seen: date | None, until: date) -> BookEntry:
    """Return the entry with the day that is decided for it: the first to decide wins, unless the day's month was closed meanwhile."""
    if seen is None or seen < until:
        LATE_BOOKED.apply(
            if_lost=REFUSED_MEANS_DONE,
            order_id=entry.order_id,
            event_id=entry.event_id,
            kind=entry.kind,
            day=shop_today(),
            seen=seen,
        )
    decided = queries.get_late_days(entry.order_id)[entry.key]
    return replace(entry, day=decided)


def entry_row(entry: BookEntry) -> BoundStatement:
    """Return the write of an entry's row."""
    return ENTRY.bind(
        **_entry_key(entry),
        number=entry.number,
        gateway=entry.gateway,
        currency=entry.currency,
        country=entry.country,
        amounts=json.dumps([[str(each.rate), each.net, each.tax] for each in entry.amounts]),
    )


def _entry_key(entry: BookEntry) -> dict[str, object]:
    return {
        "day": entry.day,
        "shard": order_shard(entry.order_id),
        "order_id": entry.order_id,
        "event_id": entry.event_id,
        "kind": entry.kind,
    }


def remove_entry(entry: BookEntry) -> None:
    """Delete an entry that should not be there. Only the consistency check uses this. Raises CassandraUnavailable."""
    ENTRY_REMOVED.run(**_entry_key(entry))
    DUE_BOOK_DAYS.note(day=entry.day)


DAY_EMPTIED = write(
    "Q26", "DELETE FROM book_sums USING TIMESTAMP :at WHERE month = :month AND day = :day"
)
SUM = write(
    "Q26",
    """INSERT INTO book_sums (month, day, kind, gateway, country, rate, currency, net, tax)
       VALUES (:month, :day, :kind, :gateway, :country, :rate, :currency, :net, :tax)
       USING TIMESTAMP :at""",
)


def roll_up_day(day: date) -> bool:
    """Add up the entries of a day, and store the sums. Return False for a day of a closed month, whose sums stay.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    if is_closed(day, queries.list_closed_months()):
        return False
    _roll_up(day)
    return True


def is_closed(day: date, closed: Sequence[BookMonth]) -> bool:
    """Return whether the books of a day are closed or being closed, by the closed months."""
    return bool(closed) and day < next_month(closed[-1].month)


def _roll_up(day: date) -> None:
    read_at = current_microseconds()
    fresh = add_up(queries.list_day_entries(day))
    emptied = DAY_EMPTIED.bind(month=month_start(day), day=day, at=read_at - 1)
    write_batch([emptied, *(_sum_row(key, fresh[key], read_at) for key in fresh)])


def _sum_row(key: SumKey, found: BookSum, at: int) -> BoundStatement:
    return SUM.bind(
        month=month_start(key.day),
        day=key.day,
        kind=key.kind,
        gateway=key.gateway,
        country=key.country,
        rate=str(key.rate),
        currency=key.currency,
        net=found.net,
        tax=found.tax,
        at=at,
    )


CLOSING = conditional_write(
    "Q27",
    "INSERT INTO book_months (shop, month, closing_at) VALUES (:shop, :month, :now) IF NOT EXISTS",
)
CLOSED = conditional_write(
    "Q27",
    """UPDATE book_months SET closed_at = :now WHERE shop = :shop AND month = :month
       IF closing_at = :closing_at AND closed_at = null""",
)


def close_due_month(now: datetime) -> date | None:
    """Go on with closing the oldest month that is due; return it, or None if none is due. Raises CassandraUnavailable.

    A first call marks the month: from then on nothing is booked in it. A call after LATEST_ENTRY closes it. Months are closed in
    their order, from the first that has entries: its sums may come later.
    """
    closed = queries.list_closed_months()
    if closed and closed[-1].closed_at is None:
        month = closed[-1].month
    elif closed:
        month = next_month(closed[-1].month)
    else:
        found = [row.day.date() for row in queries.BOOKED_DAYS.iterate_table()]
        if not found:
            return None
        month = month_start(min(found))
    if next_month(month) + CLOSE_AFTER > shop_day(now):
        return None
    return month if close_month(month, now) else None


def close_month(month: date, now: datetime) -> bool:
    """Mark a month as being closed or, LATEST_ENTRY later, add it up for the last time and close it.

    Return whether anything was done. Raises CassandraUnavailable.
    """
    found = {each.month: each for each in queries.list_closed_months()}.get(month)
    if found is None:
        CLOSING.apply(if_lost=REFUSED_MEANS_DONE, shop=SHOP, month=month, now=now)
        return True
    if found.closed_at or now < found.closing_at + LATEST_ENTRY:
        return False
    day = month
    while day < next_month(month):
        _roll_up(day)
        day += _ONE_DAY
    CLOSED.apply(
        if_lost=REFUSED_MEANS_DONE, shop=SHOP, month=month, now=now, closing_at=found.closing_at
    )
    return True


OPEN = write(
    "Q28",
    """INSERT INTO open_invoices (shard, placed_at, order_id, number, payment_method, country, currency, amount, due)
       VALUES (:shard, :placed_at, :order_id, :number, :payment_method, :country, :currency, :amount, :due)
       USING TIMESTAMP :at""",
)
OPEN_REMOVED = write(
    "Q28",
    """DELETE FROM open_invoices USING TIMESTAMP :at
       WHERE shard = :shard AND placed_at = :placed_at AND order_id = :order_id""",
)


def record_open_invoice(invoice: OpenInvoice, version: int) -> None:
    """Store the open invoice of an order, or delete it if nothing is open. A higher version of the order replaces a lower one.

    Raises CassandraUnavailable.
    """
    key = {
        "shard": order_shard(invoice.order_id),
        "placed_at": invoice.placed_at,
        "order_id": invoice.order_id,
        "at": copy_timestamp_at(invoice.placed_at, version),
    }
    if not invoice.amount:
        OPEN_REMOVED.run(**key)
        return
    OPEN.run(
        **key,
        number=invoice.number,
        payment_method=invoice.payment_method,
        country=invoice.country,
        currency=invoice.currency,
        amount=invoice.amount,
        due=invoice.due,
    )


DIFFERENCE = write(
    "Q29",
    """INSERT INTO book_differences (month, order_id, number, currency, in_order, in_books, at_gateway, found_at)
       VALUES (:month, :order_id, :number, :currency, :in_order, :in_books, :at_gateway, :found_at)
       USING TIMESTAMP :at""",
)
DIFFERENCE_REMOVED = write(
    "Q29",
    "DELETE FROM book_differences USING TIMESTAMP :at WHERE month = :month AND order_id = :order_id",
)


def record_difference(month: date, found: BookDifference, at: int) -> None:
    """Store the difference of an order in a month, or a failed comparison; delete it if there is none. `at`: the read, in microseconds.

    Raises CassandraUnavailable.
    """
    key = {"month": month_start(month), "order_id": found.order_id, "at": at}
    if found.in_order is not None and (
        found.in_order == found.in_books and found.at_gateway in (None, found.in_order)
    ):
        DIFFERENCE_REMOVED.run(**key)
        return
    DIFFERENCE.run(
        **key,
        number=found.number,
        currency=found.currency,
        in_order=found.in_order,
        in_books=found.in_books,
        at_gateway=found.at_gateway,
        found_at=found.found_at,
    )
