"""Reads of conversations, their messages, mailboxes and labels."""

# ruff: noqa: S608 - the columns and keys are this module's constants

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from cassandra_db import PendingResult, Row, current_time, page_key, page_token, read
from conversations.entities import (
    Attachment,
    Conversation,
    ConversationPage,
    Customer,
    Label,
    ListedConversation,
    ListedTopic,
    Mailbox,
    MailboxEntry,
    Message,
    Sender,
    Topic,
)
from conversations.rules import MEMBER_LABELS, SHOP_LABELS, SHOP_MAILBOX, fixed_label_id
from conversations.states import DELETED, ORDER

PAGE_SIZE = 50
_NEWEST = 4  # messages that are read with a conversation's head

_HEAD = """customer_id, customer_email, customer_name, is_member, subject, topic, topic_id, state, waiting_since, assignee_id,
    message_count, version, change_id, follows_id, continued_id, last_message_id, last_customer_id, last_shop_id, told_until"""
_MESSAGE = """message_id, kind, author_id, sender_name, sender_email, is_verified, recipients, body, quoted, mail_message_id,
    attachments"""

# M1: the head of a conversation; with its newest messages; its messages; one of them.
HEAD = read(
    "M1",
    f"SELECT DISTINCT conversation_id, {_HEAD} FROM conversations WHERE conversation_id = :conversation_id",
)
NEWEST = read(
    "M1",
    f"""SELECT conversation_id, {_HEAD}, {_MESSAGE} FROM conversations WHERE conversation_id = :conversation_id
        LIMIT {_NEWEST}""",
)
MESSAGES = read(
    "M1",
    f"SELECT {_MESSAGE} FROM conversations WHERE conversation_id = :conversation_id LIMIT :most",
)
MESSAGES_BEFORE = read(
    "M1",
    f"""SELECT {_MESSAGE} FROM conversations WHERE conversation_id = :conversation_id AND message_id < :before
        LIMIT :most""",
)
MESSAGES_AFTER = read(
    "M1",
    f"""SELECT {_MESSAGE} FROM conversations WHERE conversation_id = :conversation_id AND message_id > :after
        ORDER BY message_id ASC LIMIT :most""",
)
MESSAGE = read(
    "M1",
    f"""SELECT {_MESSAGE} FROM conversations
        WHERE conversation_id = :conversation_id AND message_id = :message_id""",
)
# M1: the message that a form or a mail became.
CLAIM = read(
    "M1", "SELECT conversation_id, message_id FROM message_claims WHERE source_id = :source_id"
)
# M2: a year of a label, newest first or oldest first.
_LISTED = "last_at, conversation_id, sender, subject, excerpt, topic, unread, has_files, labels"
NEWEST_LISTED = read(
    "M2",
    f"""SELECT {_LISTED} FROM conversations_by_label
        WHERE user_id = :user_id AND label_id = :label_id AND year = :year
        AND (last_at, conversation_id) < (:last_at, :conversation_id) LIMIT :most""",
)
OLDEST_LISTED = read(
    "M2",
    f"""SELECT {_LISTED} FROM conversations_by_label
        WHERE user_id = :user_id AND label_id = :label_id AND year = :year
        AND (last_at, conversation_id) > (:last_at, :conversation_id)
        ORDER BY last_at ASC, conversation_id ASC LIMIT :most""",
)
# M3: a mailbox's labels; its rows of some conversations.
LABELS = read(
    "M3",
    """SELECT key, label_id, name, color, count, unread_count, first_year FROM labels_by_user
       WHERE user_id = :user_id AND kind = 'label'""",
)
ENTRIES = read(
    "M3",
    """SELECT key, labels, placed_at, last_message_id, read_until, unread, version, change_id, copied, former_places
       FROM labels_by_user WHERE user_id = :user_id AND kind = 'conversation' AND key IN :keys""",
)
# M7: the conversations of a customer; about an order or product.
BY_CUSTOMER = read(
    "M7",
    "SELECT conversation_id, subject FROM conversations_by_customer WHERE customer_id = :customer_id",
)
BY_TOPIC = read(
    "M7",
    "SELECT conversation_id, subject FROM conversations_by_topic WHERE topic_id = :topic_id AND year = :year",
)

START, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
FIRST_ID = UUID(int=0x1000 << 64)  # sorts before each time UUID of the same moment


def prefetch_conversation(conversation_id: UUID) -> PendingResult:
    """Start reading a conversation's head; see `conversation_from_rows`."""
    return HEAD.start(conversation_id=conversation_id)


def conversation_from_rows(rows: Sequence[Row]) -> Conversation | None:
    """Return the conversation, or None if it does not exist or is being deleted."""
    if not rows or rows[0].state in (None, DELETED):
        return None
    return head_from_row(rows[0])


def head_from_row(row: Row) -> Conversation:
    """Return a conversation, even one that is being deleted."""
    return Conversation(
        conversation_id=row.conversation_id,
        customer=Customer(
            row.customer_id, row.customer_email or "", row.customer_name or "", bool(row.is_member)
        ),
        subject=row.subject or "",
        topic=Topic(row.topic, row.topic_id),
        state=row.state,
        waiting_since=row.waiting_since,
        assignee_id=row.assignee_id,
        message_count=row.message_count,
        version=row.version,
        follows_id=row.follows_id,
        continued_id=row.continued_id,
        is_continuing=row.continued_id is not None and row.change_id == row.continued_id,
        last_customer_id=row.last_customer_id,
        last_shop_id=row.last_shop_id,
        told_until=row.told_until,
    )


def get_conversation(conversation_id: UUID) -> Conversation | None:
    """Return a conversation, or None. Raises CassandraUnavailable."""
    return conversation_from_rows(prefetch_conversation(conversation_id).rows())


def prefetch_messages(conversation_id: UUID, before: UUID | None = None) -> PendingResult:
    """Start reading the newest messages, at most 50, or the newest before the message `before`; see `messages_from_rows`."""
    if before is None or before.version != 1:
        return MESSAGES.start(conversation_id=conversation_id, most=PAGE_SIZE)
    return MESSAGES_BEFORE.start(conversation_id=conversation_id, before=before, most=PAGE_SIZE)


def messages_from_rows(rows: Sequence[Row]) -> list[Message]:
    """Return the messages, oldest first."""
    found = [message_from_row(row) for row in rows if row.message_id and row.kind]
    return sorted(found, key=lambda message: message.message_id.time)


def message_from_row(row: Row) -> Message:
    """Return the message of a row."""
    return Message(
        message_id=row.message_id,
        kind=row.kind,
        sender=Sender(
            row.author_id, row.sender_name or "", row.sender_email or "", bool(row.is_verified)
        ),
        body=row.body or "",
        written_at=get_moment(row.message_id),
        quoted=row.quoted or "",
        mail_message_id=row.mail_message_id or "",
        recipients=tuple(row.recipients or ()),
        attachments=parse_attachments(row.attachments),
    )


def dump_attachments(attachments: Sequence[Attachment]) -> str:
    """Return the text that a message stores about its files; "" for none."""
    listed = [
        {
            "id": each.attachment_id.hex,
            "name": each.name,
            "type": each.content_type,
            "size": each.size,
            "digest": each.digest,
        }
        for each in attachments
    ]
    return json.dumps(listed, ensure_ascii=False) if listed else ""


def parse_attachments(text: str | None) -> tuple[Attachment, ...]:
    """Return the files that a message stores."""
    return tuple(
        Attachment(UUID(each["id"]), each["name"], each["type"], each["size"], each["digest"])
        for each in json.loads(text or "[]")
    )


def get_moment(message_id: UUID) -> datetime:
    """Return the moment in a time UUID, to the millisecond (UTC)."""
    milliseconds = (message_id.time - 0x01B21DD213814000) // 10_000
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def find_topic_year(conversation: Conversation) -> int:
    """Return the year of a conversation in the list of what it is about: 0 for an order."""
    if conversation.topic.kind == ORDER:
        return 0
    return get_moment(conversation.conversation_id).year


def get_message(conversation_id: UUID, message_id: UUID) -> Message | None:
    """Return a message, or None. Raises CassandraUnavailable."""
    if message_id.version != 1:
        return None
    row = MESSAGE.one(conversation_id=conversation_id, message_id=message_id)
    return message_from_row(row) if row and row.kind else None


def prefetch_labels(user_id: UUID) -> PendingResult:
    """Start reading a mailbox's labels; see `labels_from_rows`."""
    return LABELS.start(user_id=user_id)


def labels_from_rows(user_id: UUID, rows: Sequence[Row]) -> dict[UUID, Label]:
    """Return a mailbox's labels by id: the fixed ones first, then the others by name. Fixed ones without a row have count 0."""
    titles = SHOP_LABELS if user_id == SHOP_MAILBOX else MEMBER_LABELS
    stored = {row.key: _label_from_row(row, titles) for row in rows if row.label_id}
    fixed = [stored.get(key) or _new_fixed_label(user_id, key, titles) for key in titles]
    others = [label for key, label in stored.items() if key not in titles]
    return {label.label_id: label for label in (*fixed, *others)}


def get_labels(user_id: UUID) -> dict[UUID, Label]:
    """Return a mailbox's labels, as `labels_from_rows` does. Raises CassandraUnavailable."""
    return labels_from_rows(user_id, prefetch_labels(user_id).rows())


def _label_from_row(row: Row, titles: Mapping[str, Any]) -> Label:
    return Label(
        label_id=row.label_id,
        name=str(titles.get(row.key) or row.name or row.key.strip()),
        color=row.color or "grey",
        count=row.count or 0,
        unread_count=row.unread_count or 0,
        first_year=row.first_year or current_time().year,
        is_fixed=row.key.startswith(" "),
        key=row.key,
    )


def _new_fixed_label(user_id: UUID, key: str, titles: Mapping[str, Any]) -> Label:
    return Label(
        label_id=fixed_label_id(user_id, key),
        name=str(titles.get(key) or key.strip()),
        color="grey",
        count=0,
        unread_count=0,
        first_year=current_time().year,
        is_fixed=True,
        key=key,
        is_stored=False,
    )


def find_label(user_id: UUID, labels: Mapping[UUID, Label], key: str) -> Label:
    """Return a fixed label of a mailbox by its key (rules.INBOX, `rules.assignee_label(…)`), with count 0 if it has no row yet."""
    found = next((label for label in labels.values() if label.key == key), None)
    return found or _new_fixed_label(user_id, key, {})


def prefetch_entries(user_id: UUID, conversation_ids: Sequence[UUID]) -> PendingResult:
    """Start reading a mailbox's rows of these conversations; see `entries_from_rows`."""
    return ENTRIES.start(user_id=user_id, keys=[each.hex for each in conversation_ids])


def entries_from_rows(rows: Sequence[Row]) -> dict[UUID, MailboxEntry]:
    """Return the mailbox's rows by conversation."""
    return {UUID(row.key): _entry_from_row(row) for row in rows if row.version is not None}


def _entry_from_row(row: Row) -> MailboxEntry:
    return MailboxEntry(
        conversation_id=UUID(row.key),
        label_ids=frozenset(row.labels or ()),
        placed_at=row.placed_at,
        unread=bool(row.unread),
        version=row.version,
        last_message_id=row.last_message_id,
        read_until=row.read_until,
        change_id=row.change_id,
        is_copied=row.copied == row.version,
        former_places=frozenset(
            (UUID(label), datetime.fromtimestamp(milliseconds / 1000, UTC))
            for label, milliseconds in json.loads(row.former_places or "[]")
        ),
    )


def get_mailbox(user_id: UUID, conversation_ids: Sequence[UUID]) -> Mailbox:
    """Return a mailbox's labels, and its rows of these conversations. Raises CassandraUnavailable."""
    labels, entries = prefetch_labels(user_id), prefetch_entries(user_id, conversation_ids)
    return Mailbox(
        user_id, labels_from_rows(user_id, labels.rows()), entries_from_rows(entries.rows())
    )


@dataclass(frozen=True)
class PendingLabelPage:
    """A page of a label whose read has been started. `years` are the partitions that were not read yet."""

    list_name: str
    most: int
    reading: tuple[PendingResult, ...]
    years: tuple[int, ...]
    start: partial[PendingResult]  # with a year, and how many rows at most


def prefetch_label_page(
    user_id: UUID, label: Label, after: str = "", *, oldest_first: bool = False
) -> PendingLabelPage:
    """Start reading a page of 50 conversations under a label; see `label_page`. Raises InvalidPageToken.

    Of a label with fewer conversations no more rows are read than it has: behind the last one there may be many deleted rows.
    """
    list_name = f"M2 {user_id.hex} {label.label_id.hex} {'oldest' if oldest_first else 'newest'}"
    key = (START, FIRST_ID) if oldest_first else (END, FIRST_ID)
    years = list(range(current_time().year, label.first_year - 1, -1))
    most = PAGE_SIZE + 1
    if after:
        last_at, conversation_id = page_key(after, list_name)
        key = last_at, conversation_id
    elif label.count == 0:
        years = []
    else:
        most = min(most, label.count)
    start = partial(
        (OLDEST_LISTED if oldest_first else NEWEST_LISTED).start,
        user_id=user_id,
        label_id=label.label_id,
        last_at=key[0],
        conversation_id=key[1],
    )
    if oldest_first:
        years = [year for year in reversed(years) if year >= key[0].year]
        started = years  # a label may be older than the year of its oldest conversation
    else:
        years = [year for year in years if year <= key[0].year]
        started = years[:1]
    reading = tuple(start(year=year, most=most) for year in started)
    return PendingLabelPage(list_name, most, reading, tuple(years[len(started) :]), start)


def label_page(pending: PendingLabelPage) -> ConversationPage:
    """Return the page. It goes on in earlier years (later ones, oldest first). Raises CassandraUnavailable."""
    rows = [row for reading in pending.reading for row in reading.rows()][: pending.most]
    for year in pending.years:
        if len(rows) >= pending.most:
            break
        rows += pending.start(year=year, most=pending.most - len(rows)).rows()
    token = ""
    if len(rows) > PAGE_SIZE:
        rows = rows[:PAGE_SIZE]
        token = page_token((rows[-1].last_at, rows[-1].conversation_id), pending.list_name)
    return ConversationPage(tuple(listed_from_row(row) for row in rows), token)


def listed_from_row(row: Row) -> ListedConversation:
    """Return a row of NEWEST_LISTED or OLDEST_LISTED."""
    return ListedConversation(
        conversation_id=row.conversation_id,
        last_at=row.last_at,
        sender=row.sender or "",
        subject=row.subject or "",
        excerpt=row.excerpt or "",
        topic=row.topic or "",
        unread=bool(row.unread),
        has_files=bool(row.has_files),
        label_ids=frozenset(row.labels or ()),
    )


def list_by_customer(customer_id: UUID) -> list[ListedTopic]:
    """Return a customer's conversations, newest first. Raises CassandraUnavailable."""
    rows = BY_CUSTOMER.all(customer_id=customer_id)
    return [ListedTopic(row.conversation_id, row.subject or "") for row in rows]


def list_by_topic(topic_id: UUID, year: int = 0) -> list[ListedTopic]:
    """Return the conversations about an order, or about a product in a year, newest first. Raises CassandraUnavailable."""
    rows = BY_TOPIC.all(topic_id=topic_id, year=year)
    return [ListedTopic(row.conversation_id, row.subject or "") for row in rows]
