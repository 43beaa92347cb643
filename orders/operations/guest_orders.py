"""Orders placed as a guest become a member's, once the member has proved the e-mail address they were placed with."""

from uuid import UUID

from cassandra_db import applied_if, conditional_write
from mail.addresses import email_key
from orders import queries
from orders.operations.copies import write_copies
from orders.operations.pending_effects import record_pending_effects

# Neither the version nor the history change: nothing has happened to the order.
SET_OWNER = conditional_write(
    "Q12",
    "UPDATE orders SET user_id = :user_id WHERE order_id = :order_id IF user_id = null AND email = :email",
)


def claim_guest_orders(user_id: UUID, email: str) -> int:
    """Assign a guest's orders to the member who has proved their e-mail address; return how many.

    An order that has a member already stays theirs, and one that anybody may have placed with the address
    (Order.is_unproved) is nobody's. A second call finds nothing to do. Raises CassandraUnavailable.
    """
    claimed = 0
    for order_id in queries.list_order_ids_by_email(email):
        order = queries.get_order(order_id)
        if order is None or order.user_id is not None or email_key(order.email) != email_key(email):
            continue
        if order.is_unproved:
            continue
        # It is not cleared: an event that happens meanwhile to the order of before leaves the rest to the worker.
        record_pending_effects(order_id)
        if SET_OWNER.apply(
            if_lost=applied_if(lambda row: bool(row.user_id == user_id)),
            order_id=order_id,
            user_id=user_id,
            email=order.email,
        ):
            claimed += 1
        # As it is now: an event may have happened meanwhile.
        if fresh := queries.get_order(order_id):
            write_copies(fresh)
    return claimed
