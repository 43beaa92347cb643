"""Goods arrive for what was sold ahead of them: the oldest orders that wait get theirs first.

A line that waits stands on the shelf "ahead" as a whole (inventory.allocation). Its units are held in a house, then the
order says so by an event, then the stock follows: kept in the house, and the promise is free again. Whoever dies on the
way leaves a hold whose hint leads the sweeper to it, or the next run, which finds the same hold.
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
from orders import queries
from orders.entities import Order
from orders.errors import StaleOrder, TransitionRefused
from orders.operations.effects import transition_order
from orders.states import CONFIRMED, ON_HOLD
from orders.transitions import Transition

log = logging.getLogger(__name__)


def allocate_backorders(now: datetime) -> int:
    """Keep what has arrived for the orders that wait for it; return how many got something. Raises CassandraUnavailable.

    One worker at a time does it. An order that needs more than has arrived keeps its turn: younger ones do not overtake
    it. What is left then is told to the pages: until then they do not know of the goods (see `manage.py stock`).
    """
    served = 0
    for variant_id, product_id in stock.list_backordered_variants():
        waiting = stock.list_waiting_orders(variant_id)
        for order_id in waiting:
            got = _allocate_order(order_id, variant_id, now)
            served += bool(got)
            if got is False:
                break
        if waiting:
            inventory.copy_stock(product_id)
    return served


def _allocate_order(order_id: UUID, variant_id: UUID, now: datetime) -> bool | None:
    """Tell whether an order got its units of a variant; None when it cannot take any now."""
    order = queries.get_order(order_id)
    if order is None or order.state not in (CONFIRMED, ON_HOLD):
        return None
    take = json.loads(order.allocations_json)["take"]
    waiting = order.reserved_units.get(BACKORDER_WAREHOUSE, {})
    arrived: list[Allocation] = []
    for item in queries.list_items(order):
        units = waiting.get(item.line_number, 0)
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
    except (StaleOrder, TransitionRefused) as refused:
        log.warning(
            "order %s: its goods have arrived, it is looked at again: %s", order.number, refused
        )
        return None
    return True


def _allocations_with_arrivals(order: Order, take: int, arrived: list[Allocation]) -> str:
    """Return what is kept for the order, as its header has it, when these units stand in a house."""
    reserved_units = {warehouse: dict(lines) for warehouse, lines in order.reserved_units.items()}
    for each in arrived:
        there = reserved_units.setdefault(each.warehouse_id, {})
        there[each.line_number] = there.get(each.line_number, 0) + each.quantity
        # A line of which nothing waits any more stays, with no units: its promise is looked at, and given back.
        reserved_units[BACKORDER_WAREHOUSE][each.line_number] -= each.quantity
    warehouses: Mapping[str, object] = {
        warehouse: [[line, units] for line, units in lines.items()]
        for warehouse, lines in reserved_units.items()
    }
    return json.dumps({"take": take, **warehouses})
