"""The events of an order's parcels.

`order` is the order as it was read, `now` is in UTC. Each function returns the order after the event. They raise TransitionRefused
if the order does not allow the event, OrderChanged if another write was faster, and CassandraUnavailable.
"""

from collections.abc import Mapping
from datetime import datetime

from orders.carriers import choose_carrier
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
    carrier: str = "",
    tracking: str = "",
    *,
    actor: str,
    now: datetime,
) -> Order:
    """Pack units, by line number, into a new parcel in a warehouse. In the returned order, the new parcel is the last one.

    Its carrier and tracking number stay when it is shipped, unless others are given. Also raises TrackingNumberTaken.
    """
    details = {
        "parcel": str(len(order.parcels()) + 1),
        "warehouse": warehouse,
        "lines": {line: units for line, units in lines.items() if units},
    }
    if tracking:
        details |= {"carrier": choose_carrier(order, carrier, tracking), "tracking": tracking}
    return transition_with_number(order, Transition("packed", actor=actor, at=now, details=details))


def ship_order(
    order: Order, carrier: str = "", tracking: str = "", *, actor: str, now: datetime
) -> Order:
    """Ship all packed parcels of an order; if there are none, all units to pack. Also raises TrackingNumberTaken."""
    details = {"carrier": choose_carrier(order, carrier, tracking), "tracking": tracking}
    return _ship(order, details, actor, now)


def ship_parcel(
    order: Order,
    parcel_id: str,
    carrier: str = "",
    tracking: str = "",
    *,
    actor: str,
    now: datetime,
) -> Order:
    """Ship a packed parcel. `tracking` is the carrier's number for it, '' for none. Also raises TrackingNumberTaken."""
    details = {
        "parcel": parcel_id,
        "carrier": choose_carrier(order, carrier, tracking),
        "tracking": tracking,
    }
    return _ship(order, details, actor, now)


def _ship(order: Order, details: Mapping[str, str], actor: str, now: datetime) -> Order:
    return transition_with_number(
        order, Transition("shipped", actor=actor, at=now, details=details)
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
    """Give a sent parcel another carrier and number ('' for none); the effects free its old number.

    With `has_mail` the buyer is mailed the new number. Also raises TrackingNumberTaken.
    """
    details = {
        "parcel": parcel_id,
        "carrier": choose_carrier(order, carrier, tracking),
        "tracking": tracking,
        "mail": has_mail,
    }
    return transition_with_number(order, Transition(TRACKED, actor=actor, at=now, details=details))


def transition_with_number(order: Order, transition: Transition) -> Order:
    """Apply a transition, and first take the tracking number in its details, if there is one.

    A refused transition takes no number. If another write is faster, the number is given back; after a crash, the consistency
    check does that (I32). Also raises TrackingNumberTaken.
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


def mark_parcel_delivered(order: Order, parcel_id: str, *, actor: str, now: datetime) -> Order:
    """Record that a parcel has arrived."""
    return _transition_parcel(order, "delivered", parcel_id, actor, now)


def mark_parcel_lost(order: Order, parcel_id: str, *, actor: str, now: datetime) -> Order:
    """Record that a parcel was lost. Its units still count as sent; staff refund them."""
    return _transition_parcel(order, "lost", parcel_id, actor, now)


def unpack_parcel(order: Order, parcel_id: str, *, actor: str, now: datetime) -> Order:
    """Unpack a parcel that has not been shipped; its units are to be packed again."""
    return _transition_parcel(order, "unpacked", parcel_id, actor, now)


def _transition_parcel(order: Order, kind: str, parcel_id: str, actor: str, now: datetime) -> Order:
    details = {"parcel": parcel_id}
    return transition_order(order, Transition(kind, actor=actor, at=now, details=details))
