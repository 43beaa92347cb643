"""Erasing a person's carts: first their sharing, then the whole carts."""

from contextlib import suppress
from datetime import datetime
from uuid import UUID

from cart import queries
from cart.errors import CartBusy
from cart.operations.carts import MARK_DELETED, MAX_ATTEMPTS, remove_cart_from_list
from cart.operations.sharing import end_sharing, leave_cart
from cassandra_db import (
    RAISE_UNKNOWN,
    REFUSED_MEANS_DONE,
    UnknownOutcome,
    apply_batch,
    conditional_write,
    retry_attempts,
)

DELETE_SUMS = conditional_write(
    "Q9",
    """DELETE version, line_count, item_count, subtotal, currency, changed_at, later_count, owner_id, guest, deleted_at,
              checkout_id, checkout_number, voucher_code
       FROM items_by_cart WHERE cart_id = :cart_id IF version = :seen""",
)
DELETE_ITEMS = conditional_write("Q9", "DELETE FROM items_by_cart WHERE cart_id = :cart_id")
DELETE_ACTIVE_CART = conditional_write(
    "K1",
    "DELETE active_cart_id, cart_count FROM carts_by_user WHERE owner_id = :owner_id IF cart_count = :seen",
)
DELETE_CARTS = conditional_write("K1", "DELETE FROM carts_by_user WHERE owner_id = :owner_id")


def erase_carts(person_id: UUID, now: datetime) -> None:
    """Leave all shared carts, and remove the person's own carts with their contents.

    A cart is removed from the list last, so that a second call finds it. `now` is in UTC. Raises CartBusy, CassandraUnavailable.
    """
    for row in [row for row in queries.CARTS.all(owner_id=person_id) if row.cart_id is not None]:
        if row.role:
            leave_cart(person_id, row.cart_id)
        else:
            # The cart is marked as deleted first, so that a running add is refused instead of beginning the cart again.
            MARK_DELETED.apply(
                if_lost=REFUSED_MEANS_DONE, cart_id=row.cart_id, owner_id=person_id, now=now
            )
            end_sharing(row.cart_id)
            purge_cart(row.cart_id)
            remove_cart_from_list(person_id, row.cart_id)
    _remove_cart_list(person_id)


def purge_cart(cart_id: UUID) -> None:
    """Remove a cart: lines, saved lines, sums. Raises CartBusy, CassandraUnavailable."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        seen = getattr(queries.SUMS.one(cart_id=cart_id), "version", None)
        if seen is None:
            return
        with suppress(UnknownOutcome):
            apply_batch(
                DELETE_SUMS.bind(cart_id=cart_id, seen=seen),
                DELETE_ITEMS.bind(cart_id=cart_id),
                if_lost=RAISE_UNKNOWN,
            )
    raise CartBusy


def _remove_cart_list(person_id: UUID) -> None:
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = queries.CARTS.all(owner_id=person_id)
        if not rows:
            return
        if any(row.cart_id is not None for row in rows):
            raise CartBusy  # lines were added since; this is impossible after the person's sessions have ended
        seen = rows[0].cart_count
        with suppress(UnknownOutcome):
            apply_batch(
                DELETE_ACTIVE_CART.bind(owner_id=person_id, seen=seen),
                DELETE_CARTS.bind(owner_id=person_id),
                if_lost=RAISE_UNKNOWN,
            )
    raise CartBusy
