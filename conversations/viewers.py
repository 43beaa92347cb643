"""The staff who have a conversation open. The page reports them every few seconds. Without reports a viewer's row expires."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from cassandra_db import PendingResult, Row, read, write

# M9: the viewers of a conversation, at most 20.
VIEWERS = read(
    "M9",
    "SELECT user_id, name FROM viewers_by_conversation WHERE conversation_id = :conversation_id LIMIT 20",
)
INSERT_VIEWER = write(
    "M9",
    """INSERT INTO viewers_by_conversation (conversation_id, user_id, name)
       VALUES (:conversation_id, :user_id, :name)""",
)
DELETE_VIEWER = write(
    "M9",
    """DELETE FROM viewers_by_conversation
       WHERE conversation_id = :conversation_id AND user_id = :user_id""",
)


@dataclass(frozen=True)
class Viewer:
    """A staff member who has a conversation open."""

    user_id: UUID
    name: str


def prefetch_viewers(conversation_id: UUID) -> PendingResult:
    """Start reading the viewers of a conversation, for `viewers_from_rows`."""
    return VIEWERS.start(conversation_id=conversation_id)


def viewers_from_rows(rows: Iterable[Row]) -> tuple[Viewer, ...]:
    """Return the viewers in the rows of VIEWERS, sorted by name."""
    return tuple(sorted((Viewer(*row) for row in rows), key=lambda each: (each.name, each.user_id)))


def record_viewer(conversation_id: UUID, user: User) -> PendingResult:
    """Start recording a viewer of a conversation for 15 seconds; `rows()` waits for the write."""
    return INSERT_VIEWER.start(conversation_id=conversation_id, user_id=user.pk, name=user.name)


def forget_viewer(conversation_id: UUID, user: User) -> None:
    """Delete a viewer of a conversation. Raises CassandraUnavailable."""
    DELETE_VIEWER.run(conversation_id=conversation_id, user_id=user.pk)
