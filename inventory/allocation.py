"""Choose the warehouses from which an order is sent, by the units in stock and the wanted units. No database.

The rule: one parcel if a warehouse has all lines, otherwise as few parcels as possible. Among equal choices the warehouses that
are first in the staff's order win (inventory.warehouses). Closed warehouses are used only if the open ones together have too
little. A line is split only if no chosen warehouse has all its units. A line that all warehouses together lack waits as a whole
for new stock, if its variant can be backordered.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from uuid import UUID

from inventory.entities import BACKORDER_WAREHOUSE, Allocation, WantedLine, make_reservation_id
from inventory.warehouses import list_open_warehouses, list_warehouses


def sort_allocations(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Return allocations sorted as every order reserves stock, so that two orders never block each other."""
    return tuple(
        sorted(allocations, key=lambda each: (each.variant_id, each.warehouse_id, each.line_number))
    )


def needed_units(wanted_lines: Iterable[WantedLine]) -> dict[UUID, int]:
    """Return the wanted units of each variant, added up over all lines."""
    units: dict[UUID, int] = {}
    for want in wanted_lines:
        units[want.variant_id] = units.get(want.variant_id, 0) + want.quantity
    return units


def choose_warehouses(
    wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int]
) -> tuple[str, ...] | None:
    """Return the fewest warehouses that together have all wanted units, or None. Closed warehouses are used only if necessary."""
    variants = needed_units(wanted_lines)
    for known in (tuple(each.key for each in list_open_warehouses()), list_warehouses()):
        for count in range(1 if variants else 0, len(known) + 1):
            for warehouses in combinations(known, count):
                if all(
                    sum(units(variant, warehouse) for warehouse in warehouses) >= most
                    for variant, most in variants.items()
                ):
                    return warehouses
    return None


def plan_allocations(
    order_id: UUID, wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int], take: int
) -> tuple[Allocation, ...] | None:
    """Return the units that each warehouse reserves for the order, in the order of reserving. Return None if there are too few."""
    backordered = _backordered_lines(wanted_lines, units)
    wants_now = [want for want in wanted_lines if want not in backordered]
    warehouses = choose_warehouses(wants_now, units)
    if warehouses is None or any(
        units(variant, BACKORDER_WAREHOUSE) < most
        for variant, most in needed_units(backordered).items()
    ):
        return None
    left = {
        (want.variant_id, warehouse): units(want.variant_id, warehouse)
        for want in wants_now
        for warehouse in warehouses
    }
    plan = [
        _allocation(order_id, want, BACKORDER_WAREHOUSE, want.quantity, take)
        for want in backordered
    ]
    for want in wants_now:
        whole = [each for each in warehouses if left[want.variant_id, each] >= want.quantity]
        missing = want.quantity
        for warehouse in whole[:1] or warehouses:
            reserved = min(left[want.variant_id, warehouse], missing)
            if reserved > 0:
                left[want.variant_id, warehouse] -= reserved
                missing -= reserved
                plan.append(_allocation(order_id, want, warehouse, reserved, take))
    return sort_allocations(plan)


def _backordered_lines(
    wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int]
) -> list[WantedLine]:
    """Return the lines that the warehouses cannot serve once they have served the lines before."""
    left = {
        variant: sum(units(variant, warehouse) for warehouse in list_warehouses())
        for variant in needed_units(wanted_lines)
    }
    backordered = []
    for want in wanted_lines:
        if want.quantity > left[want.variant_id]:
            backordered.append(want)
        else:
            left[want.variant_id] -= want.quantity
    return backordered


def _allocation(
    order_id: UUID, want: WantedLine, warehouse: str, units: int, take: int
) -> Allocation:
    reservation_id = make_reservation_id(
        order_id, want.line_number, want.variant_id, warehouse, take
    )
    ids = (want.line_number, want.product_id, want.variant_id)
    return Allocation(*ids, warehouse, units, reservation_id, order_id)
