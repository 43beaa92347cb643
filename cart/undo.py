"""A line that was taken out, as a signed text that the page can hand back: Undo works without a script and without a session."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.core import signing

_SALT = "cart.undo"
SECONDS = 24 * 3600  # as long as the cart remembers which operations it has seen


@dataclass(frozen=True)
class Removed:
    """A line as it was when it was taken out. `operation_id` makes putting it back count once."""

    cart_id: UUID
    product_id: UUID
    variant_id: UUID
    name: str
    quantity: int
    added_at: datetime
    operation_id: UUID

    def token(self) -> str:
        """Return the line as a signed text."""
        seconds = self.added_at.timestamp()
        parts = [
            self.cart_id.hex,
            self.product_id.hex,
            self.variant_id.hex,
            self.name,
            self.quantity,
            seconds,
            self.operation_id.hex,
        ]
        return signing.dumps(parts, salt=_SALT, compress=True)


def removed(token: str) -> Removed | None:
    """Return what was taken out, or None if the text is not ours or is older than a day."""
    try:
        cart, product, variant, name, quantity, seconds, operation = signing.loads(token, salt=_SALT, max_age=SECONDS)
    except (signing.BadSignature, ValueError):
        return None
    added_at = datetime.fromtimestamp(seconds, UTC)
    return Removed(UUID(hex=cart), UUID(hex=product), UUID(hex=variant), name, quantity, added_at, UUID(hex=operation))
