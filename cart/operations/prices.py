"""Agreeing to a price that has risen since its line was added."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from cart import queries
from cart.access import EDIT, access
from cart.entities import Line
from cart.errors import CartBusy, PriceMoved
from cart.operations.lines import ATTEMPTS, SET_LINE, SUMS, applied
from cart.today import PriceConsent
from cassandra_db import attempts
from catalogue.queries import get_sellable_variant
from inventory.goods import get_products_with_stock
from pricing.money import to_minor_units


def prices_agreed(
    person_id: UUID | None, cart_id: UUID, agreed: Sequence[PriceConsent], now: datetime
) -> None:
    """Let lines take today's prices, if they and the prices are still as they were shown: all of them or none.

    A second call does nothing. Raises PriceMoved if something is not as it was shown, NoSuchCart, NotAllowed,
    CartBusy, CassandraUnavailable.
    """
    access(person_id, cart_id, EDIT)
    if len({each.key for each in agreed}) < len(agreed):
        raise PriceMoved  # no page names a line twice; its rise would count twice in the subtotal
    operation_id = uuid4()
    for _ in attempts(ATTEMPTS):
        lines = {line.key: line for line in queries.cart(cart_id).lines}
        rises = [(lines[each.key], each) for each in agreed if _as_shown(lines.get(each.key), each)]
        if not rises:
            return
        _check_today(rises)
        more = sum((each.new_price - each.old_price) * each.quantity for _, each in rises)
        if applied(
            cart_id,
            operation_id,
            now,
            SUMS.bind(cart_id=cart_id, lines=0, items=0, amount=more, now=now),
            *(
                SET_LINE.bind(
                    cart_id=cart_id,
                    key=each.key,
                    quantity=each.quantity,
                    price=each.new_price,
                    old_quantity=each.quantity,
                    old_price=each.old_price,
                )
                for _, each in rises
            ),
        ):
            return
    raise CartBusy


def _as_shown(line: Line | None, each: PriceConsent) -> bool:
    """Tell whether a line waits for this agreement; False if it has it already. Raises PriceMoved."""
    if line is not None and line.quantity == each.quantity:
        if to_minor_units(line.price) == each.new_price:
            return False
        if to_minor_units(line.price) == each.old_price:
            return True
    raise PriceMoved


def _check_today(rises: Sequence[tuple[Line, PriceConsent]]) -> None:
    goods = get_products_with_stock(line.product_id for line, _ in rises)
    for line, each in rises:
        variant = get_sellable_variant(goods[line.product_id].product, line.variant_id)
        if variant is None or to_minor_units(variant.price) != each.new_price:
            raise PriceMoved
