"""The token that binds the charge to the lines and sums that a checkout page showed."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core import signing

from cart.entities import Cart
from pricing.money import to_minor_units

_SALT = "orders.checkout"


# How long a checkout page may stay open.
VALID_SECONDS = 24 * 3600


@dataclass(frozen=True)
class CheckoutSnapshot:
    """The contents of a checkout page: (variant, quantity, unit price) for each line, and the sums, in minor units.

    `promise` is the delivery method in words and the expected days. `review_fingerprint` covers everything on the review
    page, and `terms` is the version of the terms that it links; the pages of earlier steps have neither.
    """

    order_id: UUID
    owner_id: UUID
    lines: tuple[tuple[UUID, int, int], ...]
    delivery: int
    tax: int
    discount: int
    total: int
    currency: str
    review_fingerprint: str = ""
    promise: tuple[str, ...] = ()
    terms: int = 0

    def to_token(self) -> str:
        """Return the snapshot as a signed token, for the page's form."""
        lines = [[variant_id.hex, quantity, price] for variant_id, quantity, price in self.lines]
        sums = [self.delivery, self.tax, self.discount, self.total, self.currency]
        content = [
            self.order_id.hex,
            self.owner_id.hex,
            lines,
            sums,
            self.review_fingerprint,
            self.promise,
            self.terms,
        ]
        return signing.dumps(content, salt=_SALT, compress=True)

    @property
    def content(self) -> list[Any]:
        """The lines, sums and delivery promise of the snapshot; an order for the same purchase has the same content."""
        lines = [[str(variant_id), quantity, price] for variant_id, quantity, price in self.lines]
        sums = [self.delivery, self.tax, self.discount, self.total]
        return [str(self.owner_id), *lines, *sums, *self.promise]


def is_snapshot_token(token: str) -> bool:
    """Return whether this is the token of a checkout page of any owner, and not too old."""
    try:
        signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
    except signing.BadSignature:
        return False
    return True


def snapshot_from_token(token: str, owner_id: UUID | None) -> CheckoutSnapshot | None:
    """Return the snapshot in a page's token; None if the token is forged, too old or another owner's."""
    try:
        order_id, owner, lines, sums, review_fingerprint, promise, terms = signing.loads(
            token, salt=_SALT, max_age=VALID_SECONDS
        )
        delivery_cents, tax, discount, total, currency = sums
    except (signing.BadSignature, ValueError, TypeError):
        return None
    if owner_id is None or owner != owner_id.hex:
        return None
    quoted = tuple((UUID(hex=variant_id), quantity, price) for variant_id, quantity, price in lines)
    return CheckoutSnapshot(
        UUID(hex=order_id),
        owner_id,
        quoted,
        delivery_cents,
        tax,
        discount,
        total,
        currency,
        review_fingerprint,
        tuple(promise),
        terms,
    )


def find_other_owner_id(token: str, owner_id: UUID | None) -> UUID | None:
    """Return the id of the other owner whose cart a page showed. Return None for this owner's cart, or a forged or old token."""
    try:
        _order_id, owner, *_rest = signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
        found = UUID(hex=owner)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return None if found == owner_id else found


def cart_snapshot(cart: Cart, owner_id: UUID) -> CheckoutSnapshot:
    """Return a snapshot of the cart's lines, as the cart's page showed them."""
    lines = tuple(
        (line.variant_id, line.quantity, to_minor_units(line.price)) for line in cart.lines
    )
    return CheckoutSnapshot(
        cart.cart_id,
        owner_id,
        lines,
        0,
        0,
        0,
        to_minor_units(cart.subtotal),
        cart.subtotal.currency.code,
    )
