"""Which staff have an order's page open: each says so every few seconds, and is forgotten when they stop."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from cassandra_db import PendingResult, Row, read, write

# Q12: who has an order's page open. More than 20 at one order are of no interest.
VIEWERS = read("Q12", "SELECT user_id, name FROM viewers_by_order WHERE number = :number LIMIT 20")
# With the table's TTL.
INSERT_VIEWER = write(
    "Q12", "INSERT INTO viewers_by_order (number, user_id, name) VALUES (:number, :user_id, :name)"
)
DELETE_VIEWER = write(
    "Q12", "DELETE FROM viewers_by_order WHERE number = :number AND user_id = :user_id"
)


@dataclass(frozen=True)
class Viewer:
    """One of the staff who has an order's page open."""

    user_id: UUID
    name: str


def prefetch_viewers(number: str) -> PendingResult:
    """Start reading who has the page of an order open, for `viewers_from_rows`."""
    return VIEWERS.start(number=number)


def viewers_from_rows(rows: Iterable[Row]) -> tuple[Viewer, ...]:
    """Return the rows of viewers, in the order of their names."""
    return tuple(sorted((Viewer(*row) for row in rows), key=lambda each: (each.name, each.user_id)))


def record_viewer(number: str, user: User) -> PendingResult:
    """Start to write that a member of staff has an order's page open, for 15 seconds; `rows()` waits until it is written."""
    return INSERT_VIEWER.start(number=number, user_id=user.pk, name=user.name)


def forget_viewer(number: str, user: User) -> None:
    """Delete that a member of staff has an order's page open. Raises CassandraUnavailable."""
    DELETE_VIEWER.run(number=number, user_id=user.pk)
