"""The links to orders in mails."""

from uuid import UUID

from django.core import signing

_SALT = "orders.track"


def track_token(order_id: UUID) -> str:
    """Return the token that opens an order's page for anyone who has it; it cannot be forged."""
    return signing.dumps(order_id.hex, salt=_SALT)


def order_id_from_token(token: str) -> UUID | None:
    """Return the order that a token opens, or None if the token is not ours."""
    try:
        return UUID(hex=signing.loads(token, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError):
        return None
