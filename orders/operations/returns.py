"""The events of an order's returns, and decisions about refunds.

`order` is the order as it was read, `now` is in UTC. Each function returns the order after the event. They raise TransitionRefused
if the order does not allow the event, OrderChanged if another write was faster, and CassandraUnavailable.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
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
    order: Order, lines: Mapping[int, int], reason: str, *, actor: str, now: datetime
) -> Order:
    """Request a return of units by line number. In the returned order, the new return is the last one.

    Delivered units can be returned once, within the order's `return_days`.
    """
    wanted = {line: units for line, units in lines.items() if units}
    if not has_all_units(wanted, order.returnable_units(now)):
        raise TransitionRefused(order, "return_requested", _("that many can’t be returned"))
    details = {"return": str(len(order.returns) + 1), "lines": wanted, "reason": reason}
    return transition_order(
        order, Transition("return_requested", actor=actor, at=now, details=details)
    )


def approve_return(
    order: Order, return_id: str, *, actor: str, now: datetime, note: str = ""
) -> Order:
    """Approve a return."""
    return _transition_return(order, "return_approved", return_id, actor, now, note)


def reject_return(order: Order, return_id: str, *, actor: str, now: datetime, note: str) -> Order:
    """Reject a return; `note` tells the shopper why."""
    return _transition_return(order, "return_rejected", return_id, actor, now, note)


def receive_return(
    order: Order, return_id: str, restock: Mapping[int, int], *, actor: str, now: datetime
) -> Order:
    """Record that a return has arrived, and how many units of each line are restocked."""
    details = {
        "return": return_id,
        "restock": {line: units for line, units in restock.items() if units},
    }
    return transition_order(
        order, Transition("return_received", actor=actor, at=now, details=details)
    )


def close_return(order: Order, return_id: str, *, actor: str, now: datetime, note: str) -> Order:
    """Close a return that has arrived, without a refund; `note` tells the shopper why."""
    return _transition_return(order, "return_closed", return_id, actor, now, note)


def _transition_return(
    order: Order, kind: str, return_id: str, actor: str, now: datetime, note: str
) -> Order:
    details = {"return": return_id}
    return transition_order(
        order, Transition(kind, actor=actor, at=now, note=note, details=details)
    )


def decide_refund(
    order: Order,
    amount: Money,
    lines: Mapping[int, int],
    reason: str,
    *,
    actor: str,
    now: datetime,
    return_id: str = "",
    more: Mapping[str, Any] | None = None,
) -> Order:
    """Decide a refund. `lines` maps line numbers to the refunded units; without lines, the refund is for the whole order.

    The effects send refunds of a gateway's payments; staff send others. All refunds together never exceed the captured amount.
    `return_id` names the refunded return. `more` are further details: `delivery` (true: it includes the delivery costs), and
    `restock`, the delivered units by line that go back into stock without a return.
    """
    details: dict[str, object] = {
        "refund": str(uuid5(order.order_id, f"refund {order.version}")),
        "amount": to_minor_units(amount),
        "lines": {line: units for line, units in lines.items() if units},
        "reason": reason,
        **{name: value for name, value in (more or {}).items() if value},
    }
    if return_id:
        details["return"] = return_id
    return transition_order(order, Transition("refund_owed", actor=actor, at=now, details=details))
