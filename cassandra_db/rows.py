"""Rows as named tuples, with one class for each set of columns."""

from collections import namedtuple
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

Row = Any  # a named tuple with the columns of its SELECT


@lru_cache(maxsize=2048)
def _row_class(columns: tuple[str, ...]) -> type[Any]:
    # Cassandra names the column with a conditional write's outcome "[applied]".
    return namedtuple(
        "Row", [name.strip("[]").replace("(", "_").rstrip(")") for name in columns], rename=True
    )


def row_factory(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Row]:
    """Return the rows as named tuples (the driver's own factory makes a new class for each result)."""
    make = _row_class(tuple(columns))._make
    return [make(row) for row in rows]


def mark_utc(rows: list[Row], timestamp_columns: Sequence[int]) -> list[Row]:
    """Return the rows with the timestamps in the columns `timestamp_columns` marked as UTC (the driver leaves them naive)."""
    if not timestamp_columns:
        return rows
    return [
        row._replace(
            **{
                row._fields[i]: row[i].replace(tzinfo=UTC)
                for i in timestamp_columns
                if row[i] is not None
            }
        )
        for row in rows
    ]


def mark_all_utc(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with all timestamps marked as UTC, for answers whose columns are not known beforehand."""
    return [
        row._make(
            value.replace(tzinfo=UTC) if isinstance(value, datetime) else value for value in row
        )
        for row in rows
    ]


def truncate_to_milliseconds(moment: datetime) -> datetime:
    """Return a moment (UTC) to the millisecond, as a timestamp column stores it, to compare it with a row that was read."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
