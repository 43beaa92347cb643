"""The links by which mails end the mails of a kind: encrypted tokens that never expire."""

from uuid import UUID

from django.conf import settings
from django.urls import reverse

from web.encryption import DecryptionError, decrypt_token, encrypt_token

_PURPOSE = "notifications.end"


def unsubscribe_url(user_id: UUID, *kinds: str) -> str:
    """Return the address of the page that ends a member's mails of these kinds."""
    token: str = encrypt_token([user_id.hex, *kinds], _PURPOSE)
    return f"{settings.PUBLIC_URL}{reverse('notifications:end_mails', args=[token])}"


def parse_unsubscribe_token(token: str) -> tuple[UUID, list[str]] | None:
    """Return the member and the kinds of a link; None if it is forged."""
    try:
        user_id, *kinds = decrypt_token(token, _PURPOSE)
    except DecryptionError:
        return None
    return UUID(hex=user_id), kinds
