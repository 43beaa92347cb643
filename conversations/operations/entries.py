"""Changes of a mailbox's rows and of its labels' counts, in one conditional batch, and of the copies that lists show.

A row's version is its time in microseconds. The copies of a row in `conversations_by_label` have the version as their timestamp,
so a slow writer's copy loses against a newer one. The places that copies may still have are kept with the row until they are deleted.
"""

# ruff: noqa: S608 - the columns and keys are this module's constants

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from uuid import UUID, uuid4

from cassandra.query import BoundStatement

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    Row,
    Statement,
    applied_if,
    apply_batch,
    conditional_write,
    current_microseconds,
    retry_attempts,
    wait_for_all,
    write,
    write_batch,
)
from conversations import queries
from conversations.entities import Conversation, Label, Mailbox, MailboxEntry, Message
from conversations.operations.pending import PendingRow, clear_rows, note_entries
from conversations.rules import EXCERPT_LENGTH, SHOP_MAILBOX, assignee_label
from conversations.states import DELETED

MAX_ATTEMPTS = 100
# With more places the copies are completed before the row changes again.
_MAX_FORMER_PLACES = 40
# Writers of one process take turns, since writers at the same time refuse each other. Other processes are met by conditions.
_TURNS = tuple(Lock() for _ in range(64))
_FEW = 16  # statements that are sent side by side
# Copies of an older version are not written any more: the row gets a new one, which gaps.py spares.
FRESH_FOR = timedelta(minutes=5)
_LONGEST_TURN = 1.0  # seconds

_KEY = "user_id = :user_id AND kind = 'conversation' AND key = :key"
_LABEL_KEY = "user_id = :user_id AND kind = 'label' AND key = :key"

INSERT_ENTRY = conditional_write(
    "M3",
    """INSERT INTO labels_by_user (user_id, kind, key, labels, placed_at, last_message_id, read_until, unread, version, change_id,
       former_places)
       VALUES (:user_id, 'conversation', :key, :labels, :placed_at, :last_message_id, :read_until, :unread, :version, :change_id,
       :former_places) IF NOT EXISTS""",
)
UPDATE_ENTRY = conditional_write(
    "M3",
    f"""UPDATE labels_by_user SET labels = :labels, placed_at = :placed_at, last_message_id = :last_message_id,
        read_until = :read_until, unread = :unread, version = :version, change_id = :change_id, former_places = :former_places
        WHERE {_KEY} IF version = :seen AND change_id = :seen_change""",
)
DELETE_ENTRY = conditional_write(
    "M3", f"DELETE FROM labels_by_user WHERE {_KEY} IF version = :seen AND change_id = :seen_change"
)
INSERT_FIXED_LABEL = conditional_write(
    "M3",
    """INSERT INTO labels_by_user (user_id, kind, key, label_id, count, unread_count, first_year)
       VALUES (:user_id, 'label', :key, :label_id, :count, :unread_count, :first_year) IF NOT EXISTS""",
)
COUNT = conditional_write(
    "M3",
    f"""UPDATE labels_by_user SET count = count + :count, unread_count = unread_count + :unread_count
        WHERE {_LABEL_KEY} IF label_id = :label_id""",
)
COUNT_EARLIER = conditional_write(
    "M3",
    f"""UPDATE labels_by_user SET count = count + :count, unread_count = unread_count + :unread_count, first_year = :first_year
        WHERE {_LABEL_KEY} IF label_id = :label_id AND first_year = :seen_year""",
)
# A plain write to a column that no condition reads.
NOTE_COPIED = write(
    "M3", f"UPDATE labels_by_user USING TIMESTAMP :version SET copied = :version WHERE {_KEY}"
)
INSERT_COPY = write(
    "M2",
    """INSERT INTO conversations_by_label (user_id, label_id, year, last_at, conversation_id, sender, subject, excerpt, topic,
       unread, has_files, labels)
       VALUES (:user_id, :label_id, :year, :last_at, :conversation_id, :sender, :subject, :excerpt, :topic,
       :unread, :has_files, :labels) USING TIMESTAMP :version""",
)
DELETE_COPY = write(
    "M2",
    """DELETE FROM conversations_by_label USING TIMESTAMP :version
       WHERE user_id = :user_id AND label_id = :label_id AND year = :year AND last_at = :last_at
       AND conversation_id = :conversation_id""",
)


@dataclass(frozen=True)
class Head:
    """A conversation and its newest message that is no note."""

    conversation: Conversation
    newest: Message | None


@dataclass(frozen=True)
class Seen:
    """A mailbox, a conversation (None if it is gone) and its row there."""

    mailbox: Mailbox
    head: Head | None
    entry: MailboxEntry | None


Place = tuple[UUID, datetime]
Change = Callable[[Seen], MailboxEntry | None]


@contextmanager
def take_turns(key: UUID, seconds: float = _LONGEST_TURN) -> Iterator[None]:
    """Let one writer of the process at a time write to a partition within the block. Who has waited for `seconds` enters anyhow."""
    turn = _TURNS[key.int % len(_TURNS)]
    has_turn = turn.acquire(timeout=seconds)
    try:
        yield
    finally:
        if has_turn:
            turn.release()


def read_entry(user_id: UUID, conversation_id: UUID) -> Seen:
    """Return a mailbox, a conversation and its row, in the order in which they follow. Raises CassandraUnavailable."""
    mailbox = queries.get_mailbox(user_id, [conversation_id])
    heads = list_heads([conversation_id])
    mailbox = _with_assignees(mailbox, heads)
    return Seen(mailbox, heads.get(conversation_id), mailbox.entries.get(conversation_id))


def list_heads(conversation_ids: Sequence[UUID]) -> dict[UUID, Head]:
    """Return the conversations with their newest messages, without those that are being deleted. Raises CassandraUnavailable."""
    reading = [(each, queries.NEWEST.start(conversation_id=each)) for each in conversation_ids]
    heads = {}
    for conversation_id, pending in reading:
        rows = pending.rows()
        if rows and rows[0].state not in (None, DELETED):
            conversation = queries.head_from_row(rows[0])
            heads[conversation_id] = Head(conversation, _find_newest(conversation, rows))
    return heads


def _find_newest(conversation: Conversation, rows: Sequence[Row]) -> Message | None:
    newest_id = find_newest_id(conversation)
    if newest_id is None:
        return None
    row = next((row for row in rows if row.message_id == newest_id), None)
    if row:
        return queries.message_from_row(row)
    # Only notes are newer.
    return queries.get_message(conversation.conversation_id, newest_id)


def find_newest_id(conversation: Conversation) -> UUID | None:
    """Return the id of the newest message that is no note."""
    ids = (conversation.last_customer_id, conversation.last_shop_id)
    return max((each for each in ids if each), key=lambda each: each.time, default=None)


def change_entries(
    user_id: UUID, conversation_ids: Sequence[UUID], change: Change, *, is_noted: bool = False
) -> int:
    """Change a mailbox's rows of conversations, with the counts and copies; return the number of changed rows.

    `change` returns a row as it should be. It is called again if another writer was faster. `is_noted` says that the caller has written pending rows.
    Raises CassandraUnavailable and the errors of `change`.
    """
    noted: list[PendingRow] = []
    for _ in retry_attempts(MAX_ATTEMPTS):
        with take_turns(user_id):
            # The row is read before its conversation: if the conversation has changed since, so has the row.
            mailbox = queries.get_mailbox(user_id, conversation_ids)
            heads = list_heads(conversation_ids)
            mailbox = _complete_crowded(_with_assignees(mailbox, heads), heads)
            changes = _list_changes(mailbox, heads, conversation_ids, change)
            if changes and not is_noted and not noted:
                noted = note_entries(user_id, conversation_ids)
            if changes and not _apply(mailbox, changes):
                continue
            # Who has the next turn finds the copies complete.
            written = {**mailbox.entries, **{after.conversation_id: after for _, after in changes}}
            write_copies(user_id, heads, [each for each in written.values() if not each.is_copied])
        clear_rows(noted)
        return len(changes)
    raise CassandraUnavailable(f"mailbox {user_id} keeps changing")


def without_labels(seen: Seen) -> MailboxEntry | None:
    """Return a row without labels: lists and counts lack the conversation."""
    return replace(seen.entry, label_ids=frozenset()) if seen.entry else None


def drop_entry(user_id: UUID, conversation_id: UUID) -> None:
    """Take a conversation out of a mailbox, with its copies. A pending row has to name it. Raises CassandraUnavailable."""

    for _ in retry_attempts(MAX_ATTEMPTS):
        # The row goes last: it knows where copies are.
        change_entries(user_id, [conversation_id], without_labels, is_noted=True)
        rows = queries.prefetch_entries(user_id, [conversation_id]).rows()
        entry = queries.entries_from_rows(rows).get(conversation_id)
        if entry is None or (
            not entry.label_ids
            and entry.is_copied
            and DELETE_ENTRY.apply(
                if_lost=SEND_AGAIN,
                user_id=user_id,
                key=conversation_id.hex,
                seen=entry.version,
                seen_change=entry.change_id,
            )
        ):
            return
    raise CassandraUnavailable(f"mailbox {user_id} keeps changing")


def _with_assignees(mailbox: Mailbox, heads: Mapping[UUID, Head]) -> Mailbox:
    """Return the shop's mailbox with the labels of the conversations' assignees, even those without a row."""
    if mailbox.user_id != SHOP_MAILBOX:
        return mailbox
    labels = dict(mailbox.labels)
    for assignee_id in {
        each.conversation.assignee_id for each in heads.values() if each.conversation.assignee_id
    }:
        label = queries.find_label(SHOP_MAILBOX, labels, assignee_label(assignee_id))
        labels[label.label_id] = label
    return replace(mailbox, labels=labels)


def _complete_crowded(mailbox: Mailbox, heads: Mapping[UUID, Head]) -> Mailbox:
    """Write the copies of the rows that have many former places, so that none of them has more and more."""
    crowded = [
        each
        for each in mailbox.entries.values()
        if not each.is_copied and len(each.former_places) > _MAX_FORMER_PLACES
    ]
    write_copies(mailbox.user_id, heads, crowded)
    done = {each.conversation_id: replace(each, is_copied=True) for each in crowded}
    return replace(mailbox, entries={**mailbox.entries, **done})


def _list_changes(
    mailbox: Mailbox, heads: Mapping[UUID, Head], conversation_ids: Sequence[UUID], change: Change
) -> list[tuple[MailboxEntry | None, MailboxEntry]]:
    """Return the rows that change, before and after."""
    change_id = uuid4()
    changes: list[tuple[MailboxEntry | None, MailboxEntry]] = []
    for conversation_id in conversation_ids:
        seen = mailbox.entries.get(conversation_id)
        wanted = change(Seen(mailbox, heads.get(conversation_id), seen))
        if wanted is None or (wanted == seen and not _is_overdue(seen)):
            continue
        former: frozenset[Place] = frozenset()
        if seen:
            former = seen.places if seen.is_copied else seen.places | seen.former_places
        after = replace(
            wanted,
            label_ids=frozenset(each for each in wanted.label_ids if each in mailbox.labels),
            version=max(current_microseconds(), seen.version + 2 if seen else 0),
            change_id=change_id,
            is_copied=False,
        )
        changes.append((seen, replace(after, former_places=former - after.places)))
    return changes


def _is_overdue(entry: MailboxEntry) -> bool:
    oldest = current_microseconds() - int(FRESH_FOR.total_seconds() * 1_000_000)
    return not entry.is_copied and entry.version < oldest


def _apply(mailbox: Mailbox, changes: Sequence[tuple[MailboxEntry | None, MailboxEntry]]) -> bool:
    """Write the rows and the counts in one conditional batch; return whether it applied."""
    statements = [_bind_entry(mailbox.user_id, seen, after) for seen, after in changes]
    statements += _bind_counts(mailbox, changes)
    change_id = changes[0][1].change_id
    lost = applied_if(lambda row: getattr(row, "change_id", None) == change_id)
    return apply_batch(*statements, if_lost=lost).applied


def _bind_entry(user_id: UUID, seen: MailboxEntry | None, after: MailboxEntry) -> BoundStatement:
    key = {"user_id": user_id, "key": after.conversation_id.hex}
    before = {"seen": seen.version, "seen_change": seen.change_id} if seen else {}
    columns = {
        "labels": set(after.label_ids),
        "placed_at": after.placed_at,
        "last_message_id": after.last_message_id,
        "read_until": after.read_until,
        "unread": after.unread,
        "version": after.version,
        "change_id": after.change_id,
        "former_places": _dump_places(after.former_places),
    }
    statement = UPDATE_ENTRY if seen else INSERT_ENTRY
    return statement.bind(**key, **columns, **before)


def _dump_places(places: Collection[Place]) -> str:
    listed = sorted((label.hex, round(at.timestamp() * 1000)) for label, at in places)
    return json.dumps(listed) if listed else ""


def _bind_counts(
    mailbox: Mailbox, changes: Sequence[tuple[MailboxEntry | None, MailboxEntry]]
) -> list[BoundStatement]:
    """Return a statement for each label whose numbers change. A batch reads a number once, so a label has one statement."""
    counts: dict[UUID, int] = defaultdict(int)
    unread: dict[UUID, int] = defaultdict(int)
    years: dict[UUID, int] = {}
    for seen, after in changes:
        for entry, sign in ((seen, -1), (after, 1)):
            for label_id in entry.label_ids if entry else ():
                counts[label_id] += sign
                unread[label_id] += sign * entry.unread if entry else 0
        for label_id in after.label_ids:
            years[label_id] = min(after.placed_at.year, years.get(label_id, after.placed_at.year))
    statements = []
    for label_id, label in mailbox.labels.items():
        first_year = min(years.get(label_id, label.first_year), label.first_year)
        amounts = {"count": counts[label_id], "unread_count": unread[label_id]}
        if any(amounts.values()) or first_year < label.first_year:
            statements.append(_bind_count(mailbox.user_id, label, first_year, amounts))
    return statements


def _bind_count(
    user_id: UUID, label: Label, first_year: int, amounts: Mapping[str, int]
) -> BoundStatement:
    values = {"user_id": user_id, "key": label.key, "label_id": label.label_id, **amounts}
    if not label.is_stored:
        return INSERT_FIXED_LABEL.bind(**values, first_year=first_year)
    if first_year < label.first_year:
        return COUNT_EARLIER.bind(**values, first_year=first_year, seen_year=label.first_year)
    return COUNT.bind(**values)


def write_copies(
    user_id: UUID, heads: Mapping[UUID, Head], entries: Sequence[MailboxEntry]
) -> None:
    """Write the copies of rows, delete the copies at their former places, and store that they are complete.

    Raises CassandraUnavailable.
    """
    groups: dict[tuple[UUID, int], list[tuple[Statement, dict[str, Any]]]] = defaultdict(list)
    for entry in entries:
        head = heads.get(entry.conversation_id)
        for label_id, last_at in entry.former_places | entry.places:
            key = {
                "user_id": user_id,
                "label_id": label_id,
                "year": last_at.year,
                "last_at": last_at,
                "conversation_id": entry.conversation_id,
                "version": entry.version,
            }
            if head and (label_id, last_at) in entry.places:
                write_one = (INSERT_COPY, key | copy_columns(user_id, head, entry))
            else:
                write_one = (DELETE_COPY, key)
            groups[label_id, last_at.year].append(write_one)
    _write_groups(list(groups.values()))
    done = [
        (
            NOTE_COPIED,
            {"user_id": user_id, "key": each.conversation_id.hex, "version": each.version},
        )
        for each in entries
    ]
    _write_groups([done] if done else [])


def _write_groups(groups: Sequence[Sequence[tuple[Statement, dict[str, Any]]]]) -> None:
    """Write the statements of each partition: a few side by side, many as one batch for each partition."""
    if sum(map(len, groups)) <= _FEW:
        wait_for_all([statement.start(**row) for group in groups for statement, row in group])
        return
    for group in groups:
        write_batch([statement.bind(**row) for statement, row in group])


def copy_columns(user_id: UUID, head: Head, entry: MailboxEntry) -> dict[str, Any]:
    """Return what the copies of a mailbox's row say about its conversation."""
    conversation, newest = head.conversation, head.newest
    sender = conversation.customer.name or conversation.customer.email
    if user_id != SHOP_MAILBOX and newest:
        sender = newest.sender.name
    return {
        "sender": sender,
        "subject": conversation.subject,
        "excerpt": " ".join(newest.body.split())[:EXCERPT_LENGTH] if newest else "",
        "topic": conversation.topic.kind,
        "unread": entry.unread,
        "has_files": bool(newest and newest.attachments),
        "labels": set(entry.label_ids),
    }
