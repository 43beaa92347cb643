"""Undo tokens: signed texts that a page sends back. Undo needs no script and no session."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.core import signing
from moneyed import Money

from pricing.money import from_minor_units, to_minor_units

_SALT = "cart.undo"
SECONDS = 24 * 3600  # the time that a cart keeps its idempotency keys


@dataclass(frozen=True)
class RemovedLine:
    """A line that was removed from a cart. By its `idempotency_key` it is restored only once."""

    cart_id: UUID
    product_id: UUID
    variant_id: UUID
    name: str
    quantity: int
    price: Money
    added_at: datetime
    idempotency_key: UUID

    def token(self) -> str:
        """Return the line as a signed text."""
        seconds = self.added_at.timestamp()
        parts = [
            self.cart_id.hex,
            self.product_id.hex,
            self.variant_id.hex,
            self.name,
            self.quantity,
            to_minor_units(self.price),
            self.price.currency.code,
            seconds,
            self.idempotency_key.hex,
        ]
        return signing.dumps(parts, salt=_SALT, compress=True)


def parse_removed_line(token: str) -> RemovedLine | None:
    """Return the removed line in a token; None if the token is forged or older than a day."""
    try:
        cart, product, variant, name, quantity, price, currency, seconds, idempotency_key = (
            signing.loads(token, salt=_SALT, max_age=SECONDS)
        )
    except (signing.BadSignature, ValueError):
        return None
    added_at = datetime.fromtimestamp(seconds, UTC)
    return RemovedLine(
        UUID(hex=cart),
        UUID(hex=product),
        UUID(hex=variant),
        name,
        quantity,
        from_minor_units(price, currency),
        added_at,
        UUID(hex=idempotency_key),
    )


@dataclass(frozen=True)
class Undo:
    """A change of a whole cart that can be undone: `action` is delete, empty or merge.

    For a merge, `cart_id` is the source and `target_cart_id` the target.
    """

    action: str
    person_id: UUID
    cart_id: UUID
    name: str
    is_active: bool = False
    idempotency_key: UUID | None = None
    target_cart_id: UUID | None = None

    def token(self) -> str:
        """Return the undo as a signed text."""
        ids = [
            each.hex if each else ""
            for each in (self.person_id, self.cart_id, self.idempotency_key, self.target_cart_id)
        ]
        return signing.dumps(
            [self.action, self.name, self.is_active, *ids], salt=f"{_SALT}.cart", compress=True
        )


def parse_undo(token: str) -> Undo | None:
    """Return the undo in a token; None if the token is forged or older than a day."""
    try:
        action, name, is_active, *ids = signing.loads(token, salt=f"{_SALT}.cart", max_age=SECONDS)
    except (signing.BadSignature, ValueError):
        return None
    person, cart, idempotency_key, target = (UUID(hex=each) if each else None for each in ids)
    if not person or not cart:
        return None
    return Undo(action, person, cart, name, is_active, idempotency_key, target)
