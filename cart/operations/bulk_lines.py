"""Adding several variants to a cart at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from cart import queries
from cart.access import EDIT, require_access
from cart.errors import NoSuchCart
from cart.operations.carts import add_cart_to_list, created_cart_id
from cart.operations.contents import CartChange, change_contents
from cassandra_db import Row
from catalogue.entities import Product, Variant
from pricing.money import to_minor_units
from pricing.quotes import VariantSnapshot


@dataclass(frozen=True)
class VariantQuantity:
    """Units of a variant that is sold today."""

    product: Product
    variant: Variant
    quantity: int


def add_variants(
    person_id: UUID,
    cart_id: UUID | None,
    new_name: str,
    variants: Sequence[VariantQuantity],
    idempotency_key: UUID,
    now: datetime,
    *,
    guest: bool = False,
) -> tuple[UUID, str]:
    """Add variants to one of a person's carts, or to a new one without a `cart_id`; return its id and name.

    One conditional batch adds all of them, at today's prices; existing lines keep theirs. The same `idempotency_key` counts
    once within a day. `now` is in UTC.
    Raises NoSuchCart, NotAllowed, TooManyUnitsTogether, TooManyLines, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    owner_id: UUID | None = person_id
    if cart_id is None:
        cart_id = created_cart_id(person_id, idempotency_key)
        if getattr(queries.SUMS.one(cart_id=cart_id), "deleted_at", None):
            raise NoSuchCart  # made by the first submit, and deleted since
        name = add_cart_to_list(person_id, cart_id, new_name, now)
    else:
        found = require_access(person_id, cart_id, EDIT)
        name, owner_id = found.name, person_id if found.is_owner else None

    def put(change: CartChange) -> None:
        for each in variants:
            change.put(_row(each, now), each.quantity)

    change_contents(cart_id, idempotency_key, now, put, owner_id=owner_id, guest=guest)
    return cart_id, name


@dataclass(frozen=True)
class _Line(VariantSnapshot):
    """A variant as a cart stores it."""

    key: str
    price: int
    added_at: datetime


def _row(each: VariantQuantity, now: datetime) -> Row:
    product, variant = each.product, each.variant
    line: Any = _Line(
        **product.variant_columns(variant),
        key=str(variant.variant_id),
        price=to_minor_units(variant.price),
        added_at=now,
    )
    return cast(Row, line)
