"""Writes of conversations and their messages.

A conversation's partition is the truth. Mailboxes, lists, mails and notifications follow from it by `follow_conversation`, which any
process may call. A pending row is written before a conversation changes, so that the worker calls it after a crash.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from cassandra.query import UNSET_VALUE, BoundStatement
from cassandra.util import min_uuid_from_time, uuid_from_time

from cassandra_db import (
    REFUSED_MEANS_DONE,
    CassandraUnavailable,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from cassandra_db.lost_answers import LostAnswerPolicy
from conversations import queries
from conversations.entities import Conversation, Customer, MailboxEntry, NewMessage, Topic
from conversations.errors import ConversationChanged, NoSuchConversation
from conversations.mails import queue_reply_mail
from conversations.operations.deletion import finish_deletion
from conversations.operations.entries import Seen, change_entries, take_turns
from conversations.operations.mailboxes import follow, is_after
from conversations.operations.pending import PENDING, note_conversation
from conversations.rules import MAX_MESSAGE_BYTES, MAX_MESSAGES, MAX_SUBJECT, SHOP_MAILBOX
from conversations.states import CUSTOMER, DELETED, SHOP, SPAM, WAITING_FOR_CUSTOMER, WAITING_FOR_US
from notifications.operations import announce

MAX_ATTEMPTS = 200
_TOLD_AT_ONCE = 50  # messages
_LONGEST_TELLING = 10.0  # seconds

INSERT_CLAIM = conditional_write(
    "M1",
    """INSERT INTO message_claims (source_id, conversation_id, message_id)
       VALUES (:source_id, :conversation_id, :message_id) IF NOT EXISTS""",
)
MOVE_CLAIM = conditional_write(
    "M1",
    """UPDATE message_claims SET conversation_id = :conversation_id, message_id = :message_id
       WHERE source_id = :source_id IF message_id = :seen""",
)
INSERT_HEAD = conditional_write(
    "M1",
    """INSERT INTO conversations (conversation_id, customer_id, customer_email, customer_name, is_member, subject, topic, topic_id,
       state, waiting_since, assignee_id, message_count, version, change_id, follows_id, last_message_id, last_customer_id,
       last_shop_id)
       VALUES (:conversation_id, :customer_id, :customer_email, :customer_name, :is_member, :subject, :topic, :topic_id,
       :state, :waiting_since, :assignee_id, :message_count, 1, :change_id, :follows_id, :last_message_id, :last_customer_id,
       :last_shop_id) IF NOT EXISTS""",
)
INSERT_MESSAGE = conditional_write(
    "M1",
    """INSERT INTO conversations (conversation_id, message_id, kind, author_id, sender_name, sender_email, is_verified,
       recipients, body, quoted, mail_message_id, attachments)
       VALUES (:conversation_id, :message_id, :kind, :author_id, :sender_name, :sender_email, :is_verified,
       :recipients, :body, :quoted, :mail_message_id, :attachments) IF NOT EXISTS""",
)
# Each message is at least a millisecond later than the newest one before it.
COUNT_MESSAGE = conditional_write(
    "M1",
    """UPDATE conversations SET message_count = message_count + 1, last_message_id = :message_id,
       last_customer_id = :last_customer_id, last_shop_id = :last_shop_id, state = :state, waiting_since = :waiting_since,
       version = version + :step, change_id = :change_id
       WHERE conversation_id = :conversation_id
       IF state = :seen AND last_message_id < :floor AND message_count < :most""",
)
CHANGE_HEAD = conditional_write(
    "M1",
    """UPDATE conversations SET state = :state, waiting_since = :waiting_since, assignee_id = :assignee_id, version = :version,
       change_id = :change_id
       WHERE conversation_id = :conversation_id IF version = :seen AND change_id = :seen_change AND state != 'deleted'""",
)
CONTINUE = conditional_write(
    "M1",
    """UPDATE conversations SET continued_id = :continued_id, version = version + 1, change_id = :continued_id
       WHERE conversation_id = :conversation_id IF continued_id = null AND message_count >= :most""",
)
CLOSE = conditional_write(
    "M1",
    """UPDATE conversations SET state = 'done', waiting_since = null, version = version + 1, change_id = :conversation_id
       WHERE conversation_id = :conversation_id IF change_id = :continued_id AND state != 'deleted'""",
)
# A plain write to a column that no condition reads. The timestamp is the message's, so the later one wins.
NOTE_TOLD = write(
    "M1",
    """UPDATE conversations USING TIMESTAMP :at SET told_until = :told_until
       WHERE conversation_id = :conversation_id""",
)
INSERT_BY_CUSTOMER = write(
    "M7",
    """INSERT INTO conversations_by_customer (customer_id, conversation_id, subject)
       VALUES (:customer_id, :conversation_id, :subject)""",
)
INSERT_BY_TOPIC = write(
    "M7",
    """INSERT INTO conversations_by_topic (topic_id, year, conversation_id, subject)
       VALUES (:topic_id, :year, :conversation_id, :subject)""",
)


@dataclass(frozen=True)
class Claim:
    """The message that a form or a mail becomes."""

    source_id: UUID
    conversation_id: UUID
    message_id: UUID


def start_conversation(
    customer: Customer, subject: str, topic: Topic, first: NewMessage, now: datetime
) -> UUID:
    """Start a conversation with its first message; return its id. A repeat with the same `first.source_id` returns the same id.

    Raises CassandraUnavailable.
    """
    claim = _claim(
        Claim(first.source_id, uuid_from_time(now), uuid_from_time(truncate_to_milliseconds(now)))
    )
    waits = first.kind != SHOP
    started = Conversation(
        conversation_id=claim.conversation_id,
        customer=customer,
        subject=subject,
        topic=topic,
        state=WAITING_FOR_US if waits else WAITING_FOR_CUSTOMER,
        waiting_since=queries.get_moment(claim.message_id) if waits else None,
        assignee_id=None,
        message_count=1,
        version=1,
    )
    pending = note_conversation(claim.conversation_id)
    head = _bind_head(started, claim.message_id, first)
    apply_batch(head, _bind_message(claim, first), if_lost=REFUSED_MEANS_DONE)
    follow_conversation(claim.conversation_id)
    PENDING.clear(pending)
    return claim.conversation_id


def send_message(conversation_id: UUID, new: NewMessage, now: datetime) -> UUID:
    """Store a message in a conversation; return its id. A repeat with the same `new.source_id` returns the same id.

    A customer's message makes the conversation wait for the shop, unless it is spam; the shop's makes it wait for the customer; a
    note changes nothing. A full conversation is continued in a new one (`Conversation.continued_id`), which gets the message.
    Raises NoSuchConversation, CassandraUnavailable.
    """
    claim = _send(conversation_id, new, now)
    while claim.conversation_id != conversation_id:
        conversation_id = claim.conversation_id
        claim = _send(conversation_id, new, now)
    return claim.message_id


def _send(conversation_id: UUID, new: NewMessage, now: datetime) -> Claim:
    """Store a message if its claim is about this conversation. Return the claim, which may be about its continuation."""
    pending, claim = note_conversation(conversation_id), None
    for _ in retry_attempts(MAX_ATTEMPTS):
        with take_turns(conversation_id):
            row = _get_head(conversation_id)
            next_id = _find_next_id(row, now)
            claim = claim or _claim(Claim(new.source_id, conversation_id, next_id))
            if claim.conversation_id != conversation_id:
                break
            is_full = row.message_count >= MAX_MESSAGES
            if not is_full and is_after(_floor(claim.message_id), row.last_message_id):
                if _add_message(row, claim, new):
                    break
            elif queries.get_message(conversation_id, claim.message_id):
                break  # a repeat, or a lost answer
            elif is_full:
                if continued_id := _continue(row, now):
                    claim = _move_claim(claim, continued_id, next_id)
                    break
            else:  # a newer message was faster, so the claimed id can no longer be stored
                claim = _move_claim(claim, conversation_id, next_id)
    else:
        raise CassandraUnavailable(f"conversation {conversation_id} keeps changing")
    follow_conversation(conversation_id)
    PENDING.clear(pending)
    return claim


def _get_head(conversation_id: UUID) -> Row:
    row = queries.HEAD.one(conversation_id=conversation_id)
    if row is None or row.state in (None, DELETED):
        raise NoSuchConversation
    return row


def _floor(message_id: UUID) -> Any:
    """Return the smallest id of the same millisecond."""
    return min_uuid_from_time(queries.get_moment(message_id))


def _find_next_id(row: Row, now: datetime) -> Any:
    after_last = queries.get_moment(row.last_message_id) + timedelta(milliseconds=1)
    return uuid_from_time(max(truncate_to_milliseconds(now), after_last))


def _claim(claim: Claim) -> Claim:
    """Return what a form or mail became: this message, unless it was sent before."""
    outcome = INSERT_CLAIM.apply(
        if_lost=applied_if(lambda row: row.message_id == claim.message_id), **vars(claim)
    )
    found = None if outcome else outcome.current
    return Claim(claim.source_id, found.conversation_id, found.message_id) if found else claim


def _move_claim(claim: Claim, conversation_id: UUID, message_id: UUID) -> Claim:
    """Return the message that a form or mail becomes instead of one that can no longer be stored."""
    moved = Claim(claim.source_id, conversation_id, message_id)
    MOVE_CLAIM.apply(if_lost=REFUSED_MEANS_DONE, **vars(moved), seen=claim.message_id)
    row = queries.CLAIM.one(source_id=claim.source_id)
    return Claim(claim.source_id, row.conversation_id, row.message_id) if row else moved


def _add_message(row: Row, claim: Claim, new: NewMessage) -> bool:
    """Add a message to a conversation with this head; return whether it is stored."""
    state, waiting_since = row.state, row.waiting_since
    if new.kind == CUSTOMER and state not in (SPAM, WAITING_FOR_US):
        state, waiting_since = WAITING_FOR_US, queries.get_moment(claim.message_id)
    elif new.kind == SHOP and state != WAITING_FOR_CUSTOMER:
        state, waiting_since = WAITING_FOR_CUSTOMER, None
    changes = state != row.state
    head = COUNT_MESSAGE.bind(
        conversation_id=row.conversation_id,
        message_id=claim.message_id,
        last_customer_id=claim.message_id if new.kind == CUSTOMER else UNSET_VALUE,
        last_shop_id=claim.message_id if new.kind == SHOP else UNSET_VALUE,
        state=state if changes else UNSET_VALUE,
        waiting_since=waiting_since if changes else UNSET_VALUE,
        step=int(changes),
        change_id=new.source_id if changes else UNSET_VALUE,
        seen=row.state,
        floor=_floor(claim.message_id),
        most=MAX_MESSAGES,
    )
    outcome = apply_batch(head, _bind_message(claim, new), if_lost=_stored_if(claim))
    return outcome.applied or any(map(_stored_if(claim).has_applied, outcome.rows))


def _stored_if(claim: Claim) -> LostAnswerPolicy:
    return applied_if(lambda row: getattr(row, "message_id", None) == claim.message_id)


def _bind_message(claim: Claim, new: NewMessage) -> BoundStatement:
    room = MAX_MESSAGE_BYTES - len(new.body.encode())
    return INSERT_MESSAGE.bind(
        conversation_id=claim.conversation_id,
        message_id=claim.message_id,
        kind=new.kind,
        author_id=new.sender.author_id,
        sender_name=new.sender.name,
        sender_email=new.sender.email,
        is_verified=new.sender.is_verified,
        recipients=list(new.recipients),
        body=new.body,
        quoted=new.quoted.encode()[: max(room, 0)].decode(errors="ignore"),
        mail_message_id=new.mail_message_id,
        attachments=queries.dump_attachments(new.attachments),
    )


def _bind_head(
    started: Conversation, last_id: UUID, first: NewMessage | None = None
) -> BoundStatement:
    kind = first.kind if first else ""
    return INSERT_HEAD.bind(
        conversation_id=started.conversation_id,
        customer_id=started.customer.customer_id,
        customer_email=started.customer.email,
        customer_name=started.customer.name,
        is_member=started.customer.is_member,
        subject=started.subject[:MAX_SUBJECT],
        topic=started.topic.kind,
        topic_id=started.topic.topic_id,
        state=started.state,
        waiting_since=started.waiting_since,
        assignee_id=started.assignee_id,
        message_count=started.message_count,
        change_id=first.source_id if first else started.conversation_id,
        follows_id=started.follows_id,
        last_message_id=last_id,
        last_customer_id=last_id if kind == CUSTOMER else None,
        last_shop_id=last_id if kind == SHOP else None,
    )


def _continue(row: Row, now: datetime) -> UUID | None:
    """Return the id of the conversation that continues a full one, which becomes done; None if an erasure has made room."""
    CONTINUE.apply(
        if_lost=REFUSED_MEANS_DONE,
        conversation_id=row.conversation_id,
        continued_id=uuid_from_time(now),
        most=MAX_MESSAGES,
    )
    return _start_continuation(row.conversation_id)


def _start_continuation(conversation_id: UUID) -> UUID | None:
    """Give a full conversation's state and assignee to the one that continues it, and close it. A repeat changes nothing."""
    full = _get_head(conversation_id)
    if full.continued_id is None:
        return None
    if queries.HEAD.one(conversation_id=full.continued_id) is None:
        # Without a message it is followed by the worker.
        note_conversation(full.continued_id)
        following = replace(
            queries.head_from_row(full),
            conversation_id=full.continued_id,
            message_count=0,
            follows_id=conversation_id,
        )
        head = _bind_head(following, last_id=full.continued_id)
        apply_batch(head, if_lost=REFUSED_MEANS_DONE)
    if full.change_id == full.continued_id:
        CLOSE.apply(
            if_lost=REFUSED_MEANS_DONE,
            conversation_id=conversation_id,
            continued_id=full.continued_id,
        )
    return UUID(str(full.continued_id))


def set_state(
    conversation_id: UUID, state: str, *, seen: int, change_id: UUID, now: datetime
) -> None:
    """Set a conversation's state, if its version is `seen`. A repeat with the same `change_id` changes nothing.

    Raises ConversationChanged, NoSuchConversation, CassandraUnavailable.
    """
    _change_head(conversation_id, seen, change_id, now, state=state)


def assign(
    conversation_id: UUID, assignee_id: UUID | None, *, seen: int, change_id: UUID, now: datetime
) -> None:
    """Assign a conversation to a staff member, or to nobody, if its version is `seen`. A repeat changes nothing.

    Raises ConversationChanged, NoSuchConversation, CassandraUnavailable.
    """
    _change_head(conversation_id, seen, change_id, now, assignee_id=assignee_id)


def _change_head(
    conversation_id: UUID, seen: int, change_id: UUID, now: datetime, **changes: Any
) -> None:
    row = _get_head(conversation_id)
    pending = note_conversation(conversation_id)
    if queries.head_from_row(row).is_continuing:
        follow_conversation(conversation_id)
        row = _get_head(conversation_id)
    if row.change_id != change_id:
        state = changes.get("state", row.state)
        since = row.waiting_since if state == row.state else truncate_to_milliseconds(now)
        applied = row.version == seen and CHANGE_HEAD.apply(
            if_lost=applied_if(lambda found: found.change_id == change_id),
            conversation_id=conversation_id,
            state=state,
            waiting_since=since if state == WAITING_FOR_US else None,
            assignee_id=changes.get("assignee_id", row.assignee_id),
            version=seen + 1,
            change_id=change_id,
            seen=seen,
            seen_change=row.change_id,
        )
        if not applied and _get_head(conversation_id).change_id != change_id:
            PENDING.clear(pending)
            raise ConversationChanged
    follow_conversation(conversation_id)
    PENDING.clear(pending)


def follow_conversation(conversation_id: UUID) -> None:
    """Bring mailboxes, lists, mails and notifications up to date with a conversation. A second call changes nothing.

    Raises CassandraUnavailable.
    """
    found: list[Conversation] = []

    def follow_in_shop(seen: Seen) -> MailboxEntry | None:
        if seen.head:
            found.append(seen.head.conversation)
            if seen.entry is None:
                list_conversation(seen.head.conversation)
        return follow(seen)

    change_entries(SHOP_MAILBOX, [conversation_id], follow_in_shop, is_noted=True)
    if not found:
        finish_deletion(conversation_id)
        return
    conversation = found[-1]
    if conversation.is_continuing:
        # A process has died before it closed the conversation.
        _start_continuation(conversation_id)
        follow_conversation(conversation_id)
        return
    if conversation.customer.is_member:
        owner_id = conversation.customer.customer_id
        change_entries(owner_id, [conversation_id], follow, is_noted=True)
    _tell_customer(conversation)


def list_conversation(conversation: Conversation) -> None:
    """Write a conversation's rows in the lists of its customer and of what it is about."""
    row = {"conversation_id": conversation.conversation_id, "subject": conversation.subject}
    INSERT_BY_CUSTOMER.run(customer_id=conversation.customer.customer_id, **row)
    topic = conversation.topic
    if topic.topic_id:
        INSERT_BY_TOPIC.run(
            topic_id=topic.topic_id, year=queries.find_topic_year(conversation), **row
        )


def _tell_customer(conversation: Conversation) -> None:
    """Mail and announce the shop's messages about which the customer was not told yet."""
    if not is_after(conversation.last_shop_id, conversation.told_until):
        return
    conversation_id, now = conversation.conversation_id, current_time()
    # Turns of their own: nobody who sends a message waits for the mails. Most of those who wait find that all is told.
    with take_turns(uuid5(conversation_id, "told"), _LONGEST_TELLING):
        current = queries.get_conversation(conversation_id) or conversation
        last, told = current.last_shop_id, current.told_until
        while is_after(last, told):
            rows = queries.MESSAGES_AFTER.all(
                conversation_id=conversation_id,
                after=told or min_uuid_from_time(queries.get_moment(conversation_id)),
                most=_TOLD_AT_ONCE,
            )
            if not rows:
                return
            for message in queries.messages_from_rows(rows):
                if message.kind == SHOP:
                    queue_reply_mail(current, message, now)
                    if current.customer.is_member:
                        announce("conversations", conversation_id, message.message_id.hex)
            told = rows[-1].message_id
            at = int(queries.get_moment(told).timestamp() * 1_000_000)
            NOTE_TOLD.run(conversation_id=conversation_id, told_until=told, at=at)
