"""The staff who have a conversation open. The page reports them every few seconds. Without reports a viewer's row expires."""

from uuid import UUID

from accounts.models import User
from cassandra_db import PendingResult, read, write

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


def prefetch_viewers(conversation_id: UUID) -> PendingResult:
    """Start reading the viewers of a conversation, for `orders.viewers.viewers_from_rows`."""
    return VIEWERS.start(conversation_id=conversation_id)


def record_viewer(conversation_id: UUID, user: User) -> PendingResult:
    """Start recording a viewer of a conversation for 15 seconds; `rows()` waits for the write."""
    return INSERT_VIEWER.start(conversation_id=conversation_id, user_id=user.pk, name=user.name)


def forget_viewer(conversation_id: UUID, user: User) -> None:
    """Delete a viewer of a conversation. Raises CassandraUnavailable."""
    DELETE_VIEWER.run(conversation_id=conversation_id, user_id=user.pk)
