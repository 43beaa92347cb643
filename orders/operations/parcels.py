"""What happens to an order's parcels: one event each, guarded like all events of an order.

`order` is the order as it was read. All of them raise TransitionRefused when that cannot happen to it, OrderChanged when another
write was faster, CassandraUnavailable; times are in UTC.
"""

from collections.abc import Mapping
from datetime import datetime

from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.parcels import TRACKED
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_order
from orders.operations.tracking_numbers import release_unused_numbers, take_tracking_number
from orders.operations.transitions import check_transition


def pack_parcel(
    order: Order,
    warehouse: str,
    lines: Mapping[int, int],
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> Order:
    """Pack units of lines, by line number, into a new parcel in a warehouse; return the order with it as its last one."""
    details = {
        "parcel": str(len(order.parcels()) + 1),
        "warehouse": warehouse,
        "lines": {line: units for line, units in lines.items() if units},
    }
    return transition_order(
        order, Transition("packed", actor=actor, at=now, note=note, details=details)
    )


def ship_parcel(
    order: Order,
    parcel_id: str,
    carrier: str = "",
    tracking: str = "",
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> Order:
    """Ship a packed parcel; return the order. `tracking` is the carrier's number for it, '' if it has none.

    Raises TrackingNumberTaken, too.
    """
    details = {
        "parcel": parcel_id,
        "carrier": carrier or order.method.carrier,
        "tracking": tracking,
    }
    return transition_with_number(
        order, Transition("shipped", actor=actor, at=now, note=note, details=details)
    )


def correct_tracking(
    order: Order,
    parcel_id: str,
    carrier: str,
    tracking: str,
    *,
    actor: str,
    now: datetime,
    has_mail: bool = False,
) -> Order:
    """Give a parcel that was sent another carrier and number; return the order. The former number is free then (effects).

    `tracking` is '' for a parcel without a number. With `has_mail` its buyer is mailed the number. Raises TrackingNumberTaken, too.
    """
    details = {
        "parcel": parcel_id,
        "carrier": carrier or order.method.carrier,
        "tracking": tracking,
        "mail": has_mail,
    }
    return transition_with_number(order, Transition(TRACKED, actor=actor, at=now, details=details))


def transition_with_number(order: Order, transition: Transition) -> Order:
    """Apply a transition whose details may have a tracking number, which is taken before; return the order.

    A transition that is refused takes none, and one that loses against another write gives it back. What a process that dies in
    between leaves taken, the consistency check gives back (I32). Raises TrackingNumberTaken, too.
    """
    tracking = transition.details.get("tracking")
    if not tracking:
        return transition_order(order, transition)
    check_transition(order, transition)
    take_tracking_number(tracking, order)
    try:
        return transition_order(order, transition)
    except OrderChanged as stale:
        release_unused_numbers(stale.order, [tracking])
        raise


def mark_parcel_delivered(
    order: Order, parcel_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Record that a parcel has arrived; return the order."""
    return transition_order(
        order,
        Transition("delivered", actor=actor, at=now, note=note, details={"parcel": parcel_id}),
    )


def mark_parcel_lost(
    order: Order, parcel_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Record that a parcel was lost on its way; return the order. Its units stay sent; what is owed for them is refunded."""
    return transition_order(
        order, Transition("lost", actor=actor, at=now, note=note, details={"parcel": parcel_id})
    )


def unpack_parcel(
    order: Order, parcel_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Unpack a parcel that has not been shipped; return the order, whose units are to be packed again."""
    return transition_order(
        order, Transition("unpacked", actor=actor, at=now, note=note, details={"parcel": parcel_id})
    )
