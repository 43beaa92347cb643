"""The links to orders that we mail."""

from uuid import UUID

from django.core import signing

_SALT = "orders.track"


def track_token(order_id: UUID) -> str:
    """Return the token that opens an order's page for whoever has it; it cannot be made up."""
    return signing.dumps(order_id.hex, salt=_SALT)


def order_id_from_token(token: str) -> UUID | None:
    """Return the order that a token opens, or None if we have not made it."""
    try:
        return UUID(hex=signing.loads(token, salt=_SALT))
    except (signing.BadSignature, ValueError, TypeError):
        return None
