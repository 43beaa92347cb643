"""Deletes conversations, the trash of mailboxes, and the copies under emptied labels."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_microseconds,
    current_time,
    read,
    wait_for_all,
    write,
)
from conversations import queries
from conversations.entities import MailboxEntry, Message
from conversations.operations.attachments import delete_attachment
from conversations.operations.entries import Seen, change_entries, drop_entry, without_labels
from conversations.operations.mailboxes import TRASH_DURATION
from conversations.operations.pending import PENDING, note_conversation
from conversations.rules import MAX_AT_ONCE, SHOP_MAILBOX, TRASH
from conversations.states import DELETED, DONE
from jobs.rows import guard_row

# A deletion of a label's partition also wins against copies that a slow process writes this much later.
_SLOWEST_COPY = timedelta(hours=1)

# The last message is named, so that a message that comes meanwhile keeps the conversation.
MARK_DELETED = conditional_write(
    "M1",
    """UPDATE conversations SET state = 'deleted', version = version + 1 WHERE conversation_id = :conversation_id
       IF state = :seen AND last_message_id = :last_message_id""",
)
# A partition's deletion cannot have a condition of its own.
CLEAR_HEAD = conditional_write(
    "M1",
    """DELETE state, message_count, version FROM conversations WHERE conversation_id = :conversation_id
       IF state = 'deleted'""",
)
DELETE_CONVERSATION = conditional_write(
    "M1", "DELETE FROM conversations WHERE conversation_id = :conversation_id"
)
DELETE_ROWS = write("M1", "DELETE FROM conversations WHERE conversation_id = :conversation_id")
DELETE_BY_CUSTOMER = write(
    "M7",
    """DELETE FROM conversations_by_customer
       WHERE customer_id = :customer_id AND conversation_id = :conversation_id""",
)
DELETE_BY_TOPIC = write(
    "M7",
    """DELETE FROM conversations_by_topic
       WHERE topic_id = :topic_id AND year = :year AND conversation_id = :conversation_id""",
)
DELETE_YEAR = write(
    "M6",
    """DELETE FROM conversations_by_label USING TIMESTAMP :at
       WHERE user_id = :user_id AND label_id = :label_id AND year = :year""",
)
DELETE_MAILBOX = write("M3", "DELETE FROM labels_by_user WHERE user_id = :user_id")
# The oldest rows of a label's year.
OLDEST = read(
    "M2",
    """SELECT conversation_id, last_at FROM conversations_by_label
       WHERE user_id = :user_id AND label_id = :label_id AND year = :year AND last_at < :before
       ORDER BY last_at ASC, conversation_id ASC LIMIT :most""",
)


def delete_conversation(conversation_id: UUID, state: str = "") -> bool:
    """Delete a conversation with its files and all rows about it, if it has this state; "" for any. Return whether it is deleted.

    A message that comes at the same moment keeps it. Raises CassandraUnavailable.
    """
    row = queries.HEAD.one(conversation_id=conversation_id)
    if row is None or row.state is None:
        return False
    pending = note_conversation(conversation_id)
    is_deleted = row.state == DELETED or (
        state in ("", row.state)
        and MARK_DELETED.apply(
            if_lost=applied_if(lambda found: found.state == DELETED),
            conversation_id=conversation_id,
            seen=row.state,
            last_message_id=row.last_message_id,
        ).applied
    )
    if is_deleted:
        finish_deletion(conversation_id)
    PENDING.clear(pending)
    return is_deleted


def finish_deletion(conversation_id: UUID) -> None:
    """Delete what belongs to a conversation that is marked as deleted, and then the conversation. Raises CassandraUnavailable."""
    row = queries.HEAD.one(conversation_id=conversation_id)
    if row is None or row.state is None:
        drop_entry(SHOP_MAILBOX, conversation_id)
    if row is None or row.state != DELETED:
        return
    conversation = queries.head_from_row(row)
    drop_entry(SHOP_MAILBOX, conversation_id)
    if conversation.customer.is_member:
        drop_entry(conversation.customer.customer_id, conversation_id)
    delete_files(iterate_messages(conversation_id))
    deleting = [
        DELETE_BY_CUSTOMER.start(
            customer_id=conversation.customer.customer_id, conversation_id=conversation_id
        )
    ]
    if conversation.topic.topic_id:
        deleting.append(
            DELETE_BY_TOPIC.start(
                topic_id=conversation.topic.topic_id,
                year=queries.find_topic_year(conversation),
                conversation_id=conversation_id,
            )
        )
    wait_for_all(deleting)
    ids = {"conversation_id": conversation_id}
    apply_batch(CLEAR_HEAD.bind(**ids), DELETE_CONVERSATION.bind(**ids), if_lost=SEND_AGAIN)


def iterate_messages(conversation_id: UUID) -> Iterator[Message]:
    """Yield all messages of a conversation, newest first. Raises CassandraUnavailable."""
    before = None
    while rows := queries.prefetch_messages(conversation_id, before).rows():
        found = queries.messages_from_rows(rows)
        yield from reversed(found)
        if len(rows) < queries.PAGE_SIZE or not found:
            return
        before = found[0].message_id


def delete_files(messages: Iterable[Message]) -> None:
    """Delete the files of these messages. Raises CassandraUnavailable."""
    for message in messages:
        for attachment in message.attachments:
            delete_attachment(attachment)


def delete_trashed(user_id: UUID, conversation_id: UUID, now: datetime) -> bool:
    """Delete a conversation that has been in a mailbox's trash for 30 days; return whether it was.

    It goes from a member's mailbox until the shop writes again. From the shop's trash the conversation itself is deleted.
    Raises CassandraUnavailable.
    """
    is_due = False

    def drop(seen: Seen) -> MailboxEntry | None:
        nonlocal is_due
        entry = seen.entry
        trash = queries.find_label(user_id, seen.mailbox.labels, TRASH).label_id
        is_due = (
            entry is not None
            and trash in entry.label_ids
            and entry.placed_at <= now - TRASH_DURATION
        )
        if entry is None or not is_due or user_id == SHOP_MAILBOX:
            return entry
        return without_labels(seen)

    change_entries(user_id, [conversation_id], drop)
    return is_due and (user_id != SHOP_MAILBOX or delete_conversation(conversation_id))


def finish_emptied(row: Row, now: datetime) -> bool:
    """Delete the copies under an emptied label: a deletion for each year, and none for each copy. Return False for a label in use.

    Conversations that were in the shop's trash are deleted. Raises CassandraUnavailable.
    """
    labels = queries.get_labels(row.user_id)
    if row.label_id in labels and labels[row.label_id].is_stored:
        return False
    ids = {"user_id": row.user_id, "label_id": row.label_id}
    years = range(row.first_year, now.year + 2)
    if row.user_id == SHOP_MAILBOX and row.is_trash:
        for year in years:
            while _delete_trashed_by_shop(row.label_id, year):
                pass
    for year in years:
        delete_year(**ids, year=year)
    return True


def delete_year(user_id: UUID, label_id: UUID, year: int) -> None:
    """Delete the copies under a label's former id of a year. Raises CassandraUnavailable."""
    at = current_microseconds() + int(_SLOWEST_COPY.total_seconds() * 1_000_000)
    DELETE_YEAR.run(user_id=user_id, label_id=label_id, year=year, at=at)


def delete_mailbox(user_id: UUID) -> None:
    """Delete a member's mailbox: its labels, rows and copies. Raises CassandraUnavailable."""
    labels = queries.get_labels(user_id)
    for label in labels.values():
        for year in range(label.first_year, current_time().year + 1):
            if label.is_stored:
                delete_year(user_id, label.label_id, year)
    DELETE_MAILBOX.run(user_id=user_id)


def _delete_trashed_by_shop(label_id: UUID, year: int) -> int:
    """Delete some conversations that were in the shop's trash when it was emptied; return their number."""
    rows = OLDEST.all(
        user_id=SHOP_MAILBOX, label_id=label_id, year=year, before=queries.END, most=MAX_AT_ONCE
    )
    ids = [each.conversation_id for each in rows]
    entries = queries.get_mailbox(SHOP_MAILBOX, ids).entries if ids else {}
    trashed = [each for each in ids if each in entries and label_id in entries[each].label_ids]
    return sum(map(delete_conversation, trashed))


def delete_done(before: datetime, most: int) -> int:
    """Delete conversations that are done and older than `before`, at most this many; return their number.

    Raises CassandraUnavailable.
    """
    labels = queries.get_labels(SHOP_MAILBOX)
    label = queries.find_label(SHOP_MAILBOX, labels, f" {DONE}")
    count = 0
    for year in range(label.first_year, before.year + 1):
        rows = OLDEST.all(
            user_id=SHOP_MAILBOX,
            label_id=label.label_id,
            year=year,
            before=before,
            most=most - count,
        )
        for row in rows:
            with guard_row(f"conversation {row.conversation_id}"):
                count += delete_conversation(row.conversation_id, DONE)
        if count >= most:
            break
    return count
