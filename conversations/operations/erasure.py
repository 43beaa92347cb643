"""Erases a customer from conversations: the customer's messages and files go, the shop's replies stay without the name.

The row in the customer's list goes last, so that an interrupted erasure finds the conversation again.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID, uuid4, uuid5

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    apply_batch,
    conditional_write,
    retry_attempts,
)
from conversations import queries
from conversations.entities import Conversation, Message
from conversations.operations import deletion
from conversations.operations.mailboxes import renew_entry
from conversations.operations.messages import follow_conversation, list_conversation
from conversations.operations.pending import PENDING, note_conversation
from conversations.rules import SHOP_MAILBOX

_ERASED = "…"
_AT_ONCE = 50
MAX_ATTEMPTS = 20

COUNT_LESS = conditional_write(
    "M1",
    """UPDATE conversations SET message_count = message_count + :count WHERE conversation_id = :conversation_id
       IF message_count > 0""",
)
DELETE_MESSAGE = conditional_write(
    "M1",
    """DELETE FROM conversations WHERE conversation_id = :conversation_id AND message_id = :message_id
       IF EXISTS""",
)
ERASE_NAME = conditional_write(
    "M1",
    """UPDATE conversations SET body = :body, recipients = null
       WHERE conversation_id = :conversation_id AND message_id = :message_id IF EXISTS""",
)
ERASE_HEAD = conditional_write(
    "M1",
    """UPDATE conversations SET customer_id = :customer_id, customer_email = '', customer_name = '', is_member = false,
       subject = '', state = 'done', waiting_since = null, last_customer_id = null, version = :version, change_id = :change_id
       WHERE conversation_id = :conversation_id IF version = :seen""",
)


def erase_customer(customer_ids: Iterable[UUID], names: Sequence[str]) -> None:
    """Erase a customer from all conversations under these ids; `names` are the name and addresses. A repeat changes nothing.

    Raises CassandraUnavailable.
    """
    for customer_id in customer_ids:
        for listed in queries.list_by_customer(customer_id):
            pending = note_conversation(listed.conversation_id)
            _erase_conversation(listed.conversation_id, names)
            ids = {"customer_id": customer_id, "conversation_id": listed.conversation_id}
            deletion.DELETE_BY_CUSTOMER.run(**ids)
            PENDING.clear(pending)


def _erase_conversation(conversation_id: UUID, names: Sequence[str]) -> None:
    has_reply = False
    own: list[Message] = []
    for message in deletion.iterate_messages(conversation_id):
        if message.is_from_customer:
            own.append(message)
            continue
        has_reply = has_reply or not message.is_note
        _erase_names(conversation_id, message, names)
    conversation = queries.get_conversation(conversation_id)
    if conversation is None:
        return
    if not has_reply:
        deletion.delete_conversation(conversation_id)
        return
    deletion.delete_files(own)
    for start in range(0, len(own), _AT_ONCE):
        _delete_messages(conversation_id, own[start : start + _AT_ONCE])
    list_conversation(_erase_head(conversation))
    follow_conversation(conversation_id)
    # The names stand in the copies, too.
    renew_entry(SHOP_MAILBOX, conversation_id)


def _erase_names(conversation_id: UUID, message: Message, names: Sequence[str]) -> None:
    body = message.body
    for name in filter(None, names):
        body = body.replace(name, _ERASED)
    if body != message.body or message.recipients:
        ids = {"conversation_id": conversation_id, "message_id": message.message_id}
        ERASE_NAME.apply(if_lost=SEND_AGAIN, body=body, **ids)


def _delete_messages(conversation_id: UUID, messages: Sequence[Message]) -> None:
    """Delete messages, and count them off in the same batch."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        present = [
            each.message_id
            for each in messages
            if queries.get_message(conversation_id, each.message_id)
        ]
        ids = {"conversation_id": conversation_id}
        if not present or apply_batch(
            COUNT_LESS.bind(**ids, count=-len(present)),
            *(DELETE_MESSAGE.bind(**ids, message_id=each) for each in present),
            if_lost=SEND_AGAIN,
        ):
            return
    raise CassandraUnavailable(f"conversation {conversation_id} keeps changing")


def _erase_head(conversation: Conversation) -> Conversation:
    ids = {"conversation_id": conversation.conversation_id}
    customer_id = uuid5(conversation.conversation_id, "erased")
    for _ in retry_attempts(MAX_ATTEMPTS):
        if conversation.customer.customer_id == customer_id:
            return conversation
        seen = conversation.version
        change = {"customer_id": customer_id, "version": seen + 1, "change_id": uuid4()}
        ERASE_HEAD.apply(if_lost=SEND_AGAIN, **ids, **change, seen=seen)
        conversation = queries.get_conversation(conversation.conversation_id) or conversation
    raise CassandraUnavailable(f"conversation {conversation.conversation_id} keeps changing")
