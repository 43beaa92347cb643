"""I44, I45, I46: conversations agree with their messages and lists, mailboxes with conversations, and copies under labels with mailboxes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

from accounts.queries import get_user
from cassandra_db import (
    SEND_AGAIN,
    Row,
    conditional_write,
    current_microseconds,
    current_time,
    read,
    scan,
)
from consistency.findings import Check, Scope, Violation, call, column_subjects
from conversations import queries
from conversations.entities import Conversation, Label
from conversations.operations import deletion, entries, mailboxes, messages
from conversations.operations.pending import EMPTIED, PENDING
from conversations.rules import SHOP_MAILBOX
from conversations.states import CUSTOMER, DELETED, SHOP, WAITING_FOR_US

# The worker finishes younger pending rows.
FINISH_DELAY = timedelta(minutes=20)
_PAGE = 500

CONVERSATIONS = scan(
    "I44",
    """SELECT DISTINCT conversation_id FROM conversations
       WHERE token(conversation_id) > :start AND token(conversation_id) <= :end""",
)
BY_CUSTOMER = scan(
    "I44",
    """SELECT customer_id, conversation_id FROM conversations_by_customer
       WHERE token(customer_id) > :start AND token(customer_id) <= :end""",
)
BY_TOPIC = scan(
    "I44",
    """SELECT topic_id, year, conversation_id FROM conversations_by_topic
       WHERE token(topic_id, year) > :start AND token(topic_id, year) <= :end""",
)
MAILBOXES = scan(
    "I45",
    "SELECT DISTINCT user_id FROM labels_by_user WHERE token(user_id) > :start AND token(user_id) <= :end",
)
ENTRIES = read(
    "I45",
    """SELECT key, labels, unread, version FROM labels_by_user
       WHERE user_id = :user_id AND kind = 'conversation' AND key > :after LIMIT :most""",
)
YEARS = scan(
    "I46",
    """SELECT DISTINCT user_id, label_id, year FROM conversations_by_label
       WHERE token(user_id, label_id, year) > :start AND token(user_id, label_id, year) <= :end""",
)
COPY = read(
    "I46",
    """SELECT sender, subject, excerpt, topic, unread, has_files, labels FROM conversations_by_label
       WHERE user_id = :user_id AND label_id = :label_id AND year = :year AND last_at = :last_at
       AND conversation_id = :conversation_id""",
)
SET_HEAD = conditional_write(
    "I44",
    """UPDATE conversations SET message_count = :message_count, last_customer_id = :last_customer_id,
       last_shop_id = :last_shop_id WHERE conversation_id = :conversation_id
       IF message_count = :seen AND last_message_id = :last_message_id""",
)
SET_COUNTS = conditional_write(
    "I45",
    """UPDATE labels_by_user SET count = :count, unread_count = :unread_count
       WHERE user_id = :user_id AND kind = 'label' AND key = :key
       IF label_id = :label_id AND count = :seen AND unread_count = :seen_unread""",
)


def _is_pending(*conversation_ids: UUID) -> bool:
    now = current_time()
    rows = PENDING.list_between(now - FINISH_DELAY, now)
    return any(row.conversation_id in conversation_ids for row in rows)


def _check_conversation(conversation_id: UUID) -> Iterator[Violation]:
    found = list(_find_faults(conversation_id))
    if found and not _is_pending(conversation_id):
        yield from found


def _find_faults(conversation_id: UUID) -> Iterator[Violation]:
    row = queries.HEAD.one(conversation_id=conversation_id)
    fault = partial(Violation, "I44", f"conversation {conversation_id}")
    follow = call(messages.follow_conversation, conversation_id)
    if row is None or row.state is None:
        if row is not None:
            drop = call(deletion.DELETE_ROWS.run, conversation_id=conversation_id)
            yield fault("it has messages and no head", fix=drop)
        return
    conversation = queries.head_from_row(row)
    if conversation.state == DELETED:
        yield fault("its deletion is unfinished", fix=follow)
        return
    yield from _check_head(row, fault)
    ids = {each.conversation_id for each in queries.list_by_customer(row.customer_id)}
    if row.topic_id and conversation_id in ids:
        year = queries.find_topic_year(conversation)
        ids = {each.conversation_id for each in queries.list_by_topic(row.topic_id, year)}
    if conversation_id not in ids:
        fix = call(messages.list_conversation, conversation)
        yield fault("it is missing in the list of its customer or topic", fix=fix)
    owners = [SHOP_MAILBOX]
    if conversation.customer.is_member and get_user(row.customer_id):
        owners.append(row.customer_id)
    for user_id in owners:
        yield from _check_entry(user_id, conversation)


def _check_head(row: Row, fault: partial[Violation]) -> Iterator[Violation]:
    newest: dict[str, UUID] = {}
    count, latest = 0, row.last_message_id
    for message in deletion.iterate_messages(row.conversation_id):
        count += 1
        newest.setdefault(message.kind, message.message_id)
        latest = max(latest, message.message_id, key=lambda each: each.time)
    wanted = count, newest.get(CUSTOMER), newest.get(SHOP)
    seen = row.message_count, row.last_customer_id, row.last_shop_id
    if seen != wanted:
        fix = call(
            SET_HEAD.apply,
            if_lost=SEND_AGAIN,
            conversation_id=row.conversation_id,
            message_count=count,
            last_customer_id=wanted[1],
            last_shop_id=wanted[2],
            seen=row.message_count,
            last_message_id=row.last_message_id,
        )
        yield fault("its numbers are not those of its messages", f"{seen}, not {wanted}", fix)
    if latest != row.last_message_id or (row.state == WAITING_FOR_US) != bool(row.waiting_since):
        yield fault("its state and its newest message do not fit", row.state)


def _check_entry(user_id: UUID, conversation: Conversation) -> Iterator[Violation]:
    conversation_id = conversation.conversation_id
    subject = f"mailbox {user_id} conversation {conversation_id}"
    follow = call(messages.follow_conversation, conversation_id)
    seen = entries.read_entry(user_id, conversation_id)
    mailbox, head, entry = seen.mailbox, seen.head, seen.entry
    if entry is None:
        yield Violation("I45", subject, "it is missing in the mailbox", fix=follow)
        return
    kept = mailboxes.without_gone_labels(mailbox, entry)
    if mailboxes.follow(replace(seen, entry=kept)) != kept:
        yield Violation("I45", subject, "its labels, place or mark are stale", fix=follow)
        return
    renew = call(mailboxes.renew_entry, user_id, conversation_id)
    if entry.former_places and not entry.is_copied:
        yield Violation("I46", subject, "its former copies may still be there", fix=renew)
    for label_id, last_at in kept.places if head else ():
        copy = COPY.one(
            user_id=user_id,
            label_id=label_id,
            year=last_at.year,
            last_at=last_at,
            conversation_id=conversation_id,
        )
        right = entries.copy_columns(user_id, head, kept) if head else {}
        stored = copy._asdict() if copy else {}
        if copy:
            stored["labels"] = {each for each in copy.labels or () if each in mailbox.labels}
        if stored != right:
            label = mailbox.labels[label_id].key
            detail = f"{stored}, not {right}"
            yield Violation("I46", f"{subject} label {label}", "its copy is wrong", detail, renew)


def _check_mailbox(user_id: UUID) -> Iterator[Violation]:
    if user_id != SHOP_MAILBOX and get_user(user_id) is None:
        first = queries.LABELS.all(user_id=user_id) or ENTRIES.all(
            user_id=user_id, after="", most=1
        )
        if first:
            fault = "a mailbox of a member who is gone is kept"
            fix = call(deletion.delete_mailbox, user_id)
            yield Violation("I45", f"mailbox {user_id}", fault, fix=fix)
        return
    before = queries.get_labels(user_id)
    counts, unread, after = Counter[UUID](), Counter[UUID](), ""
    while rows := ENTRIES.all(user_id=user_id, after=after, most=_PAGE):
        after = rows[-1].key
        for row in rows:
            counts.update(row.labels or ())
            unread.update(row.labels or () if row.unread else ())
        yield from _check_owners(user_id, rows)
    now = queries.get_labels(user_id)
    for label_id, label in now.items():
        seen, wanted = (label.count, label.unread_count), (counts[label_id], unread[label_id])
        # What has changed meanwhile cannot be compared.
        if seen != wanted and before.get(label_id) == label:
            fix = call(_set_counts, user_id, label, wanted)
            fault = "its numbers are not those of the mailbox's rows"
            detail = f"{seen}, not {wanted}"
            yield Violation("I45", f"mailbox {user_id} label {label.key}", fault, detail, fix)


def _check_owners(user_id: UUID, rows: list[Row]) -> Iterator[Violation]:
    """Yield the rows of a mailbox whose conversation is gone, or another's."""
    for row in rows:
        conversation_id = UUID(row.key)
        owner_id = _get_owner(conversation_id)
        is_wrong = owner_id is None or user_id not in (SHOP_MAILBOX, owner_id)
        if is_wrong and row.version is not None and not _is_pending(conversation_id):
            subject = f"mailbox {user_id} conversation {conversation_id}"
            fix = call(entries.drop_entry, user_id, conversation_id)
            yield Violation("I45", subject, "its conversation is gone", fix=fix)


def _set_counts(user_id: UUID, label: Label, counts: tuple[int, int]) -> None:
    SET_COUNTS.apply(
        if_lost=SEND_AGAIN,
        user_id=user_id,
        key=label.key,
        label_id=label.label_id,
        count=counts[0],
        unread_count=counts[1],
        seen=label.count,
        seen_unread=label.unread_count,
    )


def _iterate_years(scope: Scope | None) -> Iterator[tuple[UUID, UUID, int]]:
    if scope is None:
        for row in YEARS.iterate_table():
            yield row.user_id, row.label_id, row.year
        return
    for user_id in sorted(scope.users):
        for label in queries.get_labels(user_id).values():
            for year in range(label.first_year, current_time().year + 1):
                yield user_id, label.label_id, year


def _check_year(partition: tuple[UUID, UUID, int]) -> Iterator[Violation]:
    user_id, label_id, year = partition
    subject = f"mailbox {user_id} label {label_id}"
    if label_id not in queries.get_labels(user_id):
        now = current_time()
        if any(row.label_id == label_id for row in EMPTIED.list_between(now - FINISH_DELAY, now)):
            return
        fix = call(deletion.delete_year, user_id, label_id, year)
        yield Violation("I46", f"{subject} year {year}", "a label that is gone has copies", fix=fix)
        return
    last_at, conversation_id = queries.START, UUID(int=0x1000 << 64)
    key = {"user_id": user_id, "label_id": label_id, "year": year, "most": 100}
    while rows := queries.OLDEST_LISTED.all(
        **key, last_at=last_at, conversation_id=conversation_id
    ):
        last_at, conversation_id = rows[-1].last_at, rows[-1].conversation_id
        found = queries.get_mailbox(user_id, [row.conversation_id for row in rows]).entries
        for row in rows:
            entry = found.get(row.conversation_id)
            if (entry is None or (label_id, row.last_at) not in entry.places) and not _is_pending(
                row.conversation_id
            ):
                fix = call(
                    entries.DELETE_COPY.run,
                    user_id=user_id,
                    label_id=label_id,
                    year=year,
                    last_at=row.last_at,
                    conversation_id=row.conversation_id,
                    version=current_microseconds(),
                )
                what = f"{subject} conversation {row.conversation_id}"
                yield Violation("I46", what, "a copy has no row in the mailbox", fix=fix)


def _iterate_listed(scope: Scope | None) -> Iterator[Row]:
    if scope is None:
        yield from BY_CUSTOMER.iterate_table()
        yield from BY_TOPIC.iterate_table()


def _check_listed(row: Row) -> Iterator[Violation]:
    if _get_owner(row.conversation_id) is None and not _is_pending(row.conversation_id):
        statement = (
            deletion.DELETE_BY_TOPIC if hasattr(row, "topic_id") else deletion.DELETE_BY_CUSTOMER
        )
        fix = call(statement.run, **row._asdict())
        subject = f"conversation {row.conversation_id}"
        yield Violation("I44", subject, "it is gone, and still in a list", fix=fix)


def _get_owner(conversation_id: UUID) -> UUID | None:
    row = queries.HEAD.one(conversation_id=conversation_id)
    return row.customer_id if row and row.state else None


CHECKS = (
    Check(
        "conversations",
        ("I44", "I45", "I46"),
        column_subjects(CONVERSATIONS, "conversation_id", "conversations"),
        _check_conversation,
    ),
    Check("lists of conversations", ("I44",), _iterate_listed, _check_listed),
    Check(
        "mailboxes of conversations",
        ("I45",),
        column_subjects(MAILBOXES, "user_id", "users"),
        _check_mailbox,
    ),
    Check("copies of conversations", ("I46",), _iterate_years, _check_year),
)
