"""The customer ids of guests."""

from uuid import UUID

from mail.addresses import email_keys
from web.encryption import keyed_digests


def guest_id(email: str) -> UUID:
    """Return the customer id of a guest with this address."""
    return guest_ids(email)[0]


def guest_ids(email: str) -> list[UUID]:
    """Return the ids under which a mailbox's owner has conversations as a guest: today's id, then the ids of former keys.

    Former keys come from an old SECRET_KEY, or from the "xn--…" spelling of the address's domain.
    """
    return [
        UUID(hex=each[:32], version=4)
        for key in email_keys(email)
        for each in keyed_digests(key, "conversations.guest", "")
    ]
