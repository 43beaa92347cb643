"""What an order sold, line by line, for the figures (Q18): what was paid for each line, and what of that went back.

Delivery is no goods, and is left out. What was given up before it was packed was not sold, so the money for it is no
refund here. What is refunded for lines is theirs; what is refunded without a word of lines is spread over all of them,
until nothing is left of them. Net is rounded line by line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from analytics import operations as analytics
from analytics.figures import SoldLine
from analytics.operations import Sale
from orders import balance
from orders.entities import Order
from orders.items import Item
from orders.refunds import Refund
from pricing import tax
from pricing.money import from_minor_units, to_minor_units
from pricing.shares import spread_amount


@dataclass
class _LineSale:
    """What a line sold and gave back, in units and minor units."""

    item: Item
    gross: int
    net: int
    units_back: int = 0
    back: int = 0

    @property
    def left(self) -> int:
        return self.gross - self.back

    def units_share(self, units: int) -> int:
        """Return what so many more units were paid for, and never more than is left."""
        more = min(units, self.item.quantity - self.units_back)
        if not more:
            return 0
        return min(to_minor_units(self.item.units_total(more, self.units_back)), self.left)

    def to_sold_line(self) -> SoldLine:
        item = self.item
        # Whoever has all the money back has bought nothing.
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
        )


def record_sale(order: Order, items: Sequence[Item]) -> None:
    """Tell the figures what a paid order sold, or what is left of that; an unpaid one sold nothing. Raises CassandraUnavailable."""
    if sale := build_sale(order, items):
        analytics.record_sale(sale)


def build_sale(order: Order, items: Sequence[Item]) -> Sale | None:
    """Return what a paid order sold, as it is now; None for one that was not paid."""
    if not order.has_been_paid or not items:
        return None
    # A line of which nothing is left is told, too: it may have been told as sold before.
    left = {item.line_number: item for item in order.current_lines(items)}
    lines = [
        _line_sale(left.get(item.line_number) or item.with_quantity(0), order.country)
        for item in items
    ]
    passed_over = {each.refund_id for each in order.due_refunds} | balance.change_refund_ids(order)
    for refund in _refunds_of_sold_units(order, items):
        if refund.refund_id not in passed_over:
            _add_refund(refund, lines)
    sold = tuple(line.to_sold_line() for line in lines)
    return Sale(order.order_id, order.placed_at, order.version, order.total.currency.code, sold)


def _refunds_of_sold_units(order: Order, items: Sequence[Item]) -> Iterator[Refund]:
    """Yield the refunds without what was for units that have been taken out of the order since: those were not sold."""
    of = {item.line_number: item for item in items}
    _, out = balance.refunded_units_by_line(
        order, {line: item.quantity for line, item in of.items()}
    )
    passed_over = balance.change_refund_ids(order)
    for refund in order.refunds:
        if refund.refund_id in passed_over or not any(out.get(line) for line in refund.lines):
            yield refund
            continue
        stayed = {}
        for line, count in refund.lines.items():
            gone = min(count, out.get(line, 0))
            out[line] = out.get(line, 0) - gone
            stayed[line] = count - gone
        if any(stayed.values()):
            cents = (
                to_minor_units(refund.amount)
                * _worth(stayed, of)
                // max(_worth(refund.lines, of), 1)
            )
            yield replace(
                refund, amount=from_minor_units(cents, refund.amount.currency.code), lines=stayed
            )


def _worth(lines: Mapping[int, int], of: Mapping[int, Item]) -> int:
    return sum(
        to_minor_units(of[line].units_total(min(units, of[line].quantity)))
        for line, units in lines.items()
        if line in of
    )


def _line_sale(item: Item, country: str) -> _LineSale:
    """Return what was paid for a line."""
    if item.tax_added:
        return _LineSale(
            item,
            to_minor_units(item.final_total),
            to_minor_units(item.final_total - item.tax_added),
        )
    parts = tax.split_included_tax([(item.tax_class, item.final_total)], country)
    return _LineSale(
        item, to_minor_units(item.final_total), sum(to_minor_units(part.net) for part in parts)
    )


def _add_refund(refund: Refund, lines: Sequence[_LineSale]) -> None:
    named = {line.item.line_number: refund.lines.get(line.item.line_number, 0) for line in lines}
    if any(named.values()):
        shares = [line.units_share(named[line.item.line_number]) for line in lines]
    else:
        shares = [line.left for line in lines]
    amount = min(to_minor_units(refund.amount), sum(shares))
    for line, part in zip(lines, spread_amount(amount, shares), strict=True):
        line.back += part
        line.units_back = min(line.units_back + named[line.item.line_number], line.item.quantity)
