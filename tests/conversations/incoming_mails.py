"""Mails that come in, as customers and others may send them."""

from email.message import EmailMessage
from io import BytesIO
from uuid import UUID, uuid4

from cassandra_db import current_time
from conversations import queries
from conversations.entities import Conversation, Message
from conversations.incoming import receive_mail
from mail.messages import reply_address
from tests.reads import existing


def make_mail(
    sender: str,
    text: str = "It is the handle.",
    files: tuple[tuple[str, bytes], ...] = (),
    **headers: str,
) -> bytes:
    """A mail with a Message-ID of its own. `List_Id="…"` is the header List-Id."""
    mail = EmailMessage()
    mail["From"], mail["Subject"] = sender, "Something else"
    mail["Message-ID"] = f"<{uuid4()}@mail.example>"
    for name, value in headers.items():
        del mail[name.replace("_", "-")]
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    for name, content in files:
        mail.add_attachment(content, "application", "octet-stream", filename=name)
    return mail.as_bytes().replace(b"\n", b"\r\n")


def take_in(raw: bytes, conversation_id: UUID) -> str:
    """Take in a mail that came to the address of a conversation."""
    return receive_mail(BytesIO(raw).read, reply_address(conversation_id), current_time())


def list_messages(conversation_id: UUID) -> list[Message]:
    return queries.messages_from_rows(queries.prefetch_messages(conversation_id).rows())


def get_head(conversation_id: UUID) -> Conversation:
    return existing(queries.get_conversation(conversation_id))
