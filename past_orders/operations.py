"""Write past orders: store them, assign them to the member who proves their address, and delete them.

An order's row changes first, conditionally, then the row by which its owner finds it. Whoever is killed in between repeats both.
"""

from datetime import datetime
from uuid import UUID

from cassandra_db import SEND_AGAIN, conditional_write, current_microseconds, write
from mail.addresses import email_key
from past_orders import queries
from past_orders.entities import PastOrder

INSERT_ORDER = conditional_write(
    "Q32",
    """INSERT INTO past_orders (number, placed_at, email, name, address, status, currency, total, lines)
       VALUES (:number, :placed_at, :email, :name, :address, :status, :currency, :total, :lines) IF NOT EXISTS""",
)
SET_MEMBER = conditional_write(
    "Q32",
    "UPDATE past_orders SET user_id = :user_id WHERE number = :number IF user_id = null AND email = :email",
)
DELETE_ORDER = conditional_write(
    "Q32", "DELETE FROM past_orders WHERE number = :number IF user_id = :user_id"
)
INSERT_OWNED = write(
    "Q32",
    """INSERT INTO past_orders_by_owner (owner, placed_at, number) VALUES (:owner, :placed_at, :number)
       USING TIMESTAMP :at""",
)
DELETE_OWNED = write(
    "Q32",
    """DELETE FROM past_orders_by_owner USING TIMESTAMP :at
       WHERE owner = :owner AND placed_at = :placed_at AND number = :number""",
)


def save_past_order(order: PastOrder) -> bool:
    """Store a past order. Return False if another order has its number. A second call changes nothing.

    Raises CassandraUnavailable.
    """
    INSERT_ORDER.apply(if_lost=SEND_AGAIN, **order.columns())
    if queries.get_past_order(order.number) != order:
        return False
    refresh_owner(order.email, order.placed_at, order.number)
    return True


def refresh_owner(owner: str, placed_at: datetime, number: str) -> None:
    """Let an order's owner find the order, by its day, and nobody else by this row. Raises CassandraUnavailable."""
    at, order = current_microseconds(), queries.get_past_order(number)
    if order:
        INSERT_OWNED.run(owner=order.owner, placed_at=order.placed_at, number=number, at=at)
    if order is None or (order.owner, order.placed_at) != (owner, placed_at):
        DELETE_OWNED.run(owner=owner, placed_at=placed_at, number=number, at=at)


def claim_past_orders(user_id: UUID, email: str) -> None:
    """Assign the past orders with an e-mail address to the member who has proved it; those of other members stay theirs.

    A second call changes nothing. Raises CassandraUnavailable.
    """
    for row in queries.prefetch_owned(email_key(email)).rows():
        SET_MEMBER.apply(if_lost=SEND_AGAIN, number=row.number, user_id=user_id, email=row.owner)
        refresh_owner(*row)


def delete_past_orders(user_id: UUID) -> None:
    """Delete a member's past orders. Raises CassandraUnavailable."""
    while rows := queries.prefetch_owned(user_id.hex).rows():
        for row in rows:
            DELETE_ORDER.apply(if_lost=SEND_AGAIN, number=row.number, user_id=user_id)
            refresh_owner(*row)
