"""What tests of conversations make and read."""

from uuid import UUID, uuid4

from accounts.models import User
from cassandra_db import current_time
from conversations import queries
from conversations.entities import Customer, Label, Mailbox, NewMessage, Sender, Topic
from conversations.operations.messages import start_conversation
from conversations.states import CUSTOMER


def new_message(
    body: str = "Hello", kind: str = CUSTOMER, source_id: UUID | None = None, name: str = "Ada"
) -> NewMessage:
    return NewMessage(source_id or uuid4(), kind, Sender(uuid4(), name), body)


def customer_of(user: User) -> Customer:
    return Customer(user.pk, user.email, "Ada", is_member=True)


def guest() -> Customer:
    return Customer(uuid4(), f"guest-{uuid4()}@example.com", "Grace", is_member=False)


def start(
    customer: Customer, subject: str = "Broken jug", topic: Topic | None = None, **message: object
) -> UUID:
    first = new_message(**message)  # type: ignore[arg-type]
    return start_conversation(customer, subject, topic or Topic(), first, current_time())


def label_keys(mailbox: Mailbox, conversation_id: UUID) -> set[str]:
    """Return the keys of the labels that a conversation has in a mailbox."""
    entry = mailbox.entries[conversation_id]
    return {mailbox.labels[each].key for each in entry.label_ids if each in mailbox.labels}


def keys_of(user_id: UUID, conversation_id: UUID) -> set[str]:
    return label_keys(queries.get_mailbox(user_id, [conversation_id]), conversation_id)


def get_label(user_id: UUID, key: str) -> Label:
    labels = queries.get_labels(user_id)
    return queries.find_label(user_id, labels, key)


def listed_ids(user_id: UUID, key: str) -> list[UUID]:
    """Return the conversations in all pages of a label."""
    label, found, token = get_label(user_id, key), [], ""
    while True:
        page = queries.label_page(queries.prefetch_label_page(user_id, label, token))
        found += [row.conversation_id for row in page.rows]
        token = page.next_token
        if not token:
            return found
