"""Stock that arrives is allocated to waiting orders, oldest first.

A waiting line is allocated as a whole to the warehouse "ahead" (inventory.allocation). Its units are reserved in a real
warehouse, then an event records that, and the effects commit these units and release the backorder. If a process dies between
these steps, the reservation's expiry leads the sweeper to the order, or the next run finds it.
"""

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from inventory import operations as inventory
from inventory import queries as stock
from inventory.entities import BACKORDER_WAREHOUSE, Allocation, WantedLine
from inventory.errors import OutOfStock
from jobs.rows import guard_row
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.states import CONFIRMED, ON_HOLD
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_order

log = logging.getLogger(__name__)


def allocate_backorders(now: datetime) -> int:
    """Reserve arrived stock for the waiting orders. Return the number of orders that got units. Raises CassandraUnavailable.

    One worker runs it at a time. Younger orders do not overtake an order that needs more units than have arrived. Product pages
    offer the remaining units only after this run (see `manage.py stock`).
    """
    served = 0
    for variant_id, product_id in stock.list_backordered_variants():
        with guard_row(f"backorders of variant {variant_id}"):
            order_ids = stock.list_waiting_orders(variant_id)
            for order_id in order_ids:
                is_served: bool | None = None
                # Younger orders overtake an order whose allocation raises an error.
                with guard_row(f"backorder {order_id}"):
                    is_served = _allocate_order(order_id, variant_id, now)
                served += bool(is_served)
                if is_served is False:
                    break
            if order_ids:
                inventory.copy_stock(product_id)
    return served


def _allocate_order(order_id: UUID, variant_id: UUID, now: datetime) -> bool | None:
    """Reserve a variant's arrived units for an order; return whether it got them, None if it cannot take any now."""
    order = queries.get_order(order_id)
    if order is None or order.state not in (CONFIRMED, ON_HOLD) or order.withdrawals:
        return None
    take = json.loads(order.allocations_json)["take"]
    waiting_units = order.reserved_units.get(BACKORDER_WAREHOUSE, {})
    arrived: list[Allocation] = []
    for item in queries.list_items(order):
        units = waiting_units.get(item.line_number, 0)
        if item.variant_id == variant_id and units:
            want = WantedLine(item.line_number, item.product_id, variant_id, units)
            try:
                arrived += inventory.reserve_stock(
                    order_id, [want], now, take, allow_backorder=False
                )
            except OutOfStock:
                break
    if not arrived:
        return False
    try:
        transition_order(
            order,
            Transition(
                "allocated",
                actor="system",
                at=now,
                allocations_json=_allocations_with_arrivals(order, take, arrived),
            ),
        )
    except (OrderChanged, TransitionRefused) as refused:
        log.warning("order %s: its stock has arrived, it is tried again: %s", order.number, refused)
        return None
    return True


def _allocations_with_arrivals(order: Order, take: int, arrived: list[Allocation]) -> str:
    """Return the order's allocations, with the arrived units in their warehouses, as the order's header stores them."""
    reserved_units = {warehouse: dict(lines) for warehouse, lines in order.reserved_units.items()}
    for each in arrived:
        units_by_line = reserved_units.setdefault(each.warehouse_id, {})
        units_by_line[each.line_number] = units_by_line.get(each.line_number, 0) + each.quantity
        # A line without waiting units stays listed, so that its backorder is found and released.
        reserved_units[BACKORDER_WAREHOUSE][each.line_number] -= each.quantity
    warehouses: Mapping[str, object] = {
        warehouse: [[line, units] for line, units in lines.items()]
        for warehouse, lines in reserved_units.items()
    }
    return json.dumps({"take": take, **warehouses})
