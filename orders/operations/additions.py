"""Notes in an order's history about later orders that add to it (decision 058)."""

from cassandra.util import uuid_from_time

from cassandra_db import applied_if, apply_batch
from orders import queries
from orders.lifecycle.entities import Order
from orders.operations.transitions import event_statement, make_event

_NODE_BITS = 48


def note_addition(order: Order) -> None:
    """Add a note for staff about this order to the history of the order that it adds to. Raises CassandraUnavailable."""
    if not order.added_to:
        return
    first = queries.get_order_by_number(order.added_to)
    if first is None or any(
        each.details.get("added_order") == order.number for each in first.events
    ):
        return
    # The event's id is derived from this order, so that concurrent writers write one note.
    event_id = uuid_from_time(order.placed_at, node=order.order_id.int % 2**_NODE_BITS, clock_seq=0)
    event = make_event(
        event_id, "note", actor="system", public=False, details={"added_order": order.number}
    )
    apply_batch(
        event_statement(first.order_id, event, first.state),
        if_lost=applied_if(lambda row: row.event_id == event_id),
    )
