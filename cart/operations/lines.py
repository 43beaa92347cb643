"""Every write to a cart: one function an event, each one conditional batch in the cart's own partition.

A batch changes the line, the sums and the operation's own row together or not at all, so the sums equal the lines at
any moment (fault 18), and a batch whose answer was lost is recognised by its operation row when it is sent again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

from cassandra.query import BoundStatement
from moneyed import Money

from cart import queries
from cart.access import EDIT, access
from cart.entities import Line
from cart.errors import CartBusy, CartFull, NoSuchCart, NoSuchLine, TooMany
from cart.limits import MAX_LINES, MAX_QUANTITY
from cart.operations.carts import active_cart, cart_dropped, cart_listed
from cart.operations.presses import cart_of_press
from cart.undo import Removed
from cassandra_db import applied_if, attempts, conditional, conditional_batch
from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units

# How often a batch is tried anew when others changed the cart meanwhile. A new line takes two tries, a change of one
# that is there one or two.
ATTEMPTS = 30
DAY = 24 * 3600
# For so long a cart knows which orders it was emptied for.
BOUGHT_DAYS = 30


# The row without kind and key sorts before all others: a read of the sums alone stops there, whatever operations of
# former days lie behind it (10,000 of them would take it 30 ms).
FIRST_SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = 1, line_count = 1, item_count = :items, subtotal = :amount, currency = :currency,
              later_count = 0, changed_at = :now, owner_id = :owner_id, guest = :guest, added_at = :now
       WHERE cart_id = :cart_id AND kind = '' AND key = '' IF version = null""",
)
NEW_SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + 1, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now
       WHERE cart_id = :cart_id IF line_count < :most AND deleted_at = null""",
)
SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now
       WHERE cart_id = :cart_id IF version > 0 AND deleted_at = null""",
)
# What was bought is taken out of a cart that was deleted meanwhile, too: it may come back.
BOUGHT_SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now WHERE cart_id = :cart_id IF version > 0""",
)
# The code that the order has used goes with it; one that another order may use is typed again.
BOUGHT_WITH_CODE = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now, voucher_code = null
       WHERE cart_id = :cart_id IF version > 0""",
)
NEW_LINE = conditional(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at)
       VALUES (:cart_id, 'line', :key, :product_id, :variant_id, :sku, :name, :slug, :options, :picture, :price, :quantity, :added_at)
       IF NOT EXISTS""",
)
MORE = conditional(
    "U1",
    """UPDATE items_by_cart SET quantity = quantity + :quantity
       WHERE cart_id = :cart_id AND kind = 'line' AND key = :key IF price = :price AND quantity <= :room""",
)
SET_LINE = conditional(
    "U1",
    """UPDATE items_by_cart SET quantity = :quantity, price = :price
       WHERE cart_id = :cart_id AND kind = 'line' AND key = :key IF quantity = :old_quantity AND price = :old_price""",
)
NO_LINE = conditional(
    "U1",
    """DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' AND key = :key
       IF quantity = :old_quantity AND price = :old_price""",
)
OPERATION = conditional(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, added_at) VALUES (:cart_id, 'op', :operation, :now)
       IF NOT EXISTS USING TTL :seconds""",
)


@dataclass(frozen=True)
class Added:
    """What came of an add: the line as it is now, in the cart of that name; the price it had before, if that has changed."""

    cart_id: UUID
    cart_name: str
    line: Line | None
    price_changed_from: Money | None = None
    repeated: bool = False


@dataclass(frozen=True)
class _Put:
    """How units got into a cart: a line's old price if it has changed, or by an earlier call, or as the cart's first."""

    repriced_from: Money | None = None
    repeated: bool = False
    began: bool = False


def line_added(
    person_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    operation_id: UUID,
    now: datetime,
    *,
    guest: bool = False,
) -> Added:
    """Put units of a variant into a person's active cart, making the first cart if there is none.

    A cart that is deleted at this moment takes nothing: the units go into the one that is active then.

    A variant that is there already gets more units; if its price has changed since, the whole line takes today's, and
    the answer tells the old one. The same `operation_id` counts once within a day, whichever cart is active by then.
    `now` is in UTC.
    Raises NotAllowed, TooMany, CartFull, TooManyCarts, CartBusy, CassandraUnavailable; then nothing was added (after
    UnknownOutcome perhaps: the same `operation_id` settles it).
    """
    for _ in attempts(ATTEMPTS):
        cart = cart_of_press(person_id, operation_id, active_cart(person_id, now))
        cart_id = cart.cart_id
        try:
            if cart.role:
                access(person_id, cart_id, EDIT)
            put = _put(
                cart_id,
                product,
                variant,
                quantity,
                operation_id,
                added_at=now,
                now=now,
                owner_id=None if cart.role else person_id,
                guest=guest,
            )
        except NoSuchCart:
            # Deleted, or not shared any more, and still on the list: whoever is taking it off is slow, or is gone.
            cart_dropped(person_id, cart, now)
        else:
            if put.began and queries.listed(person_id, cart_id) is None:
                # Swept between the look at the list and the write, which began it anew.
                cart_listed(person_id, cart_id, cart.cart_name, now, activate=True)
            return Added(
                cart_id,
                cart.cart_name,
                queries.line(cart_id, _key(variant)),
                put.repriced_from,
                put.repeated,
            )
    raise CartBusy


def line_restored(
    person_id: UUID, removed: Removed, product: Product, variant: Variant, now: datetime
) -> Added:
    """Put a removed line back at its old quantity, price and place.

    A second call does nothing. If the variant has been added again meanwhile, the units come on top, at that price.
    Raises NoSuchCart, NotAllowed, TooMany, CartFull, CartBusy, CassandraUnavailable.
    """
    name = access(person_id, removed.cart_id, EDIT).name
    undo = uuid5(removed.operation_id, "undo")
    as_it_was = replace(variant, price=removed.price)
    put = _put(
        removed.cart_id,
        product,
        as_it_was,
        removed.quantity,
        undo,
        added_at=removed.added_at,
        now=now,
        reprice=False,
    )
    return Added(
        removed.cart_id, name, queries.line(removed.cart_id, _key(variant)), repeated=put.repeated
    )


def line_changed(
    person_id: UUID, cart_id: UUID, variant: Variant, quantity: int, now: datetime
) -> Added:
    """Set a line's quantity. It keeps its price, whatever the variant costs now.

    Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    name = access(person_id, cart_id, EDIT).name
    operation_id = uuid4()
    for _ in attempts(ATTEMPTS):
        line = queries.line(cart_id, _key(variant))
        if line is None:
            raise NoSuchLine
        if line.quantity == quantity:
            return Added(cart_id, name, line)
        price, more = to_minor_units(line.price), quantity - line.quantity
        if applied(
            cart_id,
            operation_id,
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
            return Added(cart_id, name, queries.line(cart_id, line.key))
    raise CartBusy


def line_removed(person_id: UUID, cart_id: UUID, key: str, now: datetime) -> Removed:
    """Take a line out of the cart and return what can put it back.

    Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    access(person_id, cart_id, EDIT)
    operation_id = uuid4()
    for _ in attempts(ATTEMPTS):
        line = queries.line(cart_id, key)
        if line is None:
            raise NoSuchLine
        if applied(
            cart_id,
            operation_id,
            now,
            SUMS.bind(
                cart_id=cart_id,
                lines=-1,
                items=-line.quantity,
                amount=-to_minor_units(line.total),
                now=now,
            ),
            NO_LINE.bind(
                cart_id=cart_id,
                key=key,
                old_quantity=line.quantity,
                old_price=to_minor_units(line.price),
            ),
        ):
            return Removed(
                cart_id,
                line.product_id,
                line.variant_id,
                line.label,
                line.quantity,
                line.price,
                line.added_at,
                operation_id,
            )
    raise CartBusy


def lines_bought(
    cart_id: UUID,
    bought: Mapping[str, int],
    order_id: UUID,
    now: datetime,
    *,
    with_code: bool = False,
) -> None:
    """Take from the cart what an order has bought, by key and quantity, and nothing else (fault 12).

    `with_code` takes the code out as well. What another tab has added meanwhile stays. A second call for the same order does nothing, for BOUGHT_DAYS.
    Raises CartBusy, CassandraUnavailable.
    """
    operation_id = uuid5(order_id, "bought")
    for _ in attempts(ATTEMPTS):
        rows = queries.LINES.all(cart_id=cart_id)
        lines = [queries.as_line(row) for row in rows if row.key in bought]
        # Even with nothing to take the operation's row is written: it keeps a second call from what is added later.
        if not lines and getattr(queries.SUMS.one(cart_id=cart_id), "version", None) is None:
            return
        changes: list[BoundStatement] = []
        gone = items = amount = 0
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
                changes.append(NO_LINE.bind(cart_id=cart_id, key=line.key, **was))
            gone += not left
            items += taken
            amount += taken * was["old_price"]
        taking = BOUGHT_WITH_CODE if with_code else BOUGHT_SUMS
        sums = taking.bind(cart_id=cart_id, lines=-gone, items=-items, amount=-amount, now=now)
        if applied(cart_id, operation_id, now, sums, *changes, days=BOUGHT_DAYS, even_deleted=True):
            return
    raise CartBusy


def _put(
    cart_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    operation_id: UUID,
    *,
    added_at: datetime,
    now: datetime,
    reprice: bool = True,
    owner_id: UUID | None = None,
    guest: bool = False,
) -> _Put:
    """Add units by the shape that fits; a refused batch tells which one does.

    A line that is there at another price takes the variant's as a whole, or with `reprice=False` keeps its own.
    """
    key, price = _key(variant), to_minor_units(variant.price)
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
    shape, before, began = new, None, False
    for _ in attempts(ATTEMPTS):
        outcome = conditional_batch(
            *shape, _operation(cart_id, operation_id, now), if_lost=applied_if(_is(operation_id))
        )
        if outcome:
            return _Put(before, began=began)
        there = {getattr(row, "kind", None): row for row in outcome.rows}
        before, began = None, False
        if "op" in there:
            return _Put(repeated=True)
        if getattr(outcome.rows[0], "deleted_at", None) is not None:
            raise NoSuchCart
        if getattr(outcome.rows[0], "version", None) is None:
            first = {"currency": variant.price.currency.code, "owner_id": owner_id, "guest": guest}
            began = True
            shape = (
                FIRST_SUMS.bind(items=quantity, amount=price * quantity, **first, **sums),
                insert,
            )
        elif (line := there.get("line")) is None:
            if outcome.rows[0].line_count >= MAX_LINES:
                raise CartFull(MAX_LINES)
            shape = new
        elif line.quantity + quantity > MAX_QUANTITY:
            raise TooMany(MAX_QUANTITY, line.quantity)
        elif line.price == price or not reprice:
            same = {"quantity": quantity, "price": line.price, "room": MAX_QUANTITY - quantity}
            more = MORE.bind(cart_id=cart_id, key=key, **same)
            shape = (SUMS.bind(lines=0, items=quantity, amount=line.price * quantity, **sums), more)
        else:
            # At another price: an add at today's would break "subtotal = sum of the lines", so the line takes it as a whole.
            before = from_minor_units(line.price, line.currency)
            total = price * (line.quantity + quantity)
            repriced = SET_LINE.bind(
                cart_id=cart_id,
                key=key,
                quantity=line.quantity + quantity,
                price=price,
                old_quantity=line.quantity,
                old_price=line.price,
            )
            shape = (
                SUMS.bind(
                    lines=0, items=quantity, amount=total - line.price * line.quantity, **sums
                ),
                repriced,
            )
    raise CartBusy


def applied(
    cart_id: UUID,
    operation_id: UUID,
    now: datetime,
    *changes: BoundStatement,
    days: int = 1,
    even_deleted: bool = False,
) -> bool:
    """Run a batch of changes with its operation row. True if it applied, now or in an earlier call.

    Raises NoSuchCart when the cart has been deleted.
    """
    outcome = conditional_batch(
        *changes,
        _operation(cart_id, operation_id, now, days),
        if_lost=applied_if(_is(operation_id)),
    )
    if (
        not outcome
        and outcome.rows
        and getattr(outcome.rows[0], "deleted_at", None) is not None
        and not even_deleted
    ):
        raise NoSuchCart
    return bool(outcome) or any(_is(operation_id)(row) for row in outcome.rows)


def _operation(cart_id: UUID, operation_id: UUID, now: datetime, days: int = 1) -> BoundStatement:
    return OPERATION.bind(cart_id=cart_id, operation=str(operation_id), now=now, seconds=days * DAY)


def _is(operation_id: UUID) -> Any:
    return lambda row: getattr(row, "kind", None) == "op" and row.key == str(operation_id)


def _key(variant: Variant) -> str:
    return str(variant.variant_id)
