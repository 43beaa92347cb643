"""What staff do to orders, from a page that may be old."""

from datetime import datetime

from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.transitions import Transition


def apply_staff_transition(
    order: Order, kind: str, *, seen_version: int, actor: str, note: str, now: datetime
) -> Order:
    """Let something happen to the order if it still is what the page showed; return what it is then. `now` is in UTC.

    Raises OrderChanged when another change was faster, TransitionRefused when its state does not allow it, CassandraUnavailable.
    """
    if order.version != seen_version:
        raise OrderChanged(order)
    return operations.transition_order(order, Transition(kind, actor=actor, note=note, at=now))
