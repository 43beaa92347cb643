"""What staff do to orders, from a page that may be old."""

from datetime import datetime, timedelta

from orders import operations
from orders.entities import Order
from orders.errors import StaleOrder
from orders.transitions import Transition

# The same note by the same person within this time is a second click on the button, not a second note.
DOUBLE_SUBMIT_WINDOW = timedelta(minutes=1)


def transition_order(
    order: Order, kind: str, *, seen_version: int, actor: str, note: str, now: datetime
) -> Order:
    """Let something happen to the order if it still is what the page showed; return what it is then. `now` is in UTC.

    Raises StaleOrder when another change was faster, TransitionRefused when its state does not allow it, CassandraUnavailable.
    """
    if order.version != seen_version:
        raise StaleOrder(order)
    return operations.transition_order(order, Transition(kind, actor=actor, note=note, at=now))


def add_staff_note(order: Order, text: str, *, actor: str, now: datetime) -> Order:
    """Write a note among the staff into the order's history, once however often the button was clicked.

    `now` is in UTC. Raises CassandraUnavailable.
    """
    submitted_twice = any(
        event.kind == "note"
        and event.actor == actor
        and event.note == text
        and now - event.at < DOUBLE_SUBMIT_WINDOW
        for event in order.events
    )
    return order if submitted_twice else operations.add_note(order, text, actor=actor, now=now)
