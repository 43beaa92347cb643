"""Commands on a cart's lines. Each is one conditional batch in the cart's partition."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4, uuid5

from cassandra.query import BoundStatement
from moneyed import Money

from cart import queries
from cart.access import EDIT, require_access
from cart.entities import Cart, CartBadge, Line
from cart.errors import CartBusy, NoSuchCart, NoSuchLine, NotEnoughLeft, SoldOut
from cart.operations.carts import (
    ActiveCart,
    add_cart_to_list,
    drop_closed_cart,
    get_or_create_active_cart,
)
from cart.operations.idempotency import resolve_target_cart
from cart.operations.line_batches import (
    MAX_ATTEMPTS,
    SET_LINE,
    SUMS,
    AddedUnits,
    PutResult,
    apply_changes,
    line_key,
    put_units,
)
from cart.priced_cart import count_units_left
from cart.undo import RemovedLine
from cassandra_db import PendingResult, conditional_write, retry_attempts
from catalogue.entities import Product, Variant
from pricing.money import to_minor_units

# The number of days for which a cart remembers the orders whose units were removed from it.
BOUGHT_DAYS = 30


# Bought lines are also removed from a deleted cart, which may be restored.
BOUGHT_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now WHERE cart_id = :cart_id IF version > 0""",
)
# This statement also removes the code, which the order has used.
BOUGHT_WITH_CODE = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = version + 1, line_count = line_count + :lines, item_count = item_count + :items,
              subtotal = subtotal + :amount, changed_at = :now, voucher_code = null
       WHERE cart_id = :cart_id IF version > 0""",
)
DELETE_LINE = conditional_write(
    "U1",
    """DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' AND key = :key
       IF quantity = :old_quantity AND price = :old_price""",
)


@dataclass(frozen=True)
class LineResult:
    """The result of an add: the line, its cart, and the line's former price if the price has changed."""

    cart_id: UUID
    cart_name: str
    line: Line | None
    price_changed_from: Money | None = None
    is_repeated: bool = False
    # The header's cart, if the add has read it.
    badge: CartBadge | None = None
    # The whole cart, if it has few lines.
    cart: Cart | None = None


@dataclass(frozen=True)
class AlreadyRead:
    """Data that the page which adds a line has read: the person's list of carts, and the available units of the variant.

    None means that the list was not read, or that a line's limit is available.
    """

    carts: PendingResult | None = None
    available: int | None = None


NOTHING_READ = AlreadyRead()


def add_line(
    person_id: UUID,
    product: Product,
    variant: Variant,
    quantity: int,
    idempotency_key: UUID,
    now: datetime,
    *,
    guest: bool = False,
    already_read: AlreadyRead = NOTHING_READ,
) -> LineResult:
    """Add units of a variant to a person's active cart, creating a cart if there is none.

    If the cart is deleted at this moment, the units go to the next active cart. All units of an existing line get today's
    price; the result has the old price. Within a day, the same `idempotency_key` counts once, even if another cart has
    become active. `now` is in UTC. Units that the cart's own checkout has reserved count as available. Raises NotAllowed,
    NotEnoughLeft, SoldOut, TooManyUnits, CartFull, TooManyCarts, CartBusy, CassandraUnavailable; then nothing was added.
    After UnknownOutcome, repeat the call with the same `idempotency_key`.
    """
    left = already_read.available
    for attempt in retry_attempts(MAX_ATTEMPTS):
        rows = already_read.carts.rows() if already_read.carts and not attempt else None
        cart = resolve_target_cart(
            person_id, idempotency_key, get_or_create_active_cart(person_id, now, rows)
        )
        cart_id = cart.cart_id
        try:
            if cart.role:
                require_access(person_id, cart_id, EDIT)
            units = AddedUnits(
                cart_id, product, variant, quantity, idempotency_key, now, now, available=left
            )
            put = put_units(
                units,
                owner_id=None if cart.role else person_id,
                guest=guest,
                is_new_cart=cart.is_new,
            )
        except NoSuchCart:
            # The cart is deleted or no longer shared, but still listed: the request that unlists it is slow, or has crashed.
            drop_closed_cart(person_id, cart, now)
        except NotEnoughLeft as short:
            left = count_units_left(cart_id, variant.variant_id, already_read.available or 0)
            if left < 1:
                raise SoldOut(product.name) from short
            if left <= short.left:
                raise
        else:
            return _finish_add(person_id, cart, line_key(variant), put, now)
    raise CartBusy


def _finish_add(
    person_id: UUID, cart: ActiveCart, key: str, put: PutResult, now: datetime
) -> LineResult:
    reading = queries.prefetch_carts(person_id) if put.is_first or not cart.rows else None
    lines = queries.FEW_LINES.all(cart_id=cart.cart_id)
    row = next((each for each in lines if each.key == key), None) or queries.LINE.one(
        cart_id=cart.cart_id, key=key
    )
    rows = reading.rows() if reading else cart.rows
    if put.is_first and all(each.cart_id != cart.cart_id for each in rows):
        # The cleanup removed the cart after the list was read; the write has begun the cart again.
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

    A second call does nothing. If the variant was added again meanwhile, the new line gets the units, at the new line's
    price. Raises NoSuchCart, NotAllowed, TooManyUnits, CartFull, CartBusy, CassandraUnavailable.
    """
    name = require_access(person_id, removed.cart_id, EDIT).name
    undo_key = uuid5(removed.idempotency_key, "undo")
    put = put_units(
        AddedUnits(
            removed.cart_id,
            product,
            replace(variant, price=removed.price),
            removed.quantity,
            undo_key,
            removed.added_at,
            now,
            reprice=False,
        )
    )
    return LineResult(
        removed.cart_id,
        name,
        queries.get_line(removed.cart_id, line_key(variant)),
        is_repeated=put.is_repeated,
    )


def change_line_quantity(
    person_id: UUID, cart_id: UUID, variant: Variant, quantity: int, now: datetime
) -> LineResult:
    """Set a line's quantity. The line keeps its price. Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable."""
    name = require_access(person_id, cart_id, EDIT).name
    idempotency_key = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        line = queries.get_line(cart_id, line_key(variant))
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
    """Remove a line from the cart; return the RemovedLine with which `restore_line` can restore it.

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
    """Remove an order's units from the cart (fault 12). `bought` maps the key of a line to the bought quantity.

    `with_code` removes the code, too. Units that another tab has added stay. For BOUGHT_DAYS a second call for the same
    order does nothing. Raises CartBusy, CassandraUnavailable.
    """
    idempotency_key = _bought_key(order_id)
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = queries.LINES.all(cart_id=cart_id)
        lines = [queries.line_from_row(row) for row in rows if row.key in bought]
        # The idempotency row is written even if no line is left: a second call must not remove units that are added later.
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
