"""From which warehouses an order is sent. Knows numbers only: what there is, and what is wanted.

The rule: one parcel if any warehouse has everything, else as few parcels as possible; among equally many the
warehouses that stand first in WAREHOUSES. A line is split only where none of the chosen warehouses has it whole.
A line that the warehouses together do not have waits as a whole for goods to arrive, where the variant is sold ahead.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from uuid import UUID

from inventory.entities import BACKORDER_WAREHOUSE, Allocation, WantedLine
from inventory.queries import WAREHOUSES, make_reservation_id


def sort_allocations(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Return allocations in the order in which everybody takes goods, so that no two orders wait for each other's."""
    return tuple(
        sorted(allocations, key=lambda each: (each.variant_id, each.warehouse_id, each.line_number))
    )


def needed_units(wanted_lines: Iterable[WantedLine]) -> dict[UUID, int]:
    """Return how many units of each variant are wanted, over all lines."""
    units: dict[UUID, int] = {}
    for want in wanted_lines:
        units[want.variant_id] = units.get(want.variant_id, 0) + want.quantity
    return units


def choose_warehouses(
    wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int]
) -> tuple[str, ...] | None:
    """Return the fewest warehouses that together have everything; None when all of them have too little."""
    variants = needed_units(wanted_lines)
    for parcels in range(1 if variants else 0, len(WAREHOUSES) + 1):
        for places in combinations(WAREHOUSES, parcels):
            if all(
                sum(units(variant, place) for place in places) >= most
                for variant, most in variants.items()
            ):
                return places
    return None


def plan_allocations(
    order_id: UUID, wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int], take: int
) -> tuple[Allocation, ...] | None:
    """Return what each warehouse keeps for the order, in the order of taking; None when there is too little."""
    backordered = _backordered_lines(wanted_lines, units)
    wants_now = [want for want in wanted_lines if want not in backordered]
    places = choose_warehouses(wants_now, units)
    if places is None or any(
        units(variant, BACKORDER_WAREHOUSE) < most
        for variant, most in needed_units(backordered).items()
    ):
        return None
    left = {
        (want.variant_id, place): units(want.variant_id, place)
        for want in wants_now
        for place in places
    }
    plan = [
        _allocation(order_id, want, BACKORDER_WAREHOUSE, want.quantity, take)
        for want in backordered
    ]
    for want in wants_now:
        whole = [place for place in places if left[want.variant_id, place] >= want.quantity]
        missing = want.quantity
        for place in whole[:1] or places:
            reserved = min(left[want.variant_id, place], missing)
            if reserved > 0:
                left[want.variant_id, place] -= reserved
                missing -= reserved
                plan.append(_allocation(order_id, want, place, reserved, take))
    return sort_allocations(plan)


def _backordered_lines(
    wanted_lines: Sequence[WantedLine], units: Callable[[UUID, str], int]
) -> list[WantedLine]:
    """Return the lines that the warehouses do not have, after those that come before them."""
    left = {
        variant: sum(units(variant, place) for place in WAREHOUSES)
        for variant in needed_units(wanted_lines)
    }
    backordered = []
    for want in wanted_lines:
        if want.quantity > left[want.variant_id]:
            backordered.append(want)
        else:
            left[want.variant_id] -= want.quantity
    return backordered


def _allocation(order_id: UUID, want: WantedLine, place: str, units: int, take: int) -> Allocation:
    reservation_id = make_reservation_id(order_id, want.line_number, want.variant_id, place, take)
    return Allocation(
        want.line_number, want.product_id, want.variant_id, place, units, reservation_id, order_id
    )
