"""A guest's first message. The staff see it once the guest has confirmed the address by the mailed link."""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.urls import reverse

from cassandra_db import read, write
from conversations.entities import Customer, NewMessage, Sender, Topic
from conversations.errors import SenderBlocked
from conversations.guests import guest_id
from conversations.operations.blocked_senders import is_blocked
from conversations.operations.messages import start_conversation
from conversations.spam import is_spam, mark_as_spam
from conversations.states import CUSTOMER
from conversations.tokens import contact_token
from mail.operations import queue_mail
from web.encryption import DecryptionError, decrypt, encrypt

_PURPOSE = "conversations.contact_requests"

REQUEST = read(
    "M8", "SELECT email, name, content FROM contact_requests WHERE request_id = :request_id"
)
INSERT_REQUEST = write(
    "M8",
    """INSERT INTO contact_requests (request_id, email, name, content)
       VALUES (:request_id, :email, :name, :content)""",
)
NOTE_CONVERSATION = write(
    "M8",
    "UPDATE contact_requests SET conversation_id = :conversation_id WHERE request_id = :request_id",
)


@dataclass(frozen=True)
class ContactRequest:
    """A guest's first message, before or after the address was confirmed."""

    email: str
    name: str
    subject: str
    topic: Topic
    body: str


def note_contact_request(
    request_id: UUID, email: str, name: str, subject: str, topic: Topic, body: str, now: datetime
) -> None:
    """Store a guest's message for two days, and mail the address the link that confirms it, once. Raises CassandraUnavailable."""
    topic_id = topic.topic_id.hex if topic.topic_id else ""
    content = json.dumps([subject, topic.kind, topic_id, body])
    INSERT_REQUEST.run(
        request_id=request_id,
        email=email,
        name=name,
        content=encrypt(content, _PURPOSE, request_id.hex),
    )
    address = reverse("conversations:confirm", args=[contact_token(request_id)])
    context = {"url": f"{settings.PUBLIC_URL}{address}"}
    queue_mail(request_id, "confirm", email, "contact_confirm", context, now)


def get_contact_request(request_id: UUID) -> ContactRequest | None:
    """Return a guest's message, or None if it was never stored or has expired. Raises CassandraUnavailable."""
    row = REQUEST.one(request_id=request_id)
    if row is None or row.content is None:
        return None
    try:
        content, _is_old = decrypt(row.content, _PURPOSE, request_id.hex)
    except DecryptionError:
        return None
    subject, kind, topic_id, body = json.loads(content)
    topic = Topic(kind, UUID(hex=topic_id) if topic_id else None)
    return ContactRequest(row.email, row.name, subject, topic, body)


def confirm_contact_request(request_id: UUID, now: datetime) -> UUID | None:
    """Start the conversation of a confirmed request; return its id, or None if the request has expired. A repeat changes nothing.

    Raises SenderBlocked, CassandraUnavailable.
    """
    found = get_contact_request(request_id)
    if found is None:
        return None
    if is_blocked(found.email):
        raise SenderBlocked
    customer = Customer(guest_id(found.email), found.email, found.name, is_member=False)
    first = NewMessage(request_id, CUSTOMER, Sender(None, found.name), found.body)
    conversation_id = start_conversation(customer, found.subject, found.topic, first, now)
    if is_spam(f"{found.subject}\n{found.body}"):
        mark_as_spam(conversation_id, request_id, now)
    NOTE_CONVERSATION.run(request_id=request_id, conversation_id=conversation_id)
    return conversation_id
