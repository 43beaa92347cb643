"""Counting the orders in the board's columns.

The batch that changes an order's copies also writes a change for each column and day that it touches. Whoever reads the counts
counts these days again, so a page shows exact numbers, and costs nothing while nothing changes (decision 090).
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from cassandra.query import BoundStatement

from cassandra_db import PendingResult, Row, current_microseconds, wait_for_all, write
from orders import board_queries
from orders.board_queries import COLUMN_ROW, SHOP, BoardCounts
from orders.lifecycle.states import BOARD_COLUMNS

CHANGE = write(
    "Q15",
    """INSERT INTO board_counts (shop, status, order_date, changed) VALUES (:shop, :status, :day, :changed)
       USING TIMESTAMP :changed""",
)
FORGET_CHANGE = write(
    "Q15",
    """DELETE FROM board_counts USING TIMESTAMP :changed
       WHERE shop = :shop AND status = :status AND order_date = :day""",
)
# The timestamps of numbers are the beginning of their count: of two counts at once, the later one stays.
COUNT_COLUMN = write(
    "Q15",
    """INSERT INTO board_counts (shop, status, order_date, order_count, changed)
       VALUES (:shop, :status, :day, :count, :changed) USING TIMESTAMP :at""",
)
COUNT_DAY = write(
    "Q15",
    """UPDATE order_days_by_status USING TIMESTAMP :at SET order_count = :count
       WHERE status = :status AND order_date = :day""",
)
# A batch across partitions is not visible at once: a change is kept until its copies must be.
SETTLES = timedelta(seconds=10) // timedelta(microseconds=1)
_AT_ONCE = 64


def change_statement(status: str, day: date) -> BoundStatement:
    """Return the write that has a day of a column counted again."""
    return CHANGE.bind(shop=SHOP, status=status, day=day, changed=current_microseconds())


def note_board_change(status: str, day: date) -> None:
    """Have a day of a column counted again. Raises CassandraUnavailable."""
    CHANGE.run(shop=SHOP, status=status, day=day, changed=current_microseconds())


def count_board_orders(reading: PendingResult | None = None) -> BoardCounts:
    """Return the numbers of orders in the board's columns. What has changed since the last call is counted now.

    `reading` is the result of `board_queries.prefetch_board_counts`. Raises CassandraUnavailable.
    """
    began = current_microseconds()
    rows = (reading or board_queries.prefetch_board_counts()).rows()
    stored = {row.status: row for row in rows if row.order_date == COLUMN_ROW}
    changes = [row for row in rows if row.order_date != COLUMN_ROW and row.status in BOARD_COLUMNS]
    numbers = {status: row.order_count for status, row in stored.items()}
    changed = {status: row.changed or 0 for status, row in stored.items()}
    for row in changes:
        changed[row.status] = max(changed.get(row.status, 0), row.changed)
    uncounted = [status for status in BOARD_COLUMNS if status not in stored]
    touched = dict.fromkeys([*uncounted, *(row.status for row in changes)])
    if touched:
        days = [(row.status, row.order_date.date()) for row in changes]
        _count_days(dict.fromkeys([*days, *board_queries.list_uncounted_days(uncounted)]), began)
        numbers |= _sum_columns(touched, changed, began)
        _forget_settled(changes, began)
    return board_queries.make_counts(numbers, changed)


def recount_column(status: str) -> None:
    """Count all days of a column of the board again. Raises CassandraUnavailable."""
    began = current_microseconds()
    _count_days([(status, day) for day in board_queries.list_board_days(status)], began)
    _sum_columns([status], {status: began}, began)


def _count_days(days: Iterable[tuple[str, date]], began: int) -> None:
    every = list(days)
    for start in range(0, len(every), _AT_ONCE):
        some = every[start : start + _AT_ONCE]
        counts = board_queries.count_days(some)
        wait_for_all(
            [
                COUNT_DAY.start(status=status, day=day, count=count, at=began)
                for (status, day), count in zip(some, counts, strict=True)
            ]
        )


def _sum_columns(columns: Iterable[str], changed: dict[str, int], began: int) -> dict[str, int]:
    sums = board_queries.sum_days(columns)
    wait_for_all(
        [
            COUNT_COLUMN.start(
                shop=SHOP,
                status=status,
                day=COLUMN_ROW,
                count=number,
                changed=changed.get(status, 0),
                at=began,
            )
            for status, number in sums.items()
        ]
    )
    return sums


def _forget_settled(changes: Sequence[Row], now: int) -> None:
    wait_for_all(
        [
            FORGET_CHANGE.start(
                shop=SHOP, status=row.status, day=row.order_date, changed=row.changed
            )
            for row in changes
            if row.changed < now - SETTLES
        ]
    )
