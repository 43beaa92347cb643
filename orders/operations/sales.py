"""The sales of an order for reports (Q18): the paid and the refunded amount of each line.

Delivery is left out. Units that were removed before packing were not sold, so their refunds do not count. A refund for lines
counts for these lines; a refund without lines is spread over all of them. Net amounts are rounded line by line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analytics import operations as analytics
from analytics.dimensions import STAFF_DISCOUNT
from analytics.figures import SoldLine
from analytics.operations import Sale
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.refunds import Refund
from pricing import tax
from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount


@dataclass
class _LineSale:
    """The sales and refunds of a line, in units and minor units."""

    item: Item
    gross: int
    net: int
    promotions: tuple[str, ...]
    units_back: int = 0
    back: int = 0

    @property
    def left(self) -> int:
        return self.gross - self.back

    def prorate_units(self, units: int) -> int:
        """Return the price of `units` more units, at most the unrefunded amount."""
        more = min(units, self.item.quantity - self.units_back)
        if not more:
            return 0
        return min(to_minor_units(self.item.units_total(more, self.units_back)), self.left)

    def to_sold_line(self) -> SoldLine:
        item = self.item
        # A line that was refunded in full has sold nothing.
        units_back = item.quantity if self.gross and not self.left else self.units_back
        net_back = self.net * self.back // self.gross if self.gross else 0
        return SoldLine(
            item.line_number,
            item.product_id,
            item.variant_id,
            item.quantity,
            self.gross,
            self.net,
            units_back,
            self.back,
            net_back,
            self.promotions,
        )


def record_order_sale(order: Order, items: Sequence[Item]) -> None:
    """Record the present sales of a paid order for reports; an unpaid one has none. Raises CassandraUnavailable."""
    if sale := build_sale(order, items):
        analytics.record_sale(sale)


def build_sale(order: Order, items: Sequence[Item]) -> Sale | None:
    """Return the present sales of a paid order; None for an unpaid one."""
    if not order.has_been_paid or not items:
        return None
    # Lines without units are recorded, too: an earlier version may have sold them.
    left = {item.line_number: item for item in order.current_lines(items)}
    lines = [
        _line_sale(left.get(item.line_number) or item.with_quantity(0), order) for item in items
    ]
    skipped = {each.refund_id for each in order.due_refunds} | balance.change_refund_ids(order)
    for refund in _refunds_of_sold_units(order, items):
        if refund.refund_id not in skipped:
            _add_refund(refund, lines)
    sold = tuple(line.to_sold_line() for line in lines)
    return Sale(
        order.order_id,
        order.placed_at,
        order.version,
        order.total.currency.code,
        sold,
        order.country,
        order.payment_method,
    )


def _promotion_keys(item: Item, order: Order) -> tuple[str, ...]:
    """Return the keys of the promotions that reduced a line or made delivery free. An older order's promotion has only its name.

    A reason that staff typed for a discount is not a key: it could name the customer.
    """
    is_offer = any("offered_by" in event.details for event in order.events)
    found = {
        STAFF_DISCOUNT if is_offer else each.key or each.name
        for each in order.discounts
        if item.line_number in each.lines
        or (not each.lines and (item.discount.amount or not each.amount.amount))
    }
    return tuple(sorted(found))


def _refunds_of_sold_units(order: Order, items: Sequence[Item]) -> Iterator[Refund]:
    """Yield the refunds, without the parts for units that changes have removed from the order: those were not sold."""
    items_by_line = {item.line_number: item for item in items}
    _, removed = balance.refunded_units_by_line(
        order, {line: item.quantity for line, item in items_by_line.items()}
    )
    skipped = balance.change_refund_ids(order)
    for refund in order.refunds:
        if refund.refund_id in skipped or not any(removed.get(line) for line in refund.lines):
            yield refund
            continue
        kept_lines = {}
        for line, count in refund.lines.items():
            removed_units = min(count, removed.get(line, 0))
            removed[line] = removed.get(line, 0) - removed_units
            kept_lines[line] = count - removed_units
        if any(kept_lines.values()):
            cents = (
                to_minor_units(refund.amount)
                * _worth(kept_lines, items_by_line)
                // max(_worth(refund.lines, items_by_line), 1)
            )
            yield replace(
                refund,
                amount=from_minor_units(cents, refund.amount.currency.code),
                lines=kept_lines,
            )


def _worth(lines: Mapping[int, int], items_by_line: Mapping[int, Item]) -> int:
    return sum(
        to_minor_units(items_by_line[line].units_total(min(units, items_by_line[line].quantity)))
        for line, units in lines.items()
        if line in items_by_line
    )


def _line_sale(item: Item, order: Order) -> _LineSale:
    """Return the sales of a line without refunds."""
    if item.tax_added:
        net = to_minor_units(item.final_total - item.tax_added)
    else:
        parts = tax.split_included_tax([(item.tax_class, item.final_total)], order.tax_rates)
        net = sum(to_minor_units(part.net) for part in parts)
    return _LineSale(item, to_minor_units(item.final_total), net, _promotion_keys(item, order))


def _add_refund(refund: Refund, lines: Sequence[_LineSale]) -> None:
    named = {line.item.line_number: refund.lines.get(line.item.line_number, 0) for line in lines}
    if any(named.values()):
        shares = [line.prorate_units(named[line.item.line_number]) for line in lines]
    else:
        shares = [line.left for line in lines]
    amount = min(to_minor_units(refund.amount), sum(shares))
    for line, part in zip(lines, prorate_amount(amount, shares), strict=True):
        line.back += part
        line.units_back = min(line.units_back + named[line.item.line_number], line.item.quantity)
