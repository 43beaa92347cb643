"""What must be true of an order and its stock, whatever has happened to them (I1 to I3, I9)."""

from uuid import UUID

from inventory import queries as stock
from inventory.queries import WAREHOUSES
from orders import queries
from orders.queries import Order
from orders.states import COLUMNS


def stock_adds_up(variant_id: UUID) -> dict[str, int]:
    """I1. Returns the variant's numbers over all warehouses."""
    sums = {"received": 0, "available": 0, "held": 0, "committed": 0, "shipped": 0}
    for place in WAREHOUSES:
        found = stock.numbers(variant_id, place)
        assert found.received == found.available + found.held + found.committed + found.shipped
        assert min(found.available, found.held, found.committed, found.shipped) >= 0
        for name in sums:
            sums[name] += getattr(found, name)
    return sums


def audit(order_id: UUID) -> Order:
    """Check the order against its lines, its stock and its copies; return it."""
    order = queries.order(order_id)
    assert order
    items = queries.items(order)
    # I9
    assert sum((item.line_total for item in items), order.delivery - order.discount) == order.total
    assert sum((part.net + part.tax for part in order.taxes), order.total * 0) == order.total
    # I2: what is kept, or sent, is what was ordered
    wanted = {item.line_number: item.quantity for item in items}
    for each in order.allocations(items):
        wanted[each.line_number] -= each.quantity
    assert not any(wanted.values())
    expected = {
        "pending_payment": "held",
        "cancelled": None,
        "expired": None,
    }.get(order.state, None if order.fulfilment in ("shipped", "delivered") else "committed")
    for each in order.allocations(items):
        stock_adds_up(each.variant_id)
        rows = stock.numbers_started(each.variant_id, each.warehouse_id, each.hold_id).rows()
        kept = {row.hold_id: (row.state, row.quantity) for row in rows}.get(each.hold_id)
        assert kept == ((expected, each.quantity) if expected else None)
    captured = [each for each in queries.attempts(order_id) if each.state == "paid"]
    assert sum((each.amount for each in captured), order.total * 0) <= order.total
    assert bool(captured) == (order.payment == "paid")
    # I3
    for column in COLUMNS:
        standing = queries.IDS.all(status=column, day=order.placed_at.date(), most=10_000)
        assert (order_id in {row.order_id for row in standing}) == (column == order.column), column
    assert order.placed_at.date() in queries.days(order.column)
    if order.user_id:
        listed = queries.orders_of(order.user_id, [order.placed_at.year])[order.placed_at.year]
        (mine,) = (each for each in listed if each.order_id == order_id)
        assert (mine.word, mine.total, mine.number) == (order.word, order.total, order.number)
    return order
