"""Every write to a cart: one function an event, each one conditional batch in the cart's own partition.

A batch changes the line, the sums and the operation's own row together or not at all, so the sums equal the lines at
any moment (fault 18), and a batch whose answer was lost is recognised by its operation row when it is sent again.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

from cassandra.query import BoundStatement
from django.utils import timezone
from django.utils.formats import date_format
from moneyed import Money

from cart import queries
from cart.errors import CartBusy, CartFull, NoSuchCart, NoSuchLine, TooMany, TooManyCarts
from cart.forms import MAX_QUANTITY
from cart.queries import DEFAULT_NAME, Line, active
from cart.undo import Removed
from cassandra_db import Row, UnknownOutcome, conditional, conditional_batch
from catalogue.money import minor, money
from catalogue.queries import Product, Variant

MAX_CARTS = 100
MAX_LINES = 1000
# How often a batch is tried anew when others changed the cart meanwhile. A new line takes two tries, a change of one
# that is there one or two.
ATTEMPTS = 30
DAY = 24 * 3600

# -- the owner's carts ---------------------------------------------------------------------------------------------

FIRST_CART = conditional(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :cart_id, cart_count = 1 WHERE owner_id = :owner_id IF cart_count = null",
)
ANOTHER_CART = conditional(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :active, cart_count = cart_count + 1 WHERE owner_id = :owner_id IF cart_count < :most",
)
CART = conditional(
    "K1",
    """INSERT INTO carts_by_user (owner_id, name_key, cart_id, cart_name, created_at, activated_at)
       VALUES (:owner_id, :name_key, :cart_id, :name, :created_at, :now) IF NOT EXISTS""",
)
ONE_CART_LESS = conditional(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :active, cart_count = cart_count + -1 WHERE owner_id = :owner_id IF active_cart_id = :was",
)
NO_CART = conditional(
    "K1", "DELETE FROM carts_by_user WHERE owner_id = :owner_id AND name_key = :name_key IF cart_id = :cart_id"
)

# -- a cart's lines ------------------------------------------------------------------------------------------------

FIRST_SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = 1, line_count = 1, item_count = :items, subtotal = :amount, currency = :currency,
              changed_at = :now WHERE cart_id = :cart_id IF version = null""",
)
NEW_SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + 1, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now WHERE cart_id = :cart_id IF line_count < :most""",
)
SUMS = conditional(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now WHERE cart_id = :cart_id IF version > 0""",
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
class Adopted:
    """What came of a login: the names of the carts that moved, and how many had no room and are still the guest's."""

    names: tuple[str, ...] = ()
    left: int = 0


def line_added(
    owner_id: UUID, product: Product, variant: Variant, quantity: int, operation_id: UUID, now: datetime
) -> Added:
    """Put units of a variant into the owner's active cart, making the first cart if there is none.

    A variant that is there already gets more units; if its price has changed since, the whole line takes today's, and
    the answer tells the old one. The same `operation_id` counts once within a day. `now` is in UTC.
    Raises TooMany, CartFull, TooManyCarts, CartBusy, CassandraUnavailable; then nothing was added (after
    UnknownOutcome perhaps: the same `operation_id` settles it).
    """
    cart_id, name = _active_cart(owner_id, now)
    before, repeated = _put(cart_id, product, variant, quantity, operation_id, added_at=now, now=now)
    return Added(cart_id, name, queries.line(cart_id, _key(variant)), before, repeated)


def line_restored(owner_id: UUID, removed: Removed, product: Product, variant: Variant, now: datetime) -> Added:
    """Put a removed line back at its old quantity and place, at today's price.

    A second call does nothing. If the variant has been added again meanwhile, the units come on top.
    Raises NoSuchCart, TooMany, CartFull, CartBusy, CassandraUnavailable.
    """
    name = _own_cart(owner_id, removed.cart_id)
    undo = uuid5(removed.operation_id, "undo")
    before, repeated = _put(
        removed.cart_id, product, variant, removed.quantity, undo, added_at=removed.added_at, now=now
    )
    return Added(removed.cart_id, name, queries.line(removed.cart_id, _key(variant)), before, repeated)


def line_changed(owner_id: UUID, cart_id: UUID, variant: Variant, quantity: int, now: datetime) -> Added:
    """Set a line's quantity, at today's price; the answer tells the old price if it has changed.

    Raises NoSuchCart, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    name = _own_cart(owner_id, cart_id)
    operation_id = uuid4()
    price = minor(variant.price)
    for _ in range(ATTEMPTS):
        line = queries.line(cart_id, _key(variant))
        if line is None:
            raise NoSuchLine
        if line.quantity == quantity and line.price == variant.price:
            return Added(cart_id, name, line)
        old = {"old_quantity": line.quantity, "old_price": minor(line.price)}
        if _applied(
            cart_id,
            operation_id,
            now,
            SUMS.bind(
                cart_id=cart_id,
                lines=0,
                items=quantity - line.quantity,
                amount=price * quantity - minor(line.total),
                now=now,
            ),
            SET_LINE.bind(cart_id=cart_id, key=line.key, quantity=quantity, price=price, **old),
        ):
            before = line.price if line.price != variant.price else None
            return Added(cart_id, name, queries.line(cart_id, line.key), before)
    raise CartBusy


def line_removed(owner_id: UUID, cart_id: UUID, key: str, now: datetime) -> Removed:
    """Take a line out of the cart and return what can put it back.

    Raises NoSuchCart, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    _own_cart(owner_id, cart_id)
    operation_id = uuid4()
    for _ in range(ATTEMPTS):
        line = queries.line(cart_id, key)
        if line is None:
            raise NoSuchLine
        if _applied(
            cart_id,
            operation_id,
            now,
            SUMS.bind(cart_id=cart_id, lines=-1, items=-line.quantity, amount=-minor(line.total), now=now),
            NO_LINE.bind(cart_id=cart_id, key=key, old_quantity=line.quantity, old_price=minor(line.price)),
        ):
            return Removed(
                cart_id, line.product_id, line.variant_id, line.label, line.quantity, line.added_at, operation_id
            )
    raise CartBusy


def lines_bought(cart_id: UUID, bought: Mapping[str, int], order_id: UUID, now: datetime) -> None:
    """Take from the cart what an order has bought, by key and quantity, and nothing else (fault 12).

    What another tab has added meanwhile stays. A second call for the same order within 30 days does nothing.
    Raises CartBusy, CassandraUnavailable.
    """
    operation_id = uuid5(order_id, "bought")
    for _ in range(ATTEMPTS):
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
            was = {"old_quantity": line.quantity, "old_price": minor(line.price)}
            if left:
                changes.append(
                    SET_LINE.bind(cart_id=cart_id, key=line.key, quantity=left, price=was["old_price"], **was)
                )
            else:
                changes.append(NO_LINE.bind(cart_id=cart_id, key=line.key, **was))
            gone += not left
            items += taken
            amount += taken * was["old_price"]
        sums = SUMS.bind(cart_id=cart_id, lines=-gone, items=-items, amount=-amount, now=now)
        if _applied(cart_id, operation_id, now, sums, *changes, days=30):
            return
    raise CartBusy


def carts_adopted(guest_id: UUID, user_id: UUID, now: datetime) -> Adopted:
    """Make a guest's carts the member's, as carts of their own: nothing is merged, nothing lost.

    Empty ones vanish. If the member's active cart is empty, or there is none, the guest's active one takes its place.
    Each cart is written to the member first and then taken from the guest, so a crash in between leaves it with both,
    and the next call goes on from there. Carts beyond the limit stay the guest's (`left`).
    Raises CartBusy, CassandraUnavailable.
    """
    names = []
    left = 0
    for cart in [row for row in queries.CARTS.all(owner_id=guest_id) if row.cart_id is not None]:
        sums = queries.SUMS.one(cart_id=cart.cart_id)
        if sums is not None and sums.line_count:
            name = _adopt(user_id, cart, now)
            if name is None:
                left += 1
                continue
            names.append(name)
        _forget(guest_id, cart)
    return Adopted(tuple(names), left)


def _put(
    cart_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    operation_id: UUID,
    *,
    added_at: datetime,
    now: datetime,
) -> tuple[Money | None, bool]:
    """Add units by the shape that fits; a refused batch tells which one does. Returns the old price if it changed, and whether this was a repeat."""
    key, price = _key(variant), minor(variant.price)
    sums = {"cart_id": cart_id, "now": now}
    insert = NEW_LINE.bind(
        cart_id=cart_id,
        key=key,
        product_id=product.product_id,
        variant_id=variant.variant_id,
        sku=variant.sku,
        name=product.name,
        slug=product.slug,
        options=dict(variant.options),
        picture=variant.picture,
        price=price,
        quantity=quantity,
        added_at=added_at,
    )
    new = (NEW_SUMS.bind(most=MAX_LINES, items=quantity, amount=price * quantity, **sums), insert)
    shape, before = new, None
    for _ in range(ATTEMPTS):
        outcome = conditional_batch(*shape, _operation(cart_id, operation_id, now), mine=_is(operation_id))
        if outcome:
            return before, False
        there = {getattr(row, "kind", None): row for row in outcome.rows}
        before = None
        if "op" in there:
            return None, True
        if getattr(outcome.rows[0], "version", None) is None:
            currency = variant.price.currency.code
            shape = (FIRST_SUMS.bind(items=quantity, amount=price * quantity, currency=currency, **sums), insert)
        elif (line := there.get("line")) is None:
            if outcome.rows[0].line_count >= MAX_LINES:
                raise CartFull(MAX_LINES)
            shape = new
        elif line.quantity + quantity > MAX_QUANTITY:
            raise TooMany(MAX_QUANTITY, line.quantity)
        elif line.price == price:
            more = MORE.bind(cart_id=cart_id, key=key, quantity=quantity, price=price, room=MAX_QUANTITY - quantity)
            shape = (SUMS.bind(lines=0, items=quantity, amount=price * quantity, **sums), more)
        else:
            # At another price: an add at today's would break "subtotal = sum of the lines", so the line takes it as a whole.
            before = money(line.price, line.currency)
            total = price * (line.quantity + quantity)
            reprice = SET_LINE.bind(
                cart_id=cart_id,
                key=key,
                quantity=line.quantity + quantity,
                price=price,
                old_quantity=line.quantity,
                old_price=line.price,
            )
            shape = (SUMS.bind(lines=0, items=quantity, amount=total - line.price * line.quantity, **sums), reprice)
    raise CartBusy


def _applied(cart_id: UUID, operation_id: UUID, now: datetime, *changes: BoundStatement, days: int = 1) -> bool:
    """Run a batch of changes with its operation row. True if it applied, now or in an earlier call."""
    outcome = conditional_batch(*changes, _operation(cart_id, operation_id, now, days), mine=_is(operation_id))
    return bool(outcome) or any(_is(operation_id)(row) for row in outcome.rows)


def _operation(cart_id: UUID, operation_id: UUID, now: datetime, days: int = 1) -> BoundStatement:
    return OPERATION.bind(cart_id=cart_id, operation=str(operation_id), now=now, seconds=days * DAY)


def _is(operation_id: UUID) -> Any:
    return lambda row: getattr(row, "kind", None) == "op" and row.key == str(operation_id)


def _key(variant: Variant) -> str:
    return str(variant.variant_id)


def _own_cart(owner_id: UUID, cart_id: UUID) -> str:
    for row in queries.CARTS.all(owner_id=owner_id):
        if row.cart_id == cart_id:
            return str(row.cart_name)
    raise NoSuchCart


def _active_cart(owner_id: UUID, now: datetime) -> tuple[UUID, str]:
    """Return the active cart's id and name, making one if there is none."""
    cart_id = uuid4()
    for _ in range(ATTEMPTS):
        carts = queries.CARTS.all(owner_id=owner_id)
        if found := active(carts):
            return found.cart_id, found.cart_name
        name = _free_name(DEFAULT_NAME, carts)
        if _inserted(owner_id, carts, cart_id, name, now, now, activate=True):
            return cart_id, name
    raise CartBusy


def _inserted(
    owner_id: UUID, carts: list[Row], cart_id: UUID, name: str, created_at: datetime, now: datetime, *, activate: bool
) -> bool:
    """Write a cart's row, given what was read of the owner's others. False if these have changed. Raises TooManyCarts."""
    count = carts[0].cart_count if carts else None
    if count is not None and count >= MAX_CARTS:
        raise TooManyCarts(MAX_CARTS)
    if count is None:
        place = FIRST_CART.bind(owner_id=owner_id, cart_id=cart_id)
    else:
        place = ANOTHER_CART.bind(
            owner_id=owner_id, most=MAX_CARTS, active=cart_id if activate else carts[0].active_cart_id
        )
    row = CART.bind(
        owner_id=owner_id, name_key=name.casefold(), cart_id=cart_id, name=name, created_at=created_at, now=now
    )
    return bool(conditional_batch(place, row, mine=lambda row: getattr(row, "cart_id", None) == cart_id))


def _free_name(wanted: str, carts: list[Row]) -> str:
    taken = {row.name_key for row in carts}
    numbered = (f"{wanted} ({number})" for number in range(2, MAX_CARTS + 2))
    return wanted if wanted.casefold() not in taken else next(name for name in numbered if name.casefold() not in taken)


def _adopt(user_id: UUID, cart: Row, now: datetime) -> str | None:
    """Write a guest's cart to the member; return its name there, or None if the member has no room."""
    for _ in range(ATTEMPTS):
        carts = queries.CARTS.all(owner_id=user_id)
        if mine := next((row for row in carts if row.cart_id == cart.cart_id), None):
            return str(mine.cart_name)
        name = cart.cart_name
        if _free_name(name, carts) != name:
            today = date_format(timezone.localtime(now), "j F")
            name = _free_name(f"From this device, {today}", carts)
        present = active(carts)
        empty = present is None or not getattr(queries.SUMS.one(cart_id=present.cart_id), "line_count", 0)
        activate = empty and cart.cart_id == cart.active_cart_id
        try:
            if _inserted(user_id, carts, cart.cart_id, name, cart.created_at, now, activate=activate):
                return str(name)
        except TooManyCarts:
            return None
    raise CartBusy


def _forget(guest_id: UUID, cart: Row) -> None:
    """Take a cart's row from a guest; the lines stay, they are the member's now."""
    for _ in range(ATTEMPTS):
        carts = queries.CARTS.all(owner_id=guest_id)
        if not any(row.cart_id == cart.cart_id for row in carts):
            return
        was = carts[0].active_cart_id
        less = ONE_CART_LESS.bind(owner_id=guest_id, active=None if was == cart.cart_id else was, was=was)
        row = NO_CART.bind(owner_id=guest_id, name_key=cart.name_key, cart_id=cart.cart_id)
        # A deleted row leaves no id that could settle a lost answer; reading the carts again does.
        with suppress(UnknownOutcome):
            if conditional_batch(less, row):
                return
    raise CartBusy
