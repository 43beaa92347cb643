"""What the shop reads of carts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from moneyed import Money

from cassandra_db import Chain, Pending, Row, read
from catalogue.money import money
from catalogue.queries import Product, Variant, product_in, product_started
from inventory.queries import Stock, stock_in, stock_started

DEFAULT_NAME = "My cart"

# K1, K4: an owner's carts by name, and which of them is active.
CARTS = read(
    "K1",
    "SELECT active_cart_id, cart_count, cart_id, cart_name, name_key, created_at FROM carts_by_user WHERE owner_id = :owner_id",
)

# Q9: a cart's sums, which are static: they cost one row.
SUMS = read(
    "Q9",
    "SELECT cart_id, version, line_count, item_count, subtotal, currency FROM items_by_cart WHERE cart_id = :cart_id LIMIT 1",
)

# Q9: a cart's lines and, in each row, its sums. The operations lie behind the lines and are not read.
LINES = read(
    "Q9",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line'""",
)

# Q10, K5: is this variant in the cart?
LINE = read(
    "K5",
    """SELECT cart_id, version, line_count, item_count, subtotal, currency, key, product_id, variant_id, sku, name, slug,
              options, picture, price, quantity, added_at
       FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line' AND key = :key""",
)


@dataclass(frozen=True)
class Line:
    """A variant in a cart, as it was shown when it was added. `price` is for one, `total` for all of them, tax included."""

    key: str
    product_id: UUID
    variant_id: UUID
    sku: str
    name: str
    slug: str
    options: dict[str, str]
    picture: str
    price: Money
    quantity: int
    total: Money
    added_at: datetime

    @property
    def label(self) -> str:
        """The name with what was chosen: "Mug, olive"."""
        return ", ".join([self.name, *(value.lower() for value in self.options.values())])


@dataclass(frozen=True)
class Cart:
    """A cart with its lines, the newest first. The counts and the subtotal equal the lines."""

    cart_id: UUID
    name: str
    lines: tuple[Line, ...]
    line_count: int
    item_count: int
    subtotal: Money
    version: int

    def line(self, key: str) -> Line | None:
        """Return the line with this key, or None."""
        return next((line for line in self.lines if line.key == key), None)


@dataclass(frozen=True)
class Badge:
    """What the header says of the active cart."""

    name: str = DEFAULT_NAME
    item_count: int = 0
    subtotal: Money | None = None
    cart_id: UUID | None = None


def badge_started(owner_id: UUID) -> Chain:
    """Start reading the header's cart: its name, then its sums, without anybody waiting in between."""

    def sums_of(carts: list[Row]) -> Mapping[str, Any] | None:
        found = active(carts)
        return {"cart_id": found.cart_id} if found else None

    return CARTS.start(owner_id=owner_id).then(SUMS, sums_of)


def badge(reading: Chain) -> Badge:
    """Return the header's cart. Raises CassandraUnavailable."""
    carts, sums = reading.result()
    found = active(carts)
    if found is None:
        return Badge()
    if not sums or sums[0].version is None:
        return Badge(found.cart_name, cart_id=found.cart_id)
    return Badge(found.cart_name, sums[0].item_count, money(sums[0].subtotal, sums[0].currency), found.cart_id)


def active(carts: Iterable[Row]) -> Row | None:
    """Return the row of the active cart among an owner's carts, or None if none is active."""
    return next((row for row in carts if row.cart_id is not None and row.cart_id == row.active_cart_id), None)


def cart_of(owner_id: UUID) -> Cart | None:
    """Return the owner's active cart, or None. Two rounds. Raises CassandraUnavailable."""
    found = active(CARTS.all(owner_id=owner_id))
    return cart(found.cart_id, found.cart_name) if found else None


def cart(cart_id: UUID, name: str = DEFAULT_NAME) -> Cart:
    """Return a cart with its lines; a cart that nobody has put anything into is empty. Raises CassandraUnavailable."""
    return as_cart(cart_id, name, lines_started(cart_id).rows())


def lines_started(cart_id: UUID) -> Pending:
    """Start reading a cart's lines."""
    return LINES.start(cart_id=cart_id)


def as_cart(cart_id: UUID, name: str, rows: list[Row]) -> Cart:
    """Return the rows of a cart's lines as a cart."""
    lines = sorted((as_line(row) for row in rows if row.key is not None), key=lambda line: line.added_at, reverse=True)
    if not rows or rows[0].version is None:
        return Cart(cart_id, name, (), 0, 0, money(0, settings.CURRENCY), 0)
    sums = rows[0]
    return Cart(
        cart_id, name, tuple(lines), sums.line_count, sums.item_count, money(sums.subtotal, sums.currency), sums.version
    )


def line(cart_id: UUID, key: str) -> Line | None:
    """Return a cart's line of a variant, or None. Raises CassandraUnavailable."""
    row = LINE.one(cart_id=cart_id, key=key)
    return as_line(row) if row and row.key is not None else None


def as_line(row: Row) -> Line:
    """Return a row as a line."""
    price = money(row.price, row.currency)
    return Line(
        row.key,
        row.product_id,
        row.variant_id,
        row.sku,
        row.name,
        row.slug,
        dict(row.options or {}),
        row.picture,
        price,
        row.quantity,
        price * row.quantity,
        row.added_at,
    )


@dataclass(frozen=True)
class ShownLine:
    """A line beside what is true of its variant today. `variant` is None once it is no longer sold."""

    line: Line
    variant: Variant | None
    stock: Stock | None

    @property
    def gone(self) -> bool:
        return self.variant is None

    @property
    def left(self) -> int:
        """How many could be bought now."""
        return self.stock.available if self.stock else 0

    @property
    def price_now(self) -> Money | None:
        """Today's price, if it is another than the line's."""
        return self.variant.price if self.variant and self.variant.price != self.line.price else None


@dataclass(frozen=True)
class ShownCart:
    """A cart as its page shows it; what is gone does not count."""

    cart: Cart
    lines: tuple[ShownLine, ...]

    @property
    def total(self) -> Money:
        return sum((each.line.total for each in self.lines if not each.gone), self.cart.subtotal * 0)

    @property
    def can_be_bought(self) -> bool:
        return any(not each.gone for each in self.lines)


def shown(reading: Chain, hint: UUID | None) -> ShownCart | None:
    """Return the active cart of the owner whose badge is being read, with today's prices and stock, or None.

    Two rounds: `hint` is the cart that is probably active, so its lines are read beside the list of carts, and what
    they need of the catalogue beside the badge's sums. A wrong hint costs two rounds more. Raises CassandraUnavailable.
    """
    guess = lines_started(hint) if hint else None
    rows = guess.rows() if guess else []
    goods = _goods_started(rows)
    carts, _ = reading.result()
    found = active(carts)
    if found is None:
        return None
    if found.cart_id != hint:
        rows = lines_started(found.cart_id).rows()
        goods = _goods_started(rows)
    there = as_cart(found.cart_id, found.cart_name, rows)
    today = {
        product_id: (product_in(product.rows()), stock_in(stock.rows()))
        for product_id, (product, stock) in goods.items()
    }
    return ShownCart(there, tuple(_shown_line(line, *today[line.product_id]) for line in there.lines))


def _goods_started(rows: list[Row]) -> dict[UUID, tuple[Pending, Pending]]:
    product_ids = dict.fromkeys(row.product_id for row in rows if row.product_id is not None)
    return {product_id: (product_started(product_id), stock_started(product_id)) for product_id in product_ids}


def _shown_line(line: Line, product: Product | None, stocks: Mapping[UUID, Stock]) -> ShownLine:
    return ShownLine(line, on_sale(product, line.variant_id), stocks.get(line.variant_id))


def on_sale(product: Product | None, variant_id: UUID) -> Variant | None:
    """Return the product's variant, or None if it is not sold, or not any more."""
    variant = product.variant(variant_id) if product and product.active else None
    return variant if variant and variant.sold else None
