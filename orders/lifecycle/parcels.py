"""An order's parcels, folded from its events: packed > shipped > delivered | lost; an unpacked parcel is cancelled.

Details of the events: packed {parcel, warehouse, lines: {line: units}, carrier?, tracking?}, or {parcels: [these, …]} for several at once;
shipped {parcel, carrier, tracking}; delivered, lost, unpacked {parcel}; tracked {parcel, carrier, tracking}, a correction.
An event that names no parcel applies to all parcels: it packs all remaining units, a parcel for each warehouse; or ships all
packed parcels (if there are none, all remaining units); or delivers all parcels under way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from inventory.entities import BACKORDER_WAREHOUSE
from orders.lifecycle.events import Event, parse_line_units
from orders.lifecycle.items import Item

PACKED, SHIPPED, DELIVERED, LOST, CANCELLED = "packed", "shipped", "delivered", "lost", "cancelled"
# For each event: the state of a parcel before the event, and its state after.
STEPS = {
    "shipped": (PACKED, SHIPPED),
    "delivered": (SHIPPED, DELIVERED),
    "lost": (SHIPPED, LOST),
    "unpacked": (PACKED, CANCELLED),
}
# A sent parcel gets another carrier or number.
TRACKED = "tracked"
# The units that each warehouse has reserved or sent, keyed by warehouse and line.
UnitsByWarehouse = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True)
class ItemUnits:
    """Units of an order's line, for example in a parcel."""

    item: Item
    units: int


@dataclass(frozen=True)
class Parcel:
    """A parcel. `lines` are units by line number. Each time is UTC, and None until its event has happened."""

    parcel_id: str
    warehouse: str
    lines: dict[int, int]
    packed_at: datetime
    state: str = PACKED
    carrier: str = ""
    tracking: str = ""
    shipped_at: datetime | None = None
    delivered_at: datetime | None = None
    contents: tuple[ItemUnits, ...] = ()  # `lines` with their items, if the items were given

    @property
    def is_sent(self) -> bool:
        """Whether the parcel has left the warehouse."""
        return self.state in (SHIPPED, DELIVERED, LOST)

    @property
    def is_under_way(self) -> bool:
        return self.state == SHIPPED

    @property
    def count(self) -> int:
        return sum(self.lines.values())


def fold_parcels(events: Sequence[Event], reserved_units: UnitsByWarehouse) -> tuple[Parcel, ...]:
    """Return the parcels that these events (newest first) have made, in the order of packing."""
    found: dict[str, Parcel] = {}
    for event in reversed(events):
        if event.kind == "packed":
            found |= {
                each.parcel_id: each
                for each in _packed_parcels(event, found.values(), reserved_units)
            }
        elif event.kind in STEPS:
            found |= {
                each.parcel_id: each
                for each in _advanced_parcels(event, found.values(), reserved_units)
            }
        elif event.kind == TRACKED:
            details, parcel = event.details, found[event.details["parcel"]]
            found[parcel.parcel_id] = replace(
                parcel, carrier=details.get("carrier", ""), tracking=details.get("tracking", "")
            )
    return tuple(found.values())


def _packed_parcels(
    event: Event, before: Iterable[Parcel], reserved_units: UnitsByWarehouse
) -> Iterator[Parcel]:
    for each in plan_packing(event.details, before, reserved_units):
        yield Parcel(
            str(each["parcel"]),
            each["warehouse"],
            parse_line_units(each["lines"]),
            event.at,
            carrier=each.get("carrier", ""),
            tracking=each.get("tracking", ""),
        )


def _advanced_parcels(
    event: Event, before: Iterable[Parcel], reserved_units: UnitsByWarehouse
) -> Iterator[Parcel]:
    was, becomes = STEPS[event.kind]
    parcels = list(before)
    parcel_id = event.details.get("parcel")
    chosen = [each for each in parcels if each.state == was and parcel_id in (None, each.parcel_id)]
    if not chosen and parcel_id is None and event.kind == "shipped":
        chosen = list(_packed_parcels(event, parcels, reserved_units))
    carrier, tracking = event.details.get("carrier"), event.details.get("tracking")
    for each in chosen:
        # An event about all parcels leaves each the number that it was packed with.
        keeps = parcel_id is None and not tracking and each.tracking
        yield replace(
            each,
            state=becomes,
            carrier=each.carrier if keeps else carrier or each.carrier,
            # The label of a parcel that was unpacked is used for no other parcel.
            tracking=""
            if becomes == CANCELLED
            else each.tracking
            if keeps or tracking is None
            else tracking,
            shipped_at=event.at if becomes == SHIPPED else each.shipped_at,
            delivered_at=event.at if becomes == DELIVERED else each.delivered_at,
        )


def plan_packing(
    details: Mapping[str, Any], before: Iterable[Parcel], reserved_units: UnitsByWarehouse
) -> list[dict[str, Any]]:
    """Return the parcels that an event `packed` makes, each as {parcel, warehouse, lines}. Without details: all units to pack."""
    if "parcels" in details:
        return list(details["parcels"])
    if "warehouse" in details:
        return [dict(details)]
    parcels = list(before)
    first = len(parcels) + 1
    rest = units_to_pack(reserved_units, parcels).items()
    return [
        {"parcel": str(n), "warehouse": warehouse, "lines": lines}
        for n, (warehouse, lines) in enumerate(rest, first)
    ]


def units_to_pack(
    reserved_units: UnitsByWarehouse, parcels: Iterable[Parcel]
) -> dict[str, dict[int, int]]:
    """Return the units to pack, by warehouse and line. Warehouses and lines without units to pack are left out."""
    packed = packed_units(parcels)
    # Backordered units are in no real warehouse, so they cannot be packed.
    rest = {
        warehouse: {
            line: count - packed.get(warehouse, {}).get(line, 0) for line, count in lines.items()
        }
        for warehouse, lines in reserved_units.items()
        if warehouse != BACKORDER_WAREHOUSE
    }
    some = {
        warehouse: {line: count for line, count in lines.items() if count > 0}
        for warehouse, lines in rest.items()
    }
    return {warehouse: lines for warehouse, lines in some.items() if lines}


def sent_units(parcels: Iterable[Parcel]) -> dict[str, dict[int, int]]:
    """Return the sent units, by warehouse and line."""
    return _units_by_warehouse(each for each in parcels if each.is_sent)


def delivered_units(parcels: Iterable[Parcel]) -> dict[str, dict[int, int]]:
    """Return the delivered units, by warehouse and line."""
    return _units_by_warehouse(each for each in parcels if each.state == DELIVERED)


def packed_units(parcels: Iterable[Parcel]) -> dict[str, dict[int, int]]:
    """Return the units in parcels, packed or sent, by warehouse and line."""
    return _units_by_warehouse(each for each in parcels if each.state != CANCELLED)


def units_by_line(units: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    """Return the units of each line, added up over all warehouses."""
    found: dict[int, int] = {}
    for lines in units.values():
        for line, count in lines.items():
            found[line] = found.get(line, 0) + count
    return found


def _units_by_warehouse(parcels: Iterable[Parcel]) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for parcel in parcels:
        warehouse_lines = found.setdefault(parcel.warehouse, {})
        for line, count in parcel.lines.items():
            warehouse_lines[line] = warehouse_lines.get(line, 0) + count
    return found


def fulfilment_status(reserved_units: UnitsByWarehouse, parcels: Sequence[Parcel]) -> str:
    """Return an order's fulfilment: unfulfilled, partially_shipped, shipped, delivered."""
    wanted = sum(sum(lines.values()) for lines in reserved_units.values())
    sent = sum(each.count for each in parcels if each.is_sent)
    if not sent:
        return "unfulfilled"
    if sent < wanted:
        return "partially_shipped"
    over = not any(each.is_under_way for each in parcels) and any(
        each.state == DELIVERED for each in parcels
    )
    return "delivered" if over else "shipped"


def parcel_problem(
    event: Event, parcels: Sequence[Parcel], reserved_units: UnitsByWarehouse
) -> str:
    """Return the reason why these parcels do not allow an event, as a text to show; '' if they allow it."""
    if event.kind == "packed":
        planned, rest = (
            plan_packing(event.details, parcels, reserved_units),
            units_to_pack(reserved_units, parcels),
        )
        if not planned or not all(parse_line_units(each["lines"]) for each in planned):
            return _("there is nothing to pack")
        known = {each.parcel_id for each in parcels}
        for each in planned:
            available = rest.get(each["warehouse"], {})
            if each["parcel"] in known or any(
                count < 0 or count > available.get(line, 0)
                for line, count in parse_line_units(each["lines"]).items()
            ):
                return _("there aren’t that many left to pack")
            known.add(each["parcel"])
        return ""
    parcel_id = event.details.get("parcel")
    if parcel_id is None and event.kind != TRACKED:
        is_there = any(each.state == STEPS[event.kind][0] for each in parcels)
        if event.kind == "shipped" and not is_there and not units_to_pack(reserved_units, parcels):
            return _("there is nothing to ship")
        return ""
    found = next((each for each in parcels if each.parcel_id == parcel_id), None)
    if found is None:
        return _("it has no parcel %(number)s") % {"number": parcel_id}
    if found.is_sent if event.kind == TRACKED else found.state == STEPS[event.kind][0]:
        return ""
    return _("parcel %(number)s is %(state)s") % {"number": parcel_id, "state": found.state}
