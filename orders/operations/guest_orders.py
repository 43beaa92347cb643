"""Assigning guest orders to the member who has proved their e-mail address."""

from uuid import UUID

from cassandra_db import applied_if, conditional_write
from mail.addresses import email_key
from orders import queries
from orders.operations.copies import write_copies
from orders.operations.pending_effects import record_pending_effects

# The version and the history stay: this is no event of the order.
SET_OWNER = conditional_write(
    "Q12",
    "UPDATE orders SET user_id = :user_id WHERE order_id = :order_id IF user_id = null AND email = :email",
)


def claim_guest_orders(user_id: UUID, email: str) -> int:
    """Assign the guest orders with an e-mail address to the member who has proved it. Return the number of assigned orders.

    Orders of other members and unproved orders stay as they are. A second call changes nothing.
    Raises CassandraUnavailable.
    """
    claimed = 0
    for order_id in queries.list_order_ids_by_email(email):
        order = queries.get_order(order_id)
        if order is None or order.user_id is not None or email_key(order.email) != email_key(email):
            continue
        if order.is_unproved:
            continue
        # The pending effect is not cleared: a concurrent event may write stale copies, so the worker writes the copies again.
        record_pending_effects(order_id)
        if SET_OWNER.apply(
            if_lost=applied_if(lambda row: bool(row.user_id == user_id)),
            order_id=order_id,
            user_id=user_id,
            email=order.email,
        ):
            claimed += 1
        if fresh := queries.get_order(order_id):
            write_copies(fresh)
    return claimed
