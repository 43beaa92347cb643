"""What the shop reads of carts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from moneyed import Money

from cassandra_db import Chain, Row, read
from catalogue.money import money

DEFAULT_NAME = "My cart"

# K1, K4: an owner's carts, and which is active.
CARTS = read("K1", "SELECT active_cart_id, cart_id, cart_name, name_key, created_at FROM carts_by_user WHERE owner_id = :owner_id")

# Q9: a cart's sums, which are static: they cost one row.
SUMS = read("Q9", "SELECT cart_id, version, line_count, item_count, subtotal, currency FROM items_by_cart WHERE cart_id = :cart_id LIMIT 1")


@dataclass(frozen=True)
class Badge:
    """What the header says of the active cart."""

    name: str = DEFAULT_NAME
    item_count: int = 0
    subtotal: Money | None = None


def badge_started(owner_id: UUID) -> Chain:
    """Start reading the header's cart: its name, then its sums, without anybody waiting in between."""

    def sums_of(carts: list[Row]) -> Mapping[str, Any] | None:
        active = _active(carts)
        return {"cart_id": active.cart_id} if active else None

    return CARTS.start(owner_id=owner_id).then(SUMS, sums_of)


def badge(reading: Chain) -> Badge:
    """Return the header's cart. Raises CassandraUnavailable."""
    carts, sums = reading.result()
    active = _active(carts)
    if active is None:
        return Badge()
    if not sums or sums[0].version is None:
        return Badge(active.cart_name)
    return Badge(active.cart_name, sums[0].item_count, money(sums[0].subtotal, sums[0].currency))


def _active(carts: list[Row]) -> Row | None:
    return next((row for row in carts if row.cart_id is not None and row.cart_id == row.active_cart_id), None)
