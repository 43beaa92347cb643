"""Every write to a cart: one function a command, each one conditional batch in the cart's own partition.

A batch changes the line, the sums and the idempotency row together or not at all, so the sums equal the lines at any
moment (fault 18), and a batch whose answer was lost is recognised by its idempotency row when it is sent again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4, uuid5

from cassandra.query import BoundStatement
from moneyed import Money

from cart import queries
from cart.access import EDIT, require_access
from cart.entities import Cart, CartBadge, Line
from cart.errors import (
    CartBusy,
    CartFull,
    NoSuchCart,
    NoSuchLine,
    NotEnoughLeft,
    SoldOut,
    TooManyUnits,
)
from cart.limits import MAX_LINES, MAX_QUANTITY
from cart.operations.carts import (
    ActiveCart,
    add_cart_to_list,
    drop_closed_cart,
    get_or_create_active_cart,
)
from cart.operations.contents import idempotency_row_matcher
from cart.operations.idempotency import resolve_target_cart
from cart.priced_cart import count_units_left
from cart.undo import RemovedLine
from cassandra_db import PendingResult, applied_if, apply_batch, conditional_write, retry_attempts
from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units

# How often a batch is tried again when others changed the cart meanwhile. A new line takes two tries, a change of an
# existing one one or two.
MAX_ATTEMPTS = 30
DAY = 24 * 3600
# How long a cart remembers for which orders it was emptied.
BOUGHT_DAYS = 30


# The row without kind and key sorts before all others: a read of the sums alone stops there, however many idempotency
# rows of former days lie behind it (10,000 of them would take it 30 ms).
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
# What was bought is also taken out of a cart that was deleted meanwhile: it may come back.
BOUGHT_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now WHERE cart_id = :cart_id IF version > 0""",
)
# The code that the order has used is taken out as well; to use it in another order, it is typed again.
BOUGHT_WITH_CODE = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now, voucher_code = null
       WHERE cart_id = :cart_id IF version > 0""",
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
DELETE_LINE = conditional_write(
    "U1",
    """DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' AND key = :key
       IF quantity = :old_quantity AND price = :old_price""",
)
INSERT_IDEMPOTENCY_ROW = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, added_at) VALUES (:cart_id, 'op', :operation, :now)
       IF NOT EXISTS USING TTL :seconds""",
)


@dataclass(frozen=True)
class LineResult:
    """What came of an add: the line as it is now, in the cart of that name; the price it had before, if that has changed."""

    cart_id: UUID
    cart_name: str
    line: Line | None
    price_changed_from: Money | None = None
    is_repeated: bool = False
    # The header's cart, where the add has seen it.
    badge: CartBadge | None = None
    # The cart as it is now, where it has few lines: then its sum can be told.
    cart: Cart | None = None


@dataclass(frozen=True)
class _PutResult:
    """How units got into a cart: the line's old price if it has changed; by an earlier call; as the cart's first."""

    repriced_from: Money | None = None
    is_repeated: bool = False
    is_first: bool = False


def add_line(
    person_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    idempotency_key: UUID,
    now: datetime,
    *,
    guest: bool = False,
    carts: PendingResult | None = None,
    available: int | None = None,
) -> LineResult:
    """Put units of a variant into a person's active cart, making the first cart if there is none.

    A cart that is deleted at this moment accepts nothing: the units go into the one that is active then.

    A variant that is there already gets more units; if its price has changed since, the whole line takes today's, and
    the result has the old one. The same `idempotency_key` counts once within a day, whichever cart is active by then.
    `now` is in UTC. `carts` is the person's list of carts, where it is being read already. `available` is how many of the
    variant are left, None for as many as a line takes; what the cart's own checkout has reserved counts with them.
    Raises NotAllowed, NotEnoughLeft, SoldOut, TooManyUnits, CartFull, TooManyCarts, CartBusy, CassandraUnavailable; then
    nothing was added (after UnknownOutcome perhaps: repeat it with the same `idempotency_key`).
    """
    left = available
    for attempt in retry_attempts(MAX_ATTEMPTS):
        rows = carts.rows() if carts and not attempt else None
        cart = resolve_target_cart(
            person_id, idempotency_key, get_or_create_active_cart(person_id, now, rows)
        )
        cart_id = cart.cart_id
        try:
            if cart.role:
                require_access(person_id, cart_id, EDIT)
            put = _put_units(
                cart_id,
                product,
                variant,
                quantity,
                idempotency_key,
                added_at=now,
                now=now,
                owner_id=None if cart.role else person_id,
                guest=guest,
                is_new_cart=cart.is_new,
                available=left,
            )
        except NoSuchCart:
            # Deleted, or not shared any more, and still on the list: the request that takes it off is slow, or crashed.
            drop_closed_cart(person_id, cart, now)
        except NotEnoughLeft as short:
            left = count_units_left(cart_id, variant.variant_id, available or 0)
            if left < 1:
                raise SoldOut(product.name) from short
            if left <= short.left:
                raise
        else:
            return _finish_add(person_id, cart, _line_key(variant), put, now)
    raise CartBusy


def _finish_add(
    person_id: UUID, cart: ActiveCart, key: str, put: _PutResult, now: datetime
) -> LineResult:
    reading = queries.prefetch_carts(person_id) if put.is_first or not cart.rows else None
    lines = queries.FEW_LINES.all(cart_id=cart.cart_id)
    row = next((each for each in lines if each.key == key), None) or queries.LINE.one(
        cart_id=cart.cart_id, key=key
    )
    rows = reading.rows() if reading else cart.rows
    if put.is_first and all(each.cart_id != cart.cart_id for each in rows):
        # Cleaned up between the read of the list and the write, which began it anew.
        add_cart_to_list(person_id, cart.cart_id, cart.cart_name, now, activate=True)
    active = queries.find_active_cart_row(rows)
    return LineResult(
        cart.cart_id,
        cart.cart_name,
        queries.line_from_row(row) if row and row.key is not None else None,
        put.repriced_from,
        put.is_repeated,
        queries.badge_from_rows(rows, row)
        if row and active and active.cart_id == cart.cart_id
        else None,
        queries.cart_from_rows(cart.cart_id, cart.cart_name, lines)
        if lines and len(lines) == lines[0].line_count
        else None,
    )


def restore_line(
    person_id: UUID, removed: RemovedLine, product: Product, variant: Variant, now: datetime
) -> LineResult:
    """Put a removed line back at its old quantity, price and place.

    A second call does nothing. If the variant has been added again meanwhile, the units come on top, at that price.
    Raises NoSuchCart, NotAllowed, TooManyUnits, CartFull, CartBusy, CassandraUnavailable.
    """
    name = require_access(person_id, removed.cart_id, EDIT).name
    undo_key = uuid5(removed.idempotency_key, "undo")
    variant_as_removed = replace(variant, price=removed.price)
    put = _put_units(
        removed.cart_id,
        product,
        variant_as_removed,
        removed.quantity,
        undo_key,
        added_at=removed.added_at,
        now=now,
        reprice=False,
    )
    return LineResult(
        removed.cart_id,
        name,
        queries.get_line(removed.cart_id, _line_key(variant)),
        is_repeated=put.is_repeated,
    )


def change_line_quantity(
    person_id: UUID, cart_id: UUID, variant: Variant, quantity: int, now: datetime
) -> LineResult:
    """Set a line's quantity. It keeps its price, whatever the variant costs now.

    Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    name = require_access(person_id, cart_id, EDIT).name
    idempotency_key = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        line = queries.get_line(cart_id, _line_key(variant))
        if line is None:
            raise NoSuchLine
        if line.quantity == quantity:
            return LineResult(cart_id, name, line)
        price, more = to_minor_units(line.price), quantity - line.quantity
        if apply_changes(
            cart_id,
            idempotency_key,
            now,
            SUMS.bind(cart_id=cart_id, lines=0, items=more, amount=price * more, now=now),
            SET_LINE.bind(
                cart_id=cart_id,
                key=line.key,
                quantity=quantity,
                price=price,
                old_quantity=line.quantity,
                old_price=price,
            ),
        ):
            return LineResult(cart_id, name, queries.get_line(cart_id, line.key))
    raise CartBusy


def remove_line(person_id: UUID, cart_id: UUID, key: str, now: datetime) -> RemovedLine:
    """Take a line out of the cart and return what can put it back.

    Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    require_access(person_id, cart_id, EDIT)
    idempotency_key = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        line = queries.get_line(cart_id, key)
        if line is None:
            raise NoSuchLine
        if apply_changes(
            cart_id,
            idempotency_key,
            now,
            SUMS.bind(
                cart_id=cart_id,
                lines=-1,
                items=-line.quantity,
                amount=-to_minor_units(line.total),
                now=now,
            ),
            DELETE_LINE.bind(
                cart_id=cart_id,
                key=key,
                old_quantity=line.quantity,
                old_price=to_minor_units(line.price),
            ),
        ):
            return RemovedLine(
                cart_id,
                line.product_id,
                line.variant_id,
                line.label,
                line.quantity,
                line.price,
                line.added_at,
                idempotency_key,
            )
    raise CartBusy


def remove_bought_lines(
    cart_id: UUID,
    bought: Mapping[str, int],
    order_id: UUID,
    now: datetime,
    *,
    with_code: bool = False,
) -> None:
    """Take from the cart what an order has bought, by key and quantity, and nothing else (fault 12).

    `with_code` takes the code out as well. What another tab has added meanwhile stays. A second call for the same order
    does nothing, for BOUGHT_DAYS.
    Raises CartBusy, CassandraUnavailable.
    """
    idempotency_key = _bought_key(order_id)
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = queries.LINES.all(cart_id=cart_id)
        lines = [queries.line_from_row(row) for row in rows if row.key in bought]
        # Even with nothing to take the idempotency row is written: it keeps a second call from what is added later.
        if not lines and getattr(queries.SUMS.one(cart_id=cart_id), "version", None) is None:
            return
        changes: list[BoundStatement] = []
        removed_lines = items = amount = 0
        for line in lines:
            taken = min(line.quantity, bought[line.key])
            left = line.quantity - taken
            was = {"old_quantity": line.quantity, "old_price": to_minor_units(line.price)}
            if left:
                changes.append(
                    SET_LINE.bind(
                        cart_id=cart_id, key=line.key, quantity=left, price=was["old_price"], **was
                    )
                )
            else:
                changes.append(DELETE_LINE.bind(cart_id=cart_id, key=line.key, **was))
            removed_lines += not left
            items += taken
            amount += taken * was["old_price"]
        update_sums = BOUGHT_WITH_CODE if with_code else BOUGHT_SUMS
        sums = update_sums.bind(
            cart_id=cart_id, lines=-removed_lines, items=-items, amount=-amount, now=now
        )
        if apply_changes(
            cart_id, idempotency_key, now, sums, *changes, days=BOUGHT_DAYS, even_deleted=True
        ):
            return
    raise CartBusy


def has_removed_bought_lines(cart_id: UUID, order_id: UUID) -> bool:
    """Return whether `remove_bought_lines` is done for an order. Raises CassandraUnavailable."""
    return queries.has_idempotency_row(cart_id, _bought_key(order_id))


def _bought_key(order_id: UUID) -> UUID:
    return uuid5(order_id, "bought")


def _put_units(
    cart_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    idempotency_key: UUID,
    *,
    added_at: datetime,
    now: datetime,
    reprice: bool = True,
    owner_id: UUID | None = None,
    guest: bool = False,
    is_new_cart: bool = False,
    available: int | None = None,
) -> _PutResult:
    """Add units by the batch that fits: the first is a guess, and a refused one returns which fits.

    A line that is there at another price takes the variant's as a whole, or with `reprice=False` keeps its own. It never
    has more units than `available` then.
    """
    key, price = _line_key(variant), to_minor_units(variant.price)
    most = MAX_QUANTITY if available is None else min(MAX_QUANTITY, available)
    if quantity > most:
        if queries.has_idempotency_row(cart_id, idempotency_key):
            return _PutResult(is_repeated=True)
        there = queries.get_line(cart_id, key)
        raise NotEnoughLeft(most, there.quantity if there else 0)
    sums = {"cart_id": cart_id, "now": now}
    insert = NEW_LINE.bind(
        cart_id=cart_id,
        key=key,
        **product.variant_columns(variant),
        price=price,
        quantity=quantity,
        added_at=added_at,
    )
    new = (NEW_SUMS.bind(most=MAX_LINES, items=quantity, amount=price * quantity, **sums), insert)
    first = (
        FIRST_SUMS.bind(
            items=quantity,
            amount=price * quantity,
            currency=variant.price.currency.code,
            owner_id=owner_id,
            guest=guest,
            **sums,
        ),
        insert,
    )
    batch, old_price, is_first = (first if is_new_cart else new), None, is_new_cart
    for _ in retry_attempts(MAX_ATTEMPTS):
        outcome = apply_batch(
            *batch,
            _idempotency_row_statement(cart_id, idempotency_key, now),
            if_lost=applied_if(idempotency_row_matcher(idempotency_key)),
        )
        if outcome:
            return _PutResult(old_price, is_first=is_first)
        conflicts = {getattr(row, "kind", None): row for row in outcome.rows}
        old_price, is_first = None, False
        if "op" in conflicts:
            return _PutResult(is_repeated=True)
        if getattr(outcome.rows[0], "deleted_at", None) is not None:
            raise NoSuchCart
        if getattr(outcome.rows[0], "version", None) is None:
            batch, is_first = first, True
        elif (line := conflicts.get("line")) is None:
            if outcome.rows[0].line_count >= MAX_LINES:
                raise CartFull(MAX_LINES)
            batch = new
        elif line.quantity + quantity > MAX_QUANTITY:
            raise TooManyUnits(MAX_QUANTITY, line.quantity)
        elif line.quantity + quantity > most:
            raise NotEnoughLeft(most, line.quantity)
        elif line.price == price or not reprice:
            same = {"quantity": quantity, "price": line.price, "room": most - quantity}
            more = ADD_UNITS.bind(cart_id=cart_id, key=key, **same)
            batch = (SUMS.bind(lines=0, items=quantity, amount=line.price * quantity, **sums), more)
        else:
            # At another price: an add at today's would break "subtotal = sum of the lines", so the line takes it as a whole.
            old_price = from_minor_units(line.price, line.currency)
            total = price * (line.quantity + quantity)
            repriced = SET_LINE.bind(
                cart_id=cart_id,
                key=key,
                quantity=line.quantity + quantity,
                price=price,
                old_quantity=line.quantity,
                old_price=line.price,
            )
            batch = (
                SUMS.bind(
                    lines=0, items=quantity, amount=total - line.price * line.quantity, **sums
                ),
                repriced,
            )
    raise CartBusy


def apply_changes(
    cart_id: UUID,
    idempotency_key: UUID,
    now: datetime,
    *changes: BoundStatement,
    days: int = 1,
    even_deleted: bool = False,
) -> bool:
    """Run a batch of changes with its idempotency row. True if it applied, now or in an earlier call.

    Raises NoSuchCart when the cart has been deleted.
    """
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


def _line_key(variant: Variant) -> str:
    return str(variant.variant_id)
