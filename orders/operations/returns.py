"""Returns of an order, and decisions about refunds: one event each, guarded like all events of an order.

`order` is the order as it was read. All of them raise TransitionRefused when that cannot happen to it, OrderChanged when another
write was faster, CassandraUnavailable; times are in UTC.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import uuid5

from django.utils.translation import gettext as _
from moneyed import Money

from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.returns import has_all_units
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_order
from pricing.money import to_minor_units


def request_return(
    order: Order,
    lines: Mapping[int, int],
    reason: str,
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> Order:
    """Ask to send units back, by line number; return the order with the return as its last one.

    Delivered units may be sent back for the order's `return_days`, and once.
    """
    wanted = {line: units for line, units in lines.items() if units}
    if not has_all_units(wanted, order.returnable_units(now)):
        raise TransitionRefused(order, "return_requested", _("that many can’t be returned"))
    details = {"return": str(len(order.returns) + 1), "lines": wanted, "reason": reason}
    return transition_order(
        order, Transition("return_requested", actor=actor, at=now, note=note, details=details)
    )


def approve_return(
    order: Order, return_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Agree to a return; return the order."""
    return transition_order(
        order,
        Transition(
            "return_approved", actor=actor, at=now, note=note, details={"return": return_id}
        ),
    )


def reject_return(order: Order, return_id: str, *, actor: str, now: datetime, note: str) -> Order:
    """Refuse a return; `note` says why, in words for the shopper. Return the order."""
    return transition_order(
        order,
        Transition(
            "return_rejected", actor=actor, at=now, note=note, details={"return": return_id}
        ),
    )


def receive_return(
    order: Order,
    return_id: str,
    restock: Mapping[int, int],
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> Order:
    """Record that a return has arrived, and how many units of each line are restocked; return the order."""
    details = {
        "return": return_id,
        "restock": {line: units for line, units in restock.items() if units},
    }
    return transition_order(
        order, Transition("return_received", actor=actor, at=now, note=note, details=details)
    )


def close_return(order: Order, return_id: str, *, actor: str, now: datetime, note: str) -> Order:
    """End a return that has arrived, without a refund; `note` says why, in words for the shopper. Return the order."""
    return transition_order(
        order,
        Transition("return_closed", actor=actor, at=now, note=note, details={"return": return_id}),
    )


def decide_refund(
    order: Order,
    amount: Money,
    lines: Mapping[int, int],
    reason: str,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    return_id: str = "",
    delivery: bool = False,
) -> Order:
    """Decide a refund, for these units of lines or, without any, for the order; return the order.

    It goes back the way it came, now or when the gateway can be reached again. Together with earlier refunds it is
    never more than what was captured. `return_id` is the return that it is for; `delivery` says whether it includes
    what was paid for the delivery.
    """
    details: dict[str, object] = {
        "refund": str(uuid5(order.order_id, f"refund {order.version}")),
        "amount": to_minor_units(amount),
        "lines": {line: units for line, units in lines.items() if units},
        "reason": reason,
    }
    if return_id:
        details["return"] = return_id
    if delivery:
        details["delivery"] = True
    return transition_order(
        order, Transition("refund_owed", actor=actor, at=now, note=note, details=details)
    )
