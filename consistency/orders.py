"""I2, I3, I6, I7, I9, I29, I32, I33, I53: an order's stock, copies, code, sales figures, sums and promises agree with its partition."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from analytics.queries import list_order_facts
from consistency import books, copies, order_search, vouchers
from consistency.changes import change_subjects, compare_with_mark
from consistency.findings import Check, Violation, call, column_subjects
from consistency.stock import compare_reserved_units
from inventory import operations as inventory
from orders import bulk_changes, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.states import CANCELLED, EXPIRED
from orders.operations import apply_effects
from orders.operations.sales import build_sale, record_order_sale
from orders.queries import ORDER_IDS
from pricing.money import to_minor_units


def _check_order(order_id: UUID) -> Iterator[Violation]:
    order = queries.get_order(order_id)
    if order is None:
        return  # an unfinished checkout: its reservations are checked with the stock
    items = queries.list_items(order)
    yield from _check_stock(order, items)
    yield from _check_money(order)
    yield from copies.iterate_unequal_copies(order)
    yield from order_search.iterate_missing_terms(order)
    yield from _check_figures(order, items)
    yield from _check_sums(order, items)
    yield from _check_promise(order)
    yield from vouchers.iterate_missing_uses(order)
    yield from books.iterate_unequal_entries(order, items)


def describe_order(order: Order) -> str:
    """Return a text that names an order by number and id, for reports."""
    return f"order {order.number} ({order.order_id})"


# ---- I2: the order's reservations and its money


def _check_stock(order: Order, items: Sequence[Item]) -> Iterator[Violation]:
    wrong = partial(Violation, "I2")
    for wanted, found in compare_reserved_units(order, items):
        if wanted != found:
            where = f"{describe_order(order)}, line {wanted.line_number}, variant {wanted.variant_id} in {wanted.warehouse_id}"
            actual = f"{found.units} {found.state}" if found.units else "nothing"
            expected = f"{wanted.units} {wanted.state}" if wanted.units else "nothing"
            fault = "other units are reserved for it than it has to have"
            repair = apply_effects if found.units else _reserve_again
            fix = partial(repair, order.order_id)
            yield wrong(where, fault, f"{actual}, not {expected}", fix)
    if order.skus and order.skus != tuple(sorted({item.sku for item in items})):
        fault = "its SKUs are not those of its lines"
        yield wrong(describe_order(order), fault, ", ".join(order.skus))
    if order.state not in (CANCELLED, EXPIRED):
        lines = order.current_lines(items)
        units = {line: units for line, units in order.quantities.items() if units}
        count = sum(item.quantity for item in lines)
        is_right = units == {item.line_number: item.quantity for item in lines}
        if not is_right or count != order.item_count:
            fault = "its lines are not what is reserved for it"
            yield wrong(describe_order(order), fault, f"{count} of {order.item_count}")


def _reserve_again(order_id: UUID, now: datetime) -> None:
    """Reserve what a backup lacks because it has the stock of a moment before the order, then apply the order's effects."""
    if order := queries.get_order(order_id):
        items = queries.list_items(order)
        lost = {
            (wanted.line_number, wanted.warehouse_id)
            for wanted, found in compare_reserved_units(order, items)
            if wanted.units and not found.units
        }
        allocations = order.list_allocations(items)
        inventory.reserve_again(
            order_id,
            [each for each in allocations if (each.line_number, each.warehouse_id) in lost],
            now,
        )
        apply_effects(order_id, now)


def _check_money(order: Order) -> Iterator[Violation]:
    wrong, zero = partial(Violation, "I2", describe_order(order)), order.total * 0
    if not zero <= order.refunded <= order.captured:
        yield wrong("more was refunded than taken", f"{order.refunded} of {order.captured}")
    due = sum((each.amount for each in order.due_refunds), zero)
    if order.captured - order.refunded - due > order.total:
        yield wrong("more was taken than it costs", f"{order.captured} of {order.total}")
    for kind, noted in (("captured", order.captured), ("refunded", order.refunded)):
        cents = sum(int(e.details.get("amount", 0)) for e in order.events if e.kind == kind)
        if cents != to_minor_units(noted):
            yield wrong(f"what was {kind} is not what its events say", f"{noted}, {cents} cents")
    is_paid = order.captured >= order.total or bool(to_minor_units(order.refunded))
    has_ended_with_a_part = (
        order.has_been_paid
        and to_minor_units(order.captured)
        and order.state in (CANCELLED, EXPIRED)
    )
    if to_minor_units(order.total) and order.has_been_paid != is_paid and not has_ended_with_a_part:
        detail = f"{order.payment}, {order.captured} of {order.total} taken"
        yield wrong("is not as paid as its money says", detail)


# ---- I7: the sales figures


def _check_figures(order: Order, items: Sequence[Item]) -> Iterator[Violation]:
    sale = build_sale(order, items)
    if sale is None:
        return
    facts = list_order_facts(sale.day, sale.order_id)
    if len(facts) != len(sale.lines) or not sale.is_recorded(facts):
        wrong = {fact.line for fact in facts} ^ set(sale.lines)
        lines = sorted({line.line_number for line in wrong})
        fault = f"its facts of {sale.day} are not what it sold"
        fix = call(record_order_sale, order, items)
        yield Violation("I7", describe_order(order), fault, f"lines {lines}", fix)


# ---- I9: the order's sums


def _check_sums(order: Order, items: Sequence[Item]) -> Iterator[Violation]:
    what, zero = describe_order(order), order.total * 0
    lines = order.current_lines(items)
    subtotal = sum((item.line_total for item in lines), zero)
    off = sum((item.discount for item in lines), zero)
    taxes = sum((part.tax for part in order.taxes), zero)
    parts = sum((each.amount for each in order.discounts), zero)
    gross = sum((part.net for part in order.taxes), taxes)
    for fault, actual, expected in (
        ("the lines do not add up to the subtotal", subtotal, order.subtotal),
        ("the lines' discounts do not add up to the discount", off, order.discount),
        ("the discounts' parts do not add up to the discount", parts, order.discount),
        ("the tax by rate does not add up to the tax", taxes, order.tax),
        ("net and tax do not add up to the total", gross, order.total),
    ):
        if actual != expected:
            yield Violation("I9", what, fault, f"{actual}, not {expected}")
    for item in items:
        if item.unit_price * item.quantity != item.line_total:
            fault = "units at their price are not the line's sum"
            yield Violation("I9", f"{what}, line {item.line_number}", fault)
    # The prices either include the tax, or the whole tax is added to them.
    if order.tax_added not in (zero, order.tax):
        fault = "lines, delivery, tax and discount do not add up to the total"
        yield Violation("I9", what, fault, f"{order.tax_added} too much")


# ---- I29: the order's promises


def _check_promise(order: Order) -> Iterator[Violation]:
    method = order.method
    rates = {part.rate for part in order.taxes if to_minor_units(part.net + part.tax)}
    for is_wrong, fault, actual in (
        (not method.name, "its delivery method has no name", method.code),
        (
            not method.placed_on <= method.first <= method.last,
            "it was expected before it was placed, or before itself",
            f"{method.first} to {method.last}",
        ),
        (
            not rates <= set(order.tax_rates.values()),
            "it was taxed at other rates than those it was placed with",
            ", ".join(f"{each}%" for each in sorted(rates)),
        ),
    ):
        if is_wrong:
            yield Violation("I29", describe_order(order), fault, actual)


# ---- I33: bulk changes of orders


def _check_change(change: bulk_changes.OrderChange) -> Iterator[Violation]:
    """Check for a finished bulk change that an order has the change's event exactly if its row has the result "done"."""
    for row in bulk_changes.STORE.iterate_results(change):
        if order := queries.get_order(row.item_id):
            yield from compare_with_mark(
                ("I33", f"change {change.change_id}, row {row.position}"),
                row.result,
                "done",
                has_mark=bulk_changes.has_event_of(order, change),
                fix=call(bulk_changes.STORE.note_done, change, row.position, order.number),
            )


CHECKS = (
    Check("changes of many orders", ("I33",), change_subjects(bulk_changes.STORE), _check_change),
    Check(
        "orders",
        ("I2", "I3", "I6", "I7", "I9", "I29", "I32", "I53"),
        column_subjects(ORDER_IDS, "order_id", "orders"),
        _check_order,
        lambda order_id: order_id,
    ),
    *copies.CHECKS,
    *order_search.CHECKS,
)
