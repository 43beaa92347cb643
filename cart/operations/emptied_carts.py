"""Empties a cart, and restores its lines within a day."""

from datetime import datetime
from uuid import UUID, uuid5

from cassandra.query import BoundStatement

from cart.access import EDIT, require_access
from cart.errors import UndoExpired
from cart.operations.contents import DAY, CartChange, change_contents, get_idempotency_row
from cart.undo import Undo
from cassandra_db import Row, conditional_write, read
from pricing.quotes import snapshot_columns

DELETE_LINES = conditional_write(
    "U1", "DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line'"
)
UNDO_ROW = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at)
       VALUES (:cart_id, 'undo', :key, :product_id, :variant_id, :sku, :name, :slug, :options, :picture, :price, :quantity, :added_at)
       USING TTL :seconds""",
)
UNDO_ROWS = read(
    "U1",
    """SELECT key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at FROM items_by_cart
       WHERE cart_id = :cart_id AND kind = 'undo' AND key > :after AND key < :before""",
)


def empty_cart(person_id: UUID, cart_id: UUID, idempotency_key: UUID, now: datetime) -> Undo:
    """Remove all lines from a cart; return the undo, which is valid for a day. Saved lines stay.

    Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable.
    """
    found = require_access(person_id, cart_id, EDIT)

    def empty(change: CartChange) -> str:
        lines = change.contents.lines
        for key in lines:
            change.take(key, lines[key].quantity)
        # One statement deletes all lines. The rows for the undo expire by their TTL.
        change.statements = [
            DELETE_LINES.bind(cart_id=cart_id),
            *(_undo_row(cart_id, idempotency_key, lines[k]) for k in lines),
        ]
        return "{}"

    change_contents(cart_id, idempotency_key, now, empty)
    return Undo("empty", person_id, cart_id, found.name, idempotency_key=idempotency_key)


def refill_cart(person_id: UUID, undo: Undo, now: datetime) -> str:
    """Restore the lines of an emptied cart; lines that were added since stay. Return the cart's name.

    A second call does nothing. Raises UndoExpired, NoSuchCart, NotAllowed, TooManyUnitsTogether, TooManyLines, CartBusy,
    CassandraUnavailable.
    """
    if undo.idempotency_key is None:
        raise UndoExpired
    found = require_access(person_id, undo.cart_id, EDIT)
    rows = UNDO_ROWS.all(
        cart_id=undo.cart_id, after=f"{undo.idempotency_key}/", before=f"{undo.idempotency_key}0"
    )
    if not rows and get_idempotency_row(undo.cart_id, undo.idempotency_key) is None:
        raise UndoExpired

    def put(change: CartChange) -> str:
        for row in rows:
            change.put(row._replace(key=row.key.partition("/")[2]), row.quantity)
        return "{}"

    change_contents(undo.cart_id, uuid5(undo.idempotency_key, "undo"), now, put)
    return found.name


def _undo_row(cart_id: UUID, idempotency_key: UUID, row: Row) -> BoundStatement:
    return UNDO_ROW.bind(
        cart_id=cart_id,
        key=f"{idempotency_key}/{row.key}",
        **snapshot_columns(row),
        price=row.price,
        quantity=row.quantity,
        added_at=row.added_at,
        seconds=DAY,
    )
