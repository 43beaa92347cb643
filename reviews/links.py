"""The links in the mails that ask for a review."""

from uuid import UUID

from django.conf import settings
from django.core import signing
from django.urls import reverse

from web.encryption import DecryptionError, decrypt_token, encrypt_token

_SALT = "reviews.guest"
_STOP = "reviews.stop"


def guest_token(order_id: UUID) -> str:
    """Return the signed token of an order, with which the reader of a guest's mails can review its products."""
    return signing.dumps(order_id.hex, salt=_SALT)


def guest_url(order_id: UUID, slug: str) -> str:
    """Return the URL at which a guest reviews a product of an order."""
    address = reverse("reviews:write_as_guest", args=[guest_token(order_id), slug])
    return f"{settings.PUBLIC_URL}{address}"


def order_id_from_guest_token(token: str) -> UUID | None:
    """Return the order's id from a guest's token; None if the token is forged or older than ORDER_LINK_DAYS."""
    try:
        return UUID(hex=signing.loads(token, salt=_SALT, max_age=settings.ORDER_LINK_SECONDS))
    except (signing.BadSignature, ValueError, TypeError):
        return None


def stop_token(email: str) -> str:
    """Return the encrypted token that ends review requests to an address. It never expires."""
    return encrypt_token([email], _STOP)


def parse_stop_token(token: str) -> str | None:
    """Return the e-mail address from a token of `stop_token`; None if the token is forged."""
    try:
        (email,) = decrypt_token(token, _STOP)
    except DecryptionError:
        return None
    return email
