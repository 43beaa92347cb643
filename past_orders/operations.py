"""Write past orders: store them, assign them to the member who proves their address, and delete them.

The order's row is written first, conditionally, then the rows by which it is found. An import repeats both until it has noted
that they are written.
"""

from dataclasses import replace
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    Row,
    conditional_write,
    current_microseconds,
    write,
    write_batch,
)
from mail.addresses import email_key
from past_orders import queries
from past_orders.entities import EMAIL, MEMBER, PastOrder, find_head

# The most past orders of an e-mail address.
MAX_ORDERS = 2_000
INSERT_ORDER = conditional_write(
    "Q32",
    """INSERT INTO past_orders (order_id, user_id, shop, number, placed_at, email, name, address, status, currency, total, lines)
       VALUES (:order_id, :user_id, :shop, :number, :placed_at, :email, :name, :address, :status, :currency, :total, :lines)
       IF NOT EXISTS""",
)
SET_OWNER = conditional_write(
    "Q32",
    "UPDATE past_orders SET user_id = :user_id WHERE order_id = :order_id IF user_id = null AND email = :email",
)
DELETE_ORDER = conditional_write(
    "Q32", "DELETE FROM past_orders WHERE order_id = :order_id IF EXISTS"
)
INSERT_TERM = write(
    "Q32",
    """INSERT INTO past_orders_by_term (kind, head, term, placed_at, order_id)
       VALUES (:kind, :head, :term, :placed_at, :order_id) USING TIMESTAMP :at""",
)
DELETE_TERM = write(
    "Q32",
    """DELETE FROM past_orders_by_term USING TIMESTAMP :at
       WHERE kind = :kind AND head = :head AND term = :term AND placed_at = :placed_at AND order_id = :order_id""",
)


def has_same_content(stored: PastOrder | None, order: PastOrder) -> bool:
    """Return whether a stored order is this one, whoever owns it."""
    return stored is not None and replace(stored, user_id=order.user_id) == order


def save_past_order(order: PastOrder) -> bool:
    """Store a past order with its terms; return False if its id has another content. A second call changes nothing.

    Raises CassandraUnavailable.
    """
    INSERT_ORDER.apply(if_lost=SEND_AGAIN, **order.columns())
    if not has_same_content(queries.get_past_order(order.order_id), order):
        return False
    write_terms(order.order_id)
    return True


def is_mailbox_full(email: str) -> bool:
    """Return whether an e-mail address has as many past orders as it may have. Raises CassandraUnavailable."""
    rows = queries.prefetch_order_ids(EMAIL, email_key(email), MAX_ORDERS).rows()
    return len(rows) == MAX_ORDERS


def write_terms(order_id: UUID) -> None:
    """Write the rows by which an order is found. A second call changes nothing. Raises CassandraUnavailable."""
    at = current_microseconds()
    order = queries.get_past_order(order_id)
    if order is None:
        return
    key = {"placed_at": order.placed_at, "order_id": order_id, "at": at}
    write_batch(
        [
            INSERT_TERM.bind(kind=kind, head=find_head(kind, term), term=term, **key)
            for kind, term in order.iterate_terms()
        ]
    )


def delete_term(row: Row) -> None:
    """Delete a row that leads to no order. Only the consistency check uses this. Raises CassandraUnavailable."""
    key = {name: getattr(row, name) for name in ("kind", "head", "term", "placed_at", "order_id")}
    DELETE_TERM.run(at=current_microseconds(), **key)


def claim_past_orders(user_id: UUID, email: str) -> None:
    """Assign the past orders with an e-mail address to the member who has proved it. Raises CassandraUnavailable.

    Orders of other members stay as they are. A second call writes nothing, since it follows each sign-in.
    """
    key = email_key(email)
    with_address = queries.prefetch_order_ids(EMAIL, key, MAX_ORDERS)
    own = queries.prefetch_order_ids(MEMBER, user_id.hex, MAX_ORDERS)
    claimed = {row.order_id for row in own.rows()}
    for row in with_address.rows():
        # The member's row is the last thing that a claim writes.
        if row.order_id not in claimed:
            claim_past_order(row.order_id, user_id, key)


def claim_past_order(order_id: UUID, user_id: UUID, email: str) -> None:
    """Assign one past order as `claim_past_orders` does; `email` is the address's key. Raises CassandraUnavailable."""
    SET_OWNER.apply(if_lost=SEND_AGAIN, order_id=order_id, user_id=user_id, email=email)
    write_terms(order_id)


def delete_past_orders(user_id: UUID) -> None:
    """Delete a member's past orders. Raises CassandraUnavailable."""
    while rows := queries.prefetch_order_ids(MEMBER, user_id.hex, queries.PAGE_LENGTH).rows():
        for row in rows:
            at, order = current_microseconds(), queries.get_past_order(row.order_id)
            terms = list(order.iterate_terms()) if order and order.user_id == user_id else []
            key = {"placed_at": row.placed_at, "order_id": row.order_id, "at": at}
            others = [each for each in terms if each[0] != MEMBER]
            if others:
                write_batch(
                    [
                        DELETE_TERM.bind(kind=kind, head=find_head(kind, term), term=term, **key)
                        for kind, term in others
                    ]
                )
                DELETE_ORDER.apply(if_lost=SEND_AGAIN, order_id=row.order_id)
            # The member's row leads to the order, so it goes last.
            DELETE_TERM.run(kind=MEMBER, head=user_id.hex, term=user_id.hex, **key)
