"""Removing stale carts: deleted ones after a day, guests' ones a month after their last change.

Lines have no TTL (fault 17): a TTL counts per cell, so lines would vanish from a cart in use. One batch removes a whole cart
if it still has the version that was read. So an add at the same moment keeps the cart.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from cart import queries
from cart.operations.carts import NEVER, UNMARK_DELETED, remove_cart_from_list
from cart.operations.erasure import DELETE_ITEMS, DELETE_SUMS
from cart.operations.sharing import end_sharing
from cart.operations.transfers import MARK_DELETED_AT_VERSION
from cassandra_db import (
    RAISE_UNKNOWN,
    SEND_AGAIN,
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    scan,
)

DELETED_FOR = timedelta(hours=25)  # one hour more than the time in which a deletion can be undone
GUESTS_FOR = timedelta(days=30)
ALL_CARTS = scan(
    "tidying",
    """SELECT DISTINCT cart_id, version, changed_at, owner_id, guest, deleted_at FROM items_by_cart
       WHERE token(cart_id) > :start AND token(cart_id) <= :end""",
)
ALL_OWNERS = scan(
    "tidying",
    """SELECT DISTINCT owner_id, cart_count FROM carts_by_user
       WHERE token(owner_id) > :start AND token(owner_id) <= :end""",
)
DELETE_OWNER = conditional_write(
    "tidying",
    "DELETE active_cart_id, cart_count FROM carts_by_user WHERE owner_id = :owner_id IF cart_count = 0",
)


def iterate_stale_carts(now: datetime) -> Iterator[Row]:
    """Yield the rows of carts that were deleted more than 25 hours ago, and of guests' carts unchanged for 30 days. Reads all carts."""
    for row in ALL_CARTS.iterate_table():
        if row.version is None:
            continue
        if row.deleted_at is not None:
            if row.deleted_at < now - DELETED_FOR:
                yield row
        elif row.guest and row.changed_at is not None and row.changed_at < now - GUESTS_FOR:
            yield row


def remove_stale_cart(cart: Row, now: datetime) -> bool:
    """Remove a cart that `iterate_stale_carts` has found; return whether it is removed.

    If a deleted cart is on its owner's list, its restoration was interrupted: the cart is restored. Raises CartBusy,
    CassandraUnavailable.
    """
    if (
        cart.deleted_at is not None
        and cart.owner_id
        and queries.get_listed_cart_row(cart.owner_id, cart.cart_id)
    ):
        UNMARK_DELETED.apply(
            if_lost=applied_if(lambda row: row.deleted_at is None),
            cart_id=cart.cart_id,
            owner_id=cart.owner_id,
            never=NEVER,
            now=now,
        )
        return False
    seen = cart.version
    if cart.deleted_at is None:
        # The cart is marked and unlisted first: an add that has just read the list goes to another cart, instead of
        # beginning this cart again without a list entry.
        marked = MARK_DELETED_AT_VERSION.bind(
            cart_id=cart.cart_id, seen=seen, version=seen + 1, owner_id=cart.owner_id, now=now
        )
        if not apply_batch(marked, if_lost=RAISE_UNKNOWN):
            return False
        seen += 1
        if cart.owner_id:
            remove_cart_from_list(cart.owner_id, cart.cart_id)
    removed = apply_batch(
        DELETE_SUMS.bind(cart_id=cart.cart_id, seen=seen),
        DELETE_ITEMS.bind(cart_id=cart.cart_id),
        if_lost=applied_if(lambda row: getattr(row, "version", None) is None),
    )
    if not removed:
        return False
    end_sharing(cart.cart_id)
    return True


def remove_empty_owners() -> int:
    """Remove the lists of owners without carts; return their number. Reads all lists of carts."""
    empty = [row.owner_id for row in ALL_OWNERS.iterate_table() if row.cart_count == 0]
    return sum(
        bool(DELETE_OWNER.apply(if_lost=SEND_AGAIN, owner_id=owner_id)) for owner_id in empty
    )
