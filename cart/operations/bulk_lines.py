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
    """A number of units of a variant that is sold today."""

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
    """Add variants to one of a person's carts; return the cart's id and name. Without a `cart_id`, make a new cart.

    One conditional batch adds all variants, at today's prices; existing lines keep their prices. Within a day, a repeat with
    the same `idempotency_key` adds nothing. `now` is in UTC. Raises NoSuchCart, NotAllowed, TooManyUnitsTogether,
    TooManyLines, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    owner_id: UUID | None = person_id
    if cart_id is None:
        cart_id = created_cart_id(person_id, idempotency_key)
        if getattr(queries.SUMS.one(cart_id=cart_id), "deleted_at", None):
            raise NoSuchCart  # the first submit has made the cart, and it was deleted since
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
    """The data of a variant that a cart's line stores."""

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
