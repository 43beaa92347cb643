"""Drafts: what a person has typed in a conversation and not sent. The nil id is that of a new conversation."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cassandra_db import PendingResult, Row, read, write
from conversations.entities import Draft
from conversations.rules import MAX_BODY

MAX_DRAFTS = 100

DRAFT = read(
    "M8",
    """SELECT conversation_id, body, saved_at FROM message_drafts
       WHERE user_id = :user_id AND conversation_id = :conversation_id""",
)
DRAFTS = read(
    "M8", "SELECT conversation_id, body, saved_at FROM message_drafts WHERE user_id = :user_id"
)
INSERT_DRAFT = write(
    "M8",
    """INSERT INTO message_drafts (user_id, conversation_id, body, saved_at)
       VALUES (:user_id, :conversation_id, :body, :saved_at)""",
)
DELETE_DRAFT = write(
    "M8",
    "DELETE FROM message_drafts WHERE user_id = :user_id AND conversation_id = :conversation_id",
)
DELETE_DRAFTS = write("M8", "DELETE FROM message_drafts WHERE user_id = :user_id")


def save_draft(user_id: UUID, conversation_id: UUID, body: str, now: datetime) -> None:
    """Keep what a person has typed, for 30 days; an empty text deletes the draft. The oldest of more than 100 drafts goes.

    Raises CassandraUnavailable.
    """
    if not body.strip():
        delete_draft(user_id, conversation_id)
        return
    rows = [row for row in list_drafts(user_id) if row.conversation_id != conversation_id]
    for row in sorted(rows, key=lambda row: row.saved_at)[: max(0, len(rows) + 1 - MAX_DRAFTS)]:
        delete_draft(user_id, row.conversation_id)
    INSERT_DRAFT.run(
        user_id=user_id, conversation_id=conversation_id, body=body[:MAX_BODY], saved_at=now
    )


def list_drafts(user_id: UUID) -> list[Row]:
    """Return a person's drafts (conversation_id, body, saved_at). Raises CassandraUnavailable."""
    return DRAFTS.all(user_id=user_id)


def prefetch_draft(user_id: UUID, conversation_id: UUID) -> PendingResult:
    """Start reading a draft; see `draft_from_rows`."""
    return DRAFT.start(user_id=user_id, conversation_id=conversation_id)


def draft_from_rows(rows: Sequence[Row]) -> Draft | None:
    """Return the draft, or None."""
    row = rows[0] if rows else None
    return Draft(row.conversation_id, row.body, row.saved_at) if row and row.body else None


def get_draft(user_id: UUID, conversation_id: UUID) -> Draft | None:
    """Return what a person has typed and not sent, or None. Raises CassandraUnavailable."""
    return draft_from_rows(prefetch_draft(user_id, conversation_id).rows())


def delete_draft(user_id: UUID, conversation_id: UUID) -> None:
    """Delete a draft; a repeat changes nothing. Raises CassandraUnavailable."""
    DELETE_DRAFT.run(user_id=user_id, conversation_id=conversation_id)


def delete_drafts(user_id: UUID) -> None:
    """Delete all drafts of a person. Raises CassandraUnavailable."""
    DELETE_DRAFTS.run(user_id=user_id)
