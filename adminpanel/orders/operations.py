"""Transitions of orders by staff, whose page may be stale."""

from datetime import datetime

from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.transitions import Transition


def apply_staff_transition(
    order: Order, kind: str, *, seen_version: int, actor: str, note: str, now: datetime
) -> Order:
    """Apply a transition if the order still has the version that the page showed; return the changed order. `now` is in UTC.

    Raises OrderChanged if it has another version, TransitionRefused if its state does not allow it, CassandraUnavailable.
    """
    if order.version != seen_version:
        raise OrderChanged(order)
    return operations.transition_order(order, Transition(kind, actor=actor, note=note, at=now))
