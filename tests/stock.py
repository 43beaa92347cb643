"""Brings reserved units to where the payment and the parcels of an order bring them."""

from collections.abc import Iterable

from inventory.entities import Allocation
from inventory.operations import set_reservation_units


def commit_stock(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Commit reserved units, as a payment does; return those that were not reserved any more."""
    return tuple(
        each
        for each in allocations
        if not set_reservation_units(each, reserved_units=each.quantity, shipped_units=0)
    )


def ship_stock(allocations: Iterable[Allocation]) -> None:
    """Ship all units, as an order's parcels do."""
    for each in allocations:
        set_reservation_units(each, reserved_units=0, shipped_units=each.quantity)
