"""The cards of a person's carts for the list of carts. A card has the same sum as the cart's page."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from uuid import UUID

from cart import queries
from cart.entities import Cart, CartCard, ListedCart
from cart.priced_cart import price_lines, sum_lines
from cassandra_db import PendingResult, Row
from inventory.products_with_stock import AT_ONCE, PendingProductsWithStock


@dataclass(frozen=True)
class PendingCard:
    """Two pending reads for a cart's card: the cart's first rows, and whether the cart is shared."""

    peek: PendingResult
    sharing: PendingResult


# A cart on the list, its first rows, whether it is shared, and the cart with its lines if its sum can be computed.
_Found = tuple[ListedCart, list[Row], PendingResult, Cart | None, PendingProductsWithStock | None]


def prefetch_card(cart_id: UUID) -> PendingCard:
    """Start reading a cart for the list of carts."""
    return PendingCard(
        queries.PEEK.start(cart_id=cart_id), queries.SHARING_PEEK.start(cart_id=cart_id)
    )


def list_cart_cards(
    owner_id: UUID, carts: Iterable[Row], begun: Mapping[UUID, PendingCard] = MappingProxyType({})
) -> list[CartCard]:
    """Return the cards of a person's carts: the active one first, then the last changed ones.

    `begun` are pending reads of carts, started in parallel with the list. The products of these carts are read together with the
    remaining carts, whose products need one more round. Shared carts that the person was removed from are left out. At most 100
    products are read for all cards: later carts, and carts with many lines, have no sum. Raises CassandraUnavailable.
    """
    listed = sorted(
        queries.listed_carts_from_rows(carts), key=lambda each: each.cart_id not in begun
    )
    reading = [(each, begun.get(each.cart_id) or prefetch_card(each.cart_id)) for each in listed]
    people = {each.cart_id: queries.prefetch_person(owner_id, each) for each in listed}
    products_left = AT_ONCE
    found: list[_Found] = []
    for each, pending in reading:
        rows = pending.peek.rows()
        # A shared cart that its owner has deleted is left out; the owner can still restore it.
        if each.role and rows and rows[0].deleted_at is not None:
            continue
        cart = _whole_cart(each, rows)
        products = None
        if cart and len(ids := {line.product_id for line in cart.lines}) <= products_left:
            products_left -= len(ids)
            products = PendingProductsWithStock(ids)
        found.append((each, rows, pending.sharing, cart, products))
    # The other carts' products are read last, so that carts whose first rows are known need no extra round.
    cards = [_card(*each) for each in found if queries.is_still_in(people[each[0].cart_id])]
    return sorted(cards, key=lambda card: (card.cart.is_active, card.changed_at), reverse=True)


def _whole_cart(listed: ListedCart, rows: list[Row]) -> Cart | None:
    """Return the cart with its lines if its first rows contain all lines, else None."""
    lines = [row for row in rows if row.kind == "line"]
    if not lines or len(lines) < lines[0].line_count:
        return None
    return queries.cart_from_rows(listed.cart_id, listed.name, lines)


def _card(
    listed: ListedCart,
    rows: list[Row],
    sharing: PendingResult,
    cart: Cart | None,
    products: PendingProductsWithStock | None,
) -> CartCard:
    is_shared = any(row.kind is not None for row in sharing.rows())
    if not rows or rows[0].version is None:
        return CartCard(listed, 0, 0, 0, None, listed.used_at, (), is_shared)
    sums = rows[0]
    return CartCard(
        listed,
        sums.line_count,
        sums.item_count,
        sums.later_count or 0,
        sum_lines(price_lines(cart, products.collect())) if cart and products else None,
        sums.changed_at,
        tuple(row.picture for row in rows if row.kind == "line" and row.picture)[:4],
        is_shared,
    )
