"""Reads of carts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from cart import limits
from cart.entities import Cart, CartBadge, CartWithProduct, Line, ListedCart
from cart.names import default_name
from cassandra_db import Chain, PendingResult, Row, read
from pricing.money import from_minor_units
from pricing.quotes import snapshot_columns

# K1, K4: an owner's carts, sorted by name, and the active one.
CARTS = read(
    "K1",
    """SELECT active_cart_id, cart_count, cart_id, cart_name, name_key, created_at, activated_at, role, shared_by
       FROM carts_by_user WHERE owner_id = :owner_id""",
)

# Q9: a cart's sums. They are static columns, so one row is enough.
SUMS = read(
    "Q9",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, changed_at, later_count, owner_id, guest, deleted_at,
              voucher_code
       FROM items_by_cart WHERE cart_id = :cart_id LIMIT 1""",
)

# Q9: a cart's lines, with its sums in each row. The idempotency rows sort after the lines and are not read.
LINES = read(
    "Q9",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at, checkout_id, checkout_number,
              voucher_code
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line'""",
)

# The lines saved for later in a cart.
SAVED_LINES = read(
    "Q9",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'later'""",
)

# Q10: the units of products in a cart. It needs no variants of the product, so it is read in parallel with the product.
UNITS = read(
    "Q10",
    """SELECT product_id, quantity, deleted_at FROM items_by_cart
       WHERE cart_id = :cart_id AND kind = 'line'""",
)
# The active cart and the last used ones, as many as the header offers.
MAX_CARTS_WITH_UNITS = 7
# A cart on the list, and the pending reads of its units and of the person's role.
PendingUnits = tuple[ListedCart, PendingResult, PendingResult | None]

# K5: the line of a variant in a cart.
LINE = read(
    "K5",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' AND key = :key""",
)


# K4: a cart's sums and its first rows, which are all lines of a small cart. Saved lines come first.
PEEK = read(
    "K4",
    """SELECT cart_id, version, line_count, item_count, later_count, subtotal, currency, changed_at, deleted_at, checkout_id,
              checkout_number, voucher_code, kind, key, product_id, variant_id, sku, name, slug, options, picture, price,
              quantity, added_at
       FROM items_by_cart WHERE cart_id = :cart_id AND kind <= 'line' LIMIT 60""",
)
# Q9: a cart's first lines, which are all lines of a small cart.
FEW_LINES = read(
    "Q9",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at, checkout_id, checkout_number,
              voucher_code
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' LIMIT 20""",
)
SHARING_PEEK = read(
    "K4", "SELECT cart_id, kind FROM people_by_cart WHERE cart_id = :cart_id LIMIT 1"
)

# A person's role in a cart, in the table to which the owner writes it.
PERSON = read(
    "K1",
    "SELECT role FROM people_by_cart WHERE cart_id = :cart_id AND kind = 'person' AND key = :key",
)


def prefetch_carts(owner_id: UUID) -> PendingResult:
    """Start reading a person's list of carts."""
    return CARTS.start(owner_id=owner_id)


def prefetch_badge(owner_id: UUID) -> Chain:
    """Start reading the header's cart: its name, then its sums, without blocking between the two reads."""

    def sums_parameters(carts: list[Row]) -> Mapping[str, Any] | None:
        found = find_active_cart_row(carts)
        return {"cart_id": found.cart_id} if found else None

    return CARTS.start(owner_id=owner_id).then(SUMS, sums_parameters)


def collect_badge(reading: Chain) -> CartBadge:
    """Wait for the header's cart and return it. Raises CassandraUnavailable."""
    carts, sums = reading.result()
    if sums and sums[0].deleted_at is not None:
        return badge_from_rows([row for row in carts if row.cart_id != row.active_cart_id], None)
    return badge_from_rows(carts, sums[0] if sums else None)


def badge_from_rows(carts: Iterable[Row], sums: Row | None) -> CartBadge:
    """Return the header's cart from a person's list of carts and the active cart's sums."""
    carts = list(carts)
    found = find_active_cart_row(carts)
    others = tuple(each for each in listed_carts_from_rows(carts) if not each.is_active)
    if found is None:
        return CartBadge(others=others)
    if sums is None or sums.version is None:
        return CartBadge(found.cart_name, cart_id=found.cart_id, others=others)
    message = limits.line_limit_message(sums.line_count)
    return CartBadge(found.cart_name, sums.item_count, found.cart_id, others, message)


def listed_carts_from_rows(carts: Iterable[Row]) -> list[ListedCart]:
    """Return the carts in the rows of a person's list, the last used ones first."""
    found = [
        ListedCart(
            row.cart_id,
            row.cart_name,
            row.cart_id == row.active_cart_id,
            row.role or "",
            row.shared_by or "",
            row.activated_at or row.created_at,
        )
        for row in carts
        if row.cart_id is not None
    ]
    return sorted(found, key=lambda each: each.used_at, reverse=True)


def prefetch_person(person_id: UUID, cart: ListedCart) -> PendingResult | None:
    """Start reading a person's row in a shared cart, for `is_still_in`; None for an own cart."""
    return PERSON.start(cart_id=cart.cart_id, key=str(person_id)) if cart.role else None


def is_still_in(person: PendingResult | None) -> bool:
    """Return whether a person still has access to a listed cart. The list can outlive the role. Raises CassandraUnavailable."""
    return person is None or getattr(person.one(), "role", None) is not None


def prefetch_units(owner_id: UUID, carts: Iterable[Row]) -> list[PendingUnits]:
    """Start reading the units of a person's active and last used carts, for `find_carts_with_product`."""
    listed = sorted(listed_carts_from_rows(carts), key=lambda each: not each.is_active)
    return [
        (each, UNITS.start(cart_id=each.cart_id), prefetch_person(owner_id, each))
        for each in listed[:MAX_CARTS_WITH_UNITS]
    ]


def find_carts_with_product(
    reading: Iterable[PendingUnits], product_id: UUID
) -> list[CartWithProduct]:
    """Return the carts with units of a product. Raises CassandraUnavailable."""
    found = []
    for cart, pending, person in reading:
        rows = [row for row in pending.rows() if row.product_id == product_id]
        # The owner may have deleted a shared cart, or removed the person from it.
        if rows and rows[0].deleted_at is None and is_still_in(person):
            found.append(CartWithProduct(cart, sum(row.quantity for row in rows)))
    return found


def find_active_cart_row(carts: Iterable[Row]) -> Row | None:
    """Return the active cart's row among an owner's carts, or None."""
    return next(
        (row for row in carts if row.cart_id is not None and row.cart_id == row.active_cart_id),
        None,
    )


def get_listed_cart_row(owner_id: UUID, cart_id: UUID) -> Row | None:
    """Return a cart's row in a person's list of own and shared carts, or None. Raises CassandraUnavailable."""
    return next((row for row in CARTS.all(owner_id=owner_id) if row.cart_id == cart_id), None)


@dataclass(frozen=True)
class FoundCart:
    """A person's active cart, its row in the list of carts, and its badge."""

    cart: Cart
    row: Row
    badge: CartBadge


class PendingActiveCart:
    """A pending read of an owner's active cart, and of the lines of the cart that is expected to be active."""

    def __init__(self, owner_id: UUID, expected_cart_id: UUID | None = None) -> None:
        self._expected_cart_id = expected_cart_id
        self._carts = prefetch_carts(owner_id)
        self._lines = prefetch_lines(expected_cart_id) if expected_cart_id else None

    def result(self) -> FoundCart | None:
        """Return the active cart, or None if there is none. An unexpected cart costs one more round. Raises CassandraUnavailable."""
        carts = self._carts.rows()
        row = find_active_cart_row(carts)
        if row is None:
            return None
        if self._lines is None or row.cart_id != self._expected_cart_id:
            self._lines = prefetch_lines(row.cart_id)
        rows = self._lines.rows()
        badge = badge_from_rows(carts, rows[0] if rows else None)
        return FoundCart(cart_from_rows(row.cart_id, row.cart_name, rows), row, badge)


def get_cart(cart_id: UUID, name: str = "") -> Cart:
    """Return a cart with its lines; a cart that has no rows yet is empty. Raises CassandraUnavailable."""
    return cart_from_rows(cart_id, name or default_name(), prefetch_lines(cart_id).rows())


def get_cart_version(cart: Cart) -> int:
    """Return the version at which a cart was read; without lines, read it from the sums. Raises CassandraUnavailable."""
    if cart.lines:
        return cart.version
    sums = SUMS.one(cart_id=cart.cart_id)
    return sums.version if sums and sums.version and not sums.line_count else 0


def prefetch_lines(cart_id: UUID) -> PendingResult:
    """Start reading a cart's lines."""
    return LINES.start(cart_id=cart_id)


def cart_from_rows(cart_id: UUID, name: str, rows: list[Row]) -> Cart:
    """Return the cart whose lines are in these rows."""
    lines = sorted(
        (line_from_row(row) for row in rows if row.key is not None),
        key=lambda line: line.added_at,
        reverse=True,
    )
    if not rows or rows[0].version is None:
        return Cart(cart_id, name, (), 0, 0, from_minor_units(0, settings.CURRENCY), 0)
    sums = rows[0]
    return Cart(
        cart_id,
        name,
        tuple(lines),
        sums.line_count,
        sums.item_count,
        from_minor_units(sums.subtotal, sums.currency),
        sums.version,
        sums.checkout_id,
        sums.checkout_number or 0,
        sums.voucher_code or "",
    )


def saved_lines_from_rows(rows: Iterable[Row]) -> tuple[Line, ...]:
    """Return the lines in the rows that are saved for later, the newest first."""
    found = (line_from_row(row) for row in rows if row.key is not None)
    return tuple(sorted(found, key=lambda line: line.added_at, reverse=True))


def get_line(cart_id: UUID, key: str) -> Line | None:
    """Return a cart's line of a variant, or None. Raises CassandraUnavailable."""
    row = LINE.one(cart_id=cart_id, key=key)
    return line_from_row(row) if row and row.key is not None else None


# U1: the row that shows whether a submit has changed a cart.
IDEMPOTENCY_ROW = read(
    "U1", "SELECT kind FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'op' AND key = :key"
)


def has_idempotency_row(cart_id: UUID, idempotency_key: UUID) -> bool:
    """Return whether a submit with this key has changed the cart. Raises CassandraUnavailable."""
    return IDEMPOTENCY_ROW.one(cart_id=cart_id, key=str(idempotency_key)) is not None


def line_from_row(row: Row) -> Line:
    """Return the line in a row of `items_by_cart`."""
    price = from_minor_units(row.price, row.currency)
    return Line(
        **snapshot_columns(row),
        key=row.key,
        price=price,
        quantity=row.quantity,
        total=price * row.quantity,
        added_at=row.added_at,
    )
