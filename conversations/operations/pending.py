"""Pending rows of conversations and of emptied labels, which the worker sweeps."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cassandra_db import read, write, write_batch
from conversations.rules import NOBODY
from jobs.due_rows import DueRows

SELECT_PENDING = read(
    "M1",
    "SELECT minute, conversation_id, user_id, written FROM pending_conversations_by_minute WHERE minute = :minute",
)
INSERT_PENDING = write(
    "M1",
    """INSERT INTO pending_conversations_by_minute (minute, conversation_id, user_id, written)
       VALUES (:minute, :conversation_id, :user_id, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "M1",
    """DELETE FROM pending_conversations_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND conversation_id = :conversation_id AND user_id = :user_id""",
)
SELECT_EMPTIED = read(
    "M6",
    "SELECT minute, user_id, label_id, is_trash, first_year, written FROM emptied_labels_by_minute WHERE minute = :minute",
)
INSERT_EMPTIED = write(
    "M6",
    """INSERT INTO emptied_labels_by_minute (minute, user_id, label_id, is_trash, first_year, written)
       VALUES (:minute, :user_id, :label_id, :is_trash, :first_year, :written) USING TIMESTAMP :written""",
)
DELETE_EMPTIED = write(
    "M6",
    """DELETE FROM emptied_labels_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND user_id = :user_id AND label_id = :label_id""",
)
# Conversations whose mailbox rows, copies, mails or notifications may be behind.
PENDING = DueRows(
    job="conversations",
    label="conversation",
    select=SELECT_PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
)
# Labels that were emptied or deleted. Until `wait` is over, the label may still be about to change.
EMPTIED = DueRows(
    job="emptied labels",
    label="emptied label",
    select=SELECT_EMPTIED,
    insert=INSERT_EMPTIED,
    delete=DELETE_EMPTIED,
    wait=timedelta(minutes=1),
)

PendingRow = dict[str, Any]


def note_conversation(conversation_id: UUID) -> PendingRow:
    """Write the pending row of a conversation before it changes. Raises CassandraUnavailable."""
    return PENDING.note(conversation_id=conversation_id, user_id=NOBODY)


def note_entries(
    user_id: UUID, conversation_ids: Sequence[UUID], at: datetime | None = None
) -> list[PendingRow]:
    """Write pending rows of a mailbox's conversations, due at `at` (default: now), before they change. Raises CassandraUnavailable."""
    rows = [
        PENDING.date_row({"conversation_id": each, "user_id": user_id}, at)
        for each in conversation_ids
    ]
    write_batch([INSERT_PENDING.bind(**row) for row in rows])
    return rows


def clear_rows(rows: Sequence[PendingRow]) -> None:
    """Delete pending rows whose work is done. Raises CassandraUnavailable."""
    columns = ("minute", "conversation_id", "user_id", "written")
    if rows:
        write_batch([DELETE_PENDING.bind(**{name: row[name] for name in columns}) for row in rows])
