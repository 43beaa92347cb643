"""The conditional batches that change a cart's lines.

A batch changes the line, the sums and the idempotency row together, so the sums always equal the lines (fault 18). The
idempotency row identifies a batch whose answer was lost.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cassandra.query import BoundStatement
from moneyed import Money

from cart import queries
from cart.errors import CartBusy, CartFull, NoSuchCart, NotEnoughLeft, TooManyUnits
from cart.limits import MAX_LINES, MAX_QUANTITY
from cart.operations.contents import idempotency_row_matcher
from cart.operations.news import change_announced
from cassandra_db import Row, applied_if, apply_batch, conditional_write, retry_attempts
from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units

# The number of times that a batch is tried while other requests change the cart. A new line needs two tries, a change of a line one or two.
MAX_ATTEMPTS = 30
DAY = 24 * 3600


# The row without kind and key sorts first, so a read of the sums stops at it. Otherwise 10,000 expired idempotency rows
# would cost the read 30 ms.
FIRST_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = 1, line_count = 1, item_count = :items, subtotal = :amount, currency = :currency,
              later_count = 0, changed_at = :now, owner_id = :owner_id, guest = :guest, added_at = :now
       WHERE cart_id = :cart_id AND kind = '' AND key = '' IF version = null""",
)
NEW_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + 1, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now
       WHERE cart_id = :cart_id IF line_count < :most AND deleted_at = null""",
)
SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now
       WHERE cart_id = :cart_id IF version > 0 AND deleted_at = null""",
)
NEW_LINE = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at)
       VALUES (:cart_id, 'line', :key, :product_id, :variant_id, :sku, :name, :slug, :options, :picture, :price, :quantity, :added_at)
       IF NOT EXISTS""",
)
ADD_UNITS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET quantity = quantity + :quantity
       WHERE cart_id = :cart_id AND kind = 'line' AND key = :key IF price = :price AND quantity <= :room""",
)
SET_LINE = conditional_write(
    "U1",
    """UPDATE items_by_cart SET quantity = :quantity, price = :price
       WHERE cart_id = :cart_id AND kind = 'line' AND key = :key IF quantity = :old_quantity AND price = :old_price""",
)
INSERT_IDEMPOTENCY_ROW = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, added_at) VALUES (:cart_id, 'op', :operation, :now)
       IF NOT EXISTS USING TTL :seconds""",
)


@dataclass(frozen=True)
class PutResult:
    """The result of adding units: the line's old price if it has changed, and whether it was a repeat or the first line."""

    repriced_from: Money | None = None
    is_repeated: bool = False
    is_first: bool = False


@dataclass(frozen=True)
class AddedUnits:
    """Units of a variant to add to a cart.

    All units of an existing line get the variant's price; with `reprice=False` they keep the line's price. The line can have
    at most `available` units; None means a line's limit. A new line is sorted by `added_at`.
    """

    cart_id: UUID
    product: Product
    variant: Variant
    quantity: int
    idempotency_key: UUID
    added_at: datetime
    now: datetime
    reprice: bool = True
    available: int | None = None

    @property
    def most(self) -> int:
        """The most units that the line may have."""
        return MAX_QUANTITY if self.available is None else min(MAX_QUANTITY, self.available)

    @property
    def price(self) -> int:
        """The variant's price, in minor units."""
        return to_minor_units(self.variant.price)


@dataclass(frozen=True)
class _Batch:
    """A batch that adds the units in one of three cases: its statements, and the result if it applies."""

    statements: tuple[BoundStatement, ...]
    repriced_from: Money | None = None
    is_first: bool = False


def put_units(
    units: AddedUnits,
    *,
    owner_id: UUID | None = None,
    guest: bool = False,
    is_new_cart: bool = False,
) -> PutResult:
    """Add units of a variant to a cart. The first batch is a guess; the answer to a refused batch shows which batch fits.

    Raises NotEnoughLeft, TooManyUnits, CartFull, NoSuchCart, CartBusy, CassandraUnavailable.
    """
    with change_announced(units.cart_id):
        return _put_units(units, owner_id, guest=guest, is_new_cart=is_new_cart)


def _put_units(
    units: AddedUnits, owner_id: UUID | None, *, guest: bool, is_new_cart: bool
) -> PutResult:
    if units.quantity > units.most:
        if queries.has_idempotency_row(units.cart_id, units.idempotency_key):
            return PutResult(is_repeated=True)
        there = queries.get_line(units.cart_id, line_key(units.variant))
        raise NotEnoughLeft(units.most, there.quantity if there else 0)
    first, new = _first_line(units, owner_id, guest=guest), _new_line(units)
    batch = first if is_new_cart else new
    for _ in retry_attempts(MAX_ATTEMPTS):
        outcome = apply_batch(
            *batch.statements,
            _idempotency_row_statement(units.cart_id, units.idempotency_key, units.now),
            if_lost=applied_if(idempotency_row_matcher(units.idempotency_key)),
        )
        if outcome:
            return PutResult(batch.repriced_from, is_first=batch.is_first)
        conflicts = {getattr(row, "kind", None): row for row in outcome.rows}
        if "op" in conflicts:
            return PutResult(is_repeated=True)
        sums = outcome.rows[0]
        if getattr(sums, "deleted_at", None) is not None:
            raise NoSuchCart
        if getattr(sums, "version", None) is None:
            batch = first
        elif (line := conflicts.get("line")) is not None:
            batch = _existing_line(units, line)
        elif sums.line_count >= MAX_LINES:
            raise CartFull(MAX_LINES)
        else:
            batch = new
    raise CartBusy


def _first_line(units: AddedUnits, owner_id: UUID | None, *, guest: bool) -> _Batch:
    """Return the batch that adds the units to a cart without sums, as its first line."""
    sums = FIRST_SUMS.bind(
        cart_id=units.cart_id,
        now=units.now,
        items=units.quantity,
        amount=units.price * units.quantity,
        currency=units.variant.price.currency.code,
        owner_id=owner_id,
        guest=guest,
    )
    return _Batch((sums, _insert_line(units)), is_first=True)


def _new_line(units: AddedUnits) -> _Batch:
    """Return the batch that adds the units as a new line to a cart with other lines."""
    sums = NEW_SUMS.bind(
        cart_id=units.cart_id,
        now=units.now,
        most=MAX_LINES,
        items=units.quantity,
        amount=units.price * units.quantity,
    )
    return _Batch((sums, _insert_line(units)))


def _existing_line(units: AddedUnits, line: Row) -> _Batch:
    """Return the batch that adds the units to the line that the variant has already. Raises TooManyUnits, NotEnoughLeft."""
    together = line.quantity + units.quantity
    if together > MAX_QUANTITY:
        raise TooManyUnits(MAX_QUANTITY, line.quantity)
    if together > units.most:
        raise NotEnoughLeft(units.most, line.quantity)
    place = {"cart_id": units.cart_id, "key": line_key(units.variant)}
    if line.price == units.price or not units.reprice:
        changed = ADD_UNITS.bind(
            **place, quantity=units.quantity, price=line.price, room=units.most - units.quantity
        )
        return _Batch((_sums(units, line.price * units.quantity), changed))
    # Units at two prices would break "subtotal = sum of the lines", so all units of the line get the new price.
    changed = SET_LINE.bind(
        **place,
        quantity=together,
        price=units.price,
        old_quantity=line.quantity,
        old_price=line.price,
    )
    more = units.price * together - line.price * line.quantity
    return _Batch((_sums(units, more), changed), from_minor_units(line.price, line.currency))


def _sums(units: AddedUnits, amount: int) -> BoundStatement:
    return SUMS.bind(
        cart_id=units.cart_id, now=units.now, lines=0, items=units.quantity, amount=amount
    )


def _insert_line(units: AddedUnits) -> BoundStatement:
    return NEW_LINE.bind(
        cart_id=units.cart_id,
        key=line_key(units.variant),
        **units.product.variant_columns(units.variant),
        price=units.price,
        quantity=units.quantity,
        added_at=units.added_at,
    )


def apply_changes(
    cart_id: UUID,
    idempotency_key: UUID,
    now: datetime,
    *changes: BoundStatement,
    days: int = 1,
    even_deleted: bool = False,
) -> bool:
    """Run a batch of changes with its idempotency row; return whether the batch has applied, now or in an earlier call.

    Raises NoSuchCart if the cart is deleted.
    """
    with change_announced(cart_id):
        outcome = apply_batch(
            *changes,
            _idempotency_row_statement(cart_id, idempotency_key, now, days),
            if_lost=applied_if(idempotency_row_matcher(idempotency_key)),
        )
    if (
        not outcome
        and outcome.rows
        and getattr(outcome.rows[0], "deleted_at", None) is not None
        and not even_deleted
    ):
        raise NoSuchCart
    return bool(outcome) or any(
        idempotency_row_matcher(idempotency_key)(row) for row in outcome.rows
    )


def _idempotency_row_statement(
    cart_id: UUID, idempotency_key: UUID, now: datetime, days: int = 1
) -> BoundStatement:
    return INSERT_IDEMPOTENCY_ROW.bind(
        cart_id=cart_id, operation=str(idempotency_key), now=now, seconds=days * DAY
    )


def line_key(variant: Variant) -> str:
    """Return the key of a variant's line in a cart."""
    return str(variant.variant_id)
