"""What people do with the conversations in a mailbox: reading marks and labels; and how a mailbox follows a conversation."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cassandra.util import min_uuid_from_time

from cassandra_db import current_time, truncate_to_milliseconds
from conversations.entities import Conversation, Label, Mailbox, MailboxEntry
from conversations.errors import NoSuchLabel, TooManyLabels
from conversations.operations.entries import Seen, change_entries, find_newest_id, without_labels
from conversations.operations.pending import PendingRow, note_entries
from conversations.queries import find_label, get_moment
from conversations.rules import (
    ALL,
    ARCHIVE,
    INBOX,
    MAX_AT_ONCE,
    MAX_LABELS,
    MOVABLE,
    OPEN,
    SHOP_MAILBOX,
    STARRED,
    TRASH,
    UNASSIGNED,
    assignee_label,
)
from conversations.states import DONE, SPAM, WAITING_FOR_US

TRASH_DURATION = timedelta(days=30)


def is_after(message_id: UUID | None, mark: UUID | None) -> bool:
    """Return whether a message is newer than a read mark."""
    return message_id is not None and (mark is None or message_id.time > mark.time)


def follow(seen: Seen) -> MailboxEntry | None:
    """Return the row of a conversation as its messages say, and in the shop's mailbox its state and assignee.

    The mailbox's own labels stay. A new message of the shop brings a conversation back to its member's inbox.
    """
    mailbox, entry = seen.mailbox, seen.entry
    if seen.head is None:
        return without_labels(seen)
    conversation = seen.head.conversation
    is_shop = mailbox.user_id == SHOP_MAILBOX
    last_id = conversation.last_customer_id if is_shop else conversation.last_shop_id
    if entry and _stays_in_trash(mailbox, conversation, entry, last_id):
        return entry
    labels = _kept_labels(mailbox, entry)
    if is_shop:
        labels |= _state_labels(mailbox, conversation)
    elif entry is None or entry.last_message_id != last_id or _is_trashed(mailbox, entry):
        labels |= {_id(mailbox, INBOX)}
    else:
        labels = entry.label_ids
    before = entry or MailboxEntry(
        conversation.conversation_id, frozenset(), current_time(), unread=False, version=0
    )
    return replace(
        before,
        label_ids=labels,
        placed_at=_find_place(mailbox, conversation),
        last_message_id=last_id,
        unread=is_after(last_id, before.read_until),
    )


def _find_place(mailbox: Mailbox, conversation: Conversation) -> datetime:
    waits = conversation.state == WAITING_FOR_US and conversation.waiting_since
    if mailbox.user_id == SHOP_MAILBOX and waits:
        return waits
    newest_id = find_newest_id(conversation) or conversation.conversation_id
    return get_moment(newest_id)


def _state_labels(mailbox: Mailbox, conversation: Conversation) -> frozenset[UUID]:
    keys = [f" {conversation.state}"]
    if conversation.state != SPAM:
        keys.append(ALL)
    if conversation.state not in (SPAM, DONE):
        assignee_id = conversation.assignee_id
        keys += [OPEN, assignee_label(assignee_id) if assignee_id else UNASSIGNED]
    return frozenset(_id(mailbox, key) for key in keys)


def _id(mailbox: Mailbox, key: str) -> UUID:
    return find_label(mailbox.user_id, mailbox.labels, key).label_id


def _kept_labels(mailbox: Mailbox, entry: MailboxEntry | None) -> frozenset[UUID]:
    """Return the labels that stay when a conversation moves: the mailbox's own ones and the star."""
    return frozenset(
        label_id
        for label_id in (entry.label_ids if entry else ())
        if (label := mailbox.labels.get(label_id)) and (not label.is_fixed or label.key == STARRED)
    )


def _stays_in_trash(
    mailbox: Mailbox, conversation: Conversation, entry: MailboxEntry, last_id: UUID | None
) -> bool:
    """Return whether a conversation is in the trash or deleted from it, and has no message since."""
    newest_id = find_newest_id(conversation)
    return (
        _is_trashed(mailbox, entry)
        and entry.last_message_id == last_id
        and (newest_id is None or get_moment(newest_id) <= entry.placed_at)
    )


def _is_trashed(mailbox: Mailbox, entry: MailboxEntry) -> bool:
    return _id(mailbox, TRASH) in entry.label_ids or not _is_listed(mailbox, entry)


def _is_listed(mailbox: Mailbox, entry: MailboxEntry) -> bool:
    return any(label_id in mailbox.labels for label_id in entry.label_ids)


def without_gone_labels(mailbox: Mailbox, entry: MailboxEntry) -> MailboxEntry:
    """Return a row without the ids of labels that were emptied or deleted."""
    known = frozenset(each for each in entry.label_ids if each in mailbox.labels)
    return replace(entry, label_ids=known)


def renew_entry(user_id: UUID, conversation_id: UUID) -> None:
    """Write the copies of a mailbox's row again, with a later version. Raises CassandraUnavailable."""

    def change(seen: Seen) -> MailboxEntry | None:
        return replace(seen.entry, version=0) if seen.entry else None

    change_entries(user_id, [conversation_id], change)


def mark_read(user_id: UUID, conversation_id: UUID, until: UUID) -> None:
    """Mark a conversation's messages up to `until` as read; newer messages stay unread. Raises CassandraUnavailable."""

    def change(seen: Seen) -> MailboxEntry | None:
        entry = seen.entry
        if entry is None or entry.last_message_id is None or until.version != 1:
            return entry
        mark = min(until, entry.last_message_id, key=lambda each: each.time)
        if not is_after(mark, entry.read_until):
            return entry
        return replace(entry, read_until=mark, unread=is_after(entry.last_message_id, mark))

    change_entries(user_id, [conversation_id], change)


def mark_unread(user_id: UUID, conversation_id: UUID) -> None:
    """Mark the newest message of a conversation as unread. Raises CassandraUnavailable."""

    def change(seen: Seen) -> MailboxEntry | None:
        entry = seen.entry
        if entry is None or entry.last_message_id is None or entry.unread:
            return entry
        before = min_uuid_from_time(get_moment(entry.last_message_id) - timedelta(milliseconds=1))
        return replace(entry, read_until=before, unread=True)

    change_entries(user_id, [conversation_id], change)


def relabel(
    user_id: UUID, conversation_ids: Sequence[UUID], add: Collection[UUID], remove: Collection[UUID]
) -> int:
    """Put labels on at most 100 conversations, and take others off; return the number of changed conversations.

    Nothing changes unless all of it can. A conversation that goes into the trash loses its other labels.
    Raises TooManyLabels, NoSuchLabel, CassandraUnavailable.
    """
    ids = list(dict.fromkeys(conversation_ids))
    if len(ids) > MAX_AT_ONCE:
        raise ValueError(f"more than {MAX_AT_ONCE} conversations")
    now = truncate_to_milliseconds(current_time())
    noted: list[PendingRow] = []

    def change(seen: Seen) -> MailboxEntry | None:
        mailbox, head, entry = seen.mailbox, seen.head, seen.entry
        added, removed = _find_labels(mailbox, add), _find_labels(mailbox, remove)
        if TRASH in added and not noted:
            noted.extend(note_entries(user_id, ids, at=now + TRASH_DURATION))
        if entry is None or head is None or not _is_listed(mailbox, entry):
            return entry
        return _relabel(mailbox, head.conversation, entry, added, removed, now)

    return change_entries(user_id, ids, change) if ids else 0


def _find_labels(mailbox: Mailbox, label_ids: Iterable[UUID]) -> dict[str, Label]:
    """Return these labels by key. Raises NoSuchLabel."""
    found = [mailbox.labels.get(label_id) for label_id in label_ids]
    if any(label is None or (label.is_fixed and label.key not in MOVABLE) for label in found):
        raise NoSuchLabel
    return {label.key: label for label in found if label}


def _relabel(
    mailbox: Mailbox,
    conversation: Conversation,
    entry: MailboxEntry,
    add: dict[str, Label],
    remove: dict[str, Label],
    now: datetime,
) -> MailboxEntry:
    has = {mailbox.labels[each].key: each for each in entry.label_ids if each in mailbox.labels}
    if TRASH in add or (TRASH in has and TRASH not in remove and not {INBOX, ARCHIVE} & add.keys()):
        placed_at = entry.placed_at if TRASH in has else now
        return replace(entry, label_ids=frozenset({_id(mailbox, TRASH)}), placed_at=placed_at)
    kept = {key: each for key, each in has.items() if key not in remove and key not in MOVABLE[:2]}
    wanted = kept | {key: label.label_id for key, label in add.items()}
    labels = frozenset(
        each for key, each in wanted.items() if key == STARRED or not key.startswith(" ")
    )
    if mailbox.user_id == SHOP_MAILBOX:
        labels |= _state_labels(mailbox, conversation)
    else:
        is_archived = ARCHIVE in add or (
            INBOX not in add and (INBOX in remove or (ARCHIVE in has and ARCHIVE not in remove))
        )
        labels |= {_id(mailbox, ARCHIVE if is_archived else INBOX)}
    own = [each for each in labels if each in mailbox.labels and not mailbox.labels[each].is_fixed]
    if len(own) > MAX_LABELS:
        raise TooManyLabels
    return replace(entry, label_ids=labels, placed_at=_find_place(mailbox, conversation))
