"""The shop's consistency check (manage.py check_consistency), run for one order and the stock items that it takes from."""

from datetime import timedelta
from uuid import UUID

from consistency.findings import Scope
from consistency.runner import check_consistency
from inventory import queries as stock
from inventory.warehouses import list_warehouses
from orders import queries
from orders.lifecycle.entities import Order


def assert_stock_adds_up(variant_id: UUID) -> dict[str, int]:
    """Check I1; return the variant's numbers over all warehouses."""
    report = check_consistency(
        Scope(variants=frozenset({variant_id})), ["I1"], recheck_after=(0.2,)
    )
    assert not report.violations, "\n".join(map(str, report.violations))
    return get_stock_numbers(variant_id)


def get_stock_numbers(variant_id: UUID) -> dict[str, int]:
    """Return the variant's numbers over all warehouses."""
    sums = all_free(0)
    for warehouse in list_warehouses():
        found = stock.get_stock_numbers(variant_id, warehouse)
        for name in sums:
            sums[name] += getattr(found, name)
    return sums


def all_free(units: int) -> dict[str, int]:
    """Return the numbers of a variant of which so many units came, and none is taken."""
    return {"received": units, "available": units, "reserved": 0, "committed": 0, "shipped": 0}


def assert_order_consistent(order_id: UUID) -> Order:
    """Check the order against its lines, its stock and its copies, with nothing left for the worker to do; return it."""
    order = queries.get_order(order_id)
    assert order
    variants = {item.variant_id for item in queries.list_items(order)}
    codes = {order.voucher} - {""}
    scope = Scope(frozenset({order_id}), frozenset(variants), codes=frozenset(codes))
    report = check_consistency(scope, recheck_after=(0.2, 0.5), grace_period=timedelta(0))
    assert not report.violations, "\n".join(map(str, report.violations))
    return queries.get_order(order_id) or order
