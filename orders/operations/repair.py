"""Deleting copies without an order, or in the wrong list, for the consistency check.

The deletions have the timestamp of the wrong copy, so that a copy which an event writes meanwhile stays.
"""

from datetime import UTC, datetime
from uuid import UUID

from cassandra_db import write
from orders.operations.board_counts import note_board_change
from orders.operations.copies import OFF_BOARD
from orders.operations.erasure import OFF_EMAIL, OFF_EMAIL_YEAR

OFF_USER = write(
    "Q11",
    """DELETE FROM orders_by_user USING TIMESTAMP :at
       WHERE user_id = :user_id AND year = :year AND placed_at = :placed_at AND order_id = :order_id""",
)


def delete_from_board(
    status: str, placed_at: datetime, order_id: UUID, write_timestamp: int
) -> None:
    """Delete an order from a column of the board, as of the copy's timestamp. Raises CassandraUnavailable."""
    day = placed_at.astimezone(UTC).date()
    OFF_BOARD.run(
        status=status, day=day, placed_at=placed_at, order_id=order_id, at=write_timestamp
    )
    note_board_change(status, day)


def delete_from_user_list(
    user_id: UUID, year: int, placed_at: datetime, order_id: UUID, write_timestamp: int
) -> None:
    """Delete an order from a person's list, as of the copy's timestamp. Raises CassandraUnavailable."""
    OFF_USER.run(
        user_id=user_id, year=year, placed_at=placed_at, order_id=order_id, at=write_timestamp
    )


def delete_from_email_list(
    email: str, year: int, placed_at: datetime, order_id: UUID, write_timestamp: int
) -> None:
    """Delete an order from an e-mail address's list, as of the copy's timestamp. Raises CassandraUnavailable."""
    OFF_EMAIL.run(
        email=email, year=year, placed_at=placed_at, order_id=order_id, at=write_timestamp
    )


def delete_email_year(email: str, year: int, write_timestamp: int) -> None:
    """Delete a year without orders of an e-mail address, as of the row's timestamp. Raises CassandraUnavailable."""
    OFF_EMAIL_YEAR.run(email=email, year=year, at=write_timestamp)
