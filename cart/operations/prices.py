"""Accepts prices that have risen since the lines were added."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from cart import queries
from cart.access import EDIT, require_access
from cart.entities import Line
from cart.errors import CartBusy, PriceChanged
from cart.operations.line_batches import MAX_ATTEMPTS, SET_LINE, SUMS, apply_changes
from cart.priced_cart import PriceConsent
from cassandra_db import retry_attempts
from catalogue.queries import get_sellable_variant
from inventory.products_with_stock import get_products_with_stock
from pricing.money import to_minor_units


def accept_prices(
    person_id: UUID | None, cart_id: UUID, consents: Sequence[PriceConsent], now: datetime
) -> None:
    """Give these lines today's prices if lines and prices are still the ones that the page showed; otherwise change nothing.

    A second call does nothing. Raises PriceChanged if a line or price differs from the page, NoSuchCart, NotAllowed,
    CartBusy, CassandraUnavailable.
    """
    require_access(person_id, cart_id, EDIT)
    if len({each.key for each in consents}) < len(consents):
        raise PriceChanged  # a page names each line once; if a line came twice, the subtotal would count its price rise twice
    idempotency_key = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        lines = {line.key: line for line in queries.get_cart(cart_id).lines}
        rises = [
            (lines[each.key], each)
            for each in consents
            if _is_consent_open(lines.get(each.key), each)
        ]
        if not rises:
            return
        _check_current_prices(rises)
        more = sum((each.new_price - each.old_price) * each.quantity for _, each in rises)
        if apply_changes(
            cart_id,
            idempotency_key,
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


def _is_consent_open(line: Line | None, each: PriceConsent) -> bool:
    """Return whether a line still needs this consent: False if the line already has the new price. Raises PriceChanged."""
    if line is not None and line.quantity == each.quantity:
        if to_minor_units(line.price) == each.new_price:
            return False
        if to_minor_units(line.price) == each.old_price:
            return True
    raise PriceChanged


def _check_current_prices(rises: Sequence[tuple[Line, PriceConsent]]) -> None:
    products = get_products_with_stock(line.product_id for line, _ in rises)
    for line, each in rises:
        variant = get_sellable_variant(products[line.product_id].product, line.variant_id)
        if variant is None or to_minor_units(variant.price) != each.new_price:
            raise PriceChanged
