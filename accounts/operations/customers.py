"""Actions of the staff on a customer: opening the page, writing notes, and blocking."""

from datetime import datetime
from uuid import UUID

from accounts import queries
from accounts.errors import BlockChanged, BlockRefused, NoSuchUser, TooManyNotes
from accounts.looks import CUSTOMER_LOOK, record_look
from accounts.models import User
from cassandra_db import (
    RAISE_UNKNOWN,
    PendingResult,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    truncate_to_milliseconds,
    write,
)

MAX_NOTES = 200

LOOKED = write(
    "customer looks",
    "INSERT INTO customer_looks (staff_id, user_id, looked_at) VALUES (:staff_id, :user_id, :now)",
)
NOTES_COUNTED_ON = conditional_write(
    "customer notes",
    "UPDATE customer_notes SET version = :next WHERE user_id = :user_id IF version = :seen",
)
NOTE_WRITTEN = conditional_write(
    "customer notes",
    """INSERT INTO customer_notes (user_id, note_id, author, text, written_at)
       VALUES (:user_id, :note_id, :author, :text, :now)""",
)
NOTE_REMOVED = conditional_write(
    "customer notes", "DELETE FROM customer_notes WHERE user_id = :user_id AND note_id = :note_id"
)
NOTES_FORGOTTEN = conditional_write(
    "customer notes",
    "DELETE version FROM customer_notes WHERE user_id = :user_id IF version = :seen",
)
BLOCKED = conditional_write(
    "Q6",
    """UPDATE users SET blocked_at = :now, block_reason = :reason, blocked_by = :actor WHERE user_id = :user_id
       IF role = '' AND demo = false AND erasing_at = null AND blocked_at = null""",
)
UNBLOCKED = conditional_write(
    "Q6",
    """UPDATE users SET blocked_at = null, block_reason = null, blocked_by = null WHERE user_id = :user_id
       IF blocked_at = :seen""",
)


def record_customer_look(staff: User, user_id: UUID, looks: PendingResult, now: datetime) -> None:
    """Log that a member of staff looks at a customer, and list the customer as a recent one. Raises CassandraUnavailable."""
    if record_look(staff, CUSTOMER_LOOK, str(user_id), looks, now):
        LOOKED.run(staff_id=staff.pk, user_id=user_id, now=now)


def add_customer_note(
    user_id: UUID, note_id: UUID, text: str, *, author: str, now: datetime
) -> None:
    """Write a note about a customer. A repeat with the same `note_id` writes nothing. `now` is in UTC.

    Raises NoSuchUser for an erased account, TooManyNotes, CassandraUnavailable. After UnknownOutcome, repeat the call with
    the same `note_id`.
    """
    member = queries.get_user(user_id)
    if member is None or member.erasing_at is not None:
        raise NoSuchUser
    while True:
        rows = queries.CUSTOMER_NOTES.all(user_id=user_id)
        notes = queries.notes_from_rows(rows)
        if any(each.note_id == note_id for each in notes):
            return
        if len(notes) >= MAX_NOTES:
            raise TooManyNotes
        version = rows[0].version if rows else None
        if apply_batch(
            NOTES_COUNTED_ON.bind(user_id=user_id, seen=version, next=(version or 0) + 1),
            NOTE_WRITTEN.bind(user_id=user_id, note_id=note_id, author=author, text=text, now=now),
            if_lost=RAISE_UNKNOWN,
        ):
            return


def delete_customer_notes(user_id: UUID) -> None:
    """Remove all notes on a customer. Raises CassandraUnavailable."""
    while True:
        rows = queries.CUSTOMER_NOTES.all(user_id=user_id)
        if not rows or rows[0].version is None:
            return
        apply_batch(
            NOTES_FORGOTTEN.bind(user_id=user_id, seen=rows[0].version),
            *(
                NOTE_REMOVED.bind(user_id=user_id, note_id=row.note_id)
                for row in rows
                if row.note_id
            ),
            if_lost=RAISE_UNKNOWN,
        )


def block_customer(user_id: UUID, reason: str, *, by: str, now: datetime) -> None:
    """Block a customer from placing orders; all other actions stay allowed. `by` is the name of a member of staff.

    A repeat by the same person with the same reason changes nothing. `now` is in UTC. Raises BlockChanged if the customer is
    blocked otherwise. Also raises BlockRefused, NoSuchUser, CassandraUnavailable.
    """
    now = truncate_to_milliseconds(now)

    def is_ours(row: Row) -> bool:
        return bool(row.blocked_at == now)

    if BLOCKED.apply(
        if_lost=applied_if(is_ours), user_id=user_id, reason=reason, actor=by, now=now
    ):
        return
    found = queries.get_user(user_id)
    if found is None:
        raise NoSuchUser
    if found.blocked_at is None:
        raise BlockRefused
    if (found.block_reason, found.blocked_by) != (reason, by):
        raise BlockChanged


def unblock_customer(user_id: UUID, seen: datetime) -> None:
    """Lift the block that began at `seen`, so that the customer can order again. A second call changes nothing.

    Raises BlockChanged if the customer has another block now. Also raises NoSuchUser, CassandraUnavailable.
    """

    def is_ours(row: Row) -> bool:
        return row.blocked_at is None

    if UNBLOCKED.apply(if_lost=applied_if(is_ours), user_id=user_id, seen=seen):
        return
    found = queries.get_user(user_id)
    if found is None:
        raise NoSuchUser
    if found.blocked_at is not None:
        raise BlockChanged
