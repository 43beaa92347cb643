"""The staff who have an order's page open. The page reports them every few seconds. Without reports a viewer's row expires."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from cassandra_db import PendingResult, Row, read, write

# Q12: the viewers of an order's page, at most 20.
VIEWERS = read("Q12", "SELECT user_id, name FROM viewers_by_order WHERE number = :number LIMIT 20")
INSERT_VIEWER = write(
    "Q12", "INSERT INTO viewers_by_order (number, user_id, name) VALUES (:number, :user_id, :name)"
)
DELETE_VIEWER = write(
    "Q12", "DELETE FROM viewers_by_order WHERE number = :number AND user_id = :user_id"
)


@dataclass(frozen=True)
class Viewer:
    """A staff member who has an order's page open."""

    user_id: UUID
    name: str


def prefetch_viewers(number: str) -> PendingResult:
    """Start reading the viewers of an order's page, for `viewers_from_rows`."""
    return VIEWERS.start(number=number)


def viewers_from_rows(rows: Iterable[Row]) -> tuple[Viewer, ...]:
    """Return the viewers in the rows of VIEWERS, sorted by name."""
    return tuple(sorted((Viewer(*row) for row in rows), key=lambda each: (each.name, each.user_id)))


def record_viewer(number: str, user: User) -> PendingResult:
    """Start recording a viewer of an order's page for 15 seconds; `rows()` waits for the write."""
    return INSERT_VIEWER.start(number=number, user_id=user.pk, name=user.name)


def forget_viewer(number: str, user: User) -> None:
    """Delete a viewer of an order's page. Raises CassandraUnavailable."""
    DELETE_VIEWER.run(number=number, user_id=user.pk)
