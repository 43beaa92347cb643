"""The signed tokens in the links that the shop mails to guests."""

from uuid import UUID

from django.conf import settings
from django.core import signing

_CONVERSATION, _CONTACT = "conversations.guest", "conversations.contact"
# As long as a contact request is stored.
CONTACT_LINK_SECONDS = 2 * 24 * 3600


def conversation_token(conversation_id: UUID) -> str:
    """Return the token with which the reader of a guest's mails reads and answers a conversation, for ORDER_LINK_DAYS."""
    return signing.dumps(conversation_id.hex, salt=_CONVERSATION)


def conversation_id_from_token(token: str) -> UUID | None:
    """Return the conversation's id; None if the token is forged or too old."""
    return _parse(token, _CONVERSATION, settings.ORDER_LINK_SECONDS)


def contact_token(request_id: UUID) -> str:
    """Return the token that confirms the address of a contact request."""
    return signing.dumps(request_id.hex, salt=_CONTACT)


def request_id_from_token(token: str) -> UUID | None:
    """Return the contact request's id; None if the token is forged or older than CONTACT_LINK_SECONDS."""
    return _parse(token, _CONTACT, CONTACT_LINK_SECONDS)


def _parse(token: str, salt: str, max_age: int) -> UUID | None:
    try:
        return UUID(hex=signing.loads(token, salt=salt, max_age=max_age))
    except (signing.BadSignature, ValueError, TypeError, AttributeError):
        return None
