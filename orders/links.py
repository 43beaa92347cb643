"""The links to orders in mails."""

from uuid import UUID

from django.conf import settings
from django.core import signing

_SALT = "orders.track"


def track_token(order_id: UUID) -> str:
    """Return the token that for some time opens a guest's order for anyone who has it; it cannot be forged."""
    return signing.dumps(order_id.hex, salt=_SALT)


def order_id_from_token(token: str) -> UUID | None:
    """Return the order that a token names, however old it is, or None if the token is not ours."""
    try:
        return UUID(hex=signing.loads(token, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError):
        return None


def is_expired(token: str) -> bool:
    """Return whether a token of ours is too old to open an order (ORDER_LINK_DAYS)."""
    try:
        signing.loads(token, salt=_SALT, max_age=settings.ORDER_LINK_SECONDS)
    except signing.SignatureExpired:
        return True
    return False
