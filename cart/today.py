"""What a cart's lines cost today, and how much of them can be had. The cart's page and the checkout both ask here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from uuid import UUID

from moneyed import Money

from cart import queries
from cart.entities import Cart, Line
from cassandra_db import Chain, Row
from catalogue.entities import Variant
from catalogue.queries import on_sale
from inventory.entities import Ahead, Stock
from inventory.goods import Goods, GoodsReading, goods_of
from inventory.queries import kept_for
from pricing import delivery, quotes
from pricing.money import minor
from pricing.quotes import QuotedLine
from promotions import queries as promotions
from promotions.entities import Applied
from promotions.queries import Reading

# Of so many lines it is asked whether the cart's own checkout keeps what is missing.
MOST_LOOKED_AT = 20


@dataclass(frozen=True)
class Agreed:
    """What a page showed of a line whose price has risen: how many, the old price and today's, in minor units."""

    key: str
    quantity: int
    was: int
    now: int

    def __str__(self) -> str:
        return f"{self.key}:{self.quantity}:{self.was}:{self.now}"


@dataclass(frozen=True)
class LineToday:
    """A line beside what is true of its variant today. `left` is how many could be bought now.

    This is the one rule of what a line costs: today's price. A fall passes through; a rise counts in the sums that are
    shown, and nothing is ordered before the shopper has agreed to it (`dearer`).
    """

    line: Line
    goods: Goods
    left: int

    @property
    def variant(self) -> Variant | None:
        return on_sale(self.goods.product, self.line.variant_id)

    @property
    def gone(self) -> bool:
        return self.variant is None

    @property
    def sold_out(self) -> bool:
        return not self.gone and self.left < 1

    @property
    def short(self) -> bool:
        """Whether some are left, but fewer than wanted."""
        return not self.gone and 0 < self.left < self.line.quantity

    @property
    def few(self) -> bool:
        stock = self.goods.stock.get(self.line.variant_id)
        return stock is not None and stock.word == "few" and stock.ahead is None

    @property
    def waits(self) -> Ahead | None:
        """What so many of it wait for: goods that have still to arrive. None when they are sent at once."""
        stock = self.goods.stock.get(self.line.variant_id)
        return stock.waits(self.line.quantity) if stock else None

    @property
    def price(self) -> Money:
        """What one costs now."""
        return self.variant.price if self.variant else self.line.price

    @property
    def dearer(self) -> bool:
        """Whether it can be ordered at a price that has risen since the line was added, and nobody has agreed to that."""
        return bool(self.counted) and self.price > self.line.price

    @property
    def cheaper(self) -> bool:
        return self.price < self.line.price

    @property
    def rise(self) -> Agreed:
        """What a press that agrees to today's price agrees to."""
        return Agreed(self.line.key, self.line.quantity, minor(self.line.price), minor(self.price))

    @property
    def counted(self) -> int:
        """How many could be ordered now, of those that are wanted."""
        return 0 if self.gone else max(0, min(self.line.quantity, self.left))

    @property
    def total(self) -> Money:
        """What those that count cost together."""
        return self.price * self.counted

    @property
    def quoted(self) -> QuotedLine | None:
        """The line as it could be ordered now; None if it cannot."""
        product, variant = self.goods.product, self.variant
        if product is None or variant is None or not self.counted:
            return None
        return product.quote(variant, self.counted)


@dataclass(frozen=True)
class CartToday:
    """A cart as it could be ordered today. What is gone or sold out does not count."""

    cart: Cart
    lines: tuple[LineToday, ...]
    applied: Applied  # what makes it cheaper, and what became of its code

    @cached_property
    def quoted(self) -> tuple[QuotedLine, ...]:
        return tuple(quoted for each in self.lines if (quoted := each.quoted))

    @cached_property
    def dearer(self) -> tuple[LineToday, ...]:
        """The lines whose price has risen without anybody having agreed to it."""
        return tuple(each for each in self.lines if each.dearer)

    @property
    def rises(self) -> list[Agreed]:
        return [each.rise for each in self.dearer]

    def sums(self, country: str, method: delivery.Method) -> quotes.Sums | None:
        """Return what it comes to, delivered to a country; None if nothing of it can be ordered."""
        return (
            quotes.sums(self.quoted, country, method, self.applied.promotions)
            if self.quoted
            else None
        )


def today(
    cart: Cart,
    goods: Mapping[UUID, Goods],
    code: Reading,
    short: Mapping[UUID, int] | None = None,
    *,
    refused: str = "",
) -> CartToday:
    """Return a cart beside its goods and what makes it cheaper; `short` knows the stock of some variants better.

    `refused` is why the cart's code is known to take nothing off. Raises CassandraUnavailable.
    """
    lines = []
    for line in cart.lines:
        there = goods[line.product_id]
        stock = there.stock.get(line.variant_id, Stock())
        lines.append(LineToday(line, there, (short or {}).get(line.variant_id, stock.available)))
    if cart.checkout_id and short is None:
        lines = _with_its_own(cart.checkout_id, lines)
    found = CartToday(cart, tuple(lines), Applied())
    return replace(found, applied=code.applied(found.quoted, datetime.now(UTC), refused=refused))


def _with_its_own(checkout_id: UUID, lines: Sequence[LineToday]) -> list[LineToday]:
    """Count what the cart's own checkout keeps: nobody's order is in the way of their own cart."""
    missing = {
        each.line.variant_id: place
        for place, each in enumerate(lines, 1)
        if each.sold_out or each.short
    }
    # A line's place in its order is that in the cart, or before it.
    kept = kept_for(
        checkout_id,
        {variant_id: place for variant_id, place in missing.items() if place <= MOST_LOOKED_AT},
    )
    return [
        replace(each, left=each.left + units) if (units := kept.get(each.line.variant_id)) else each
        for each in lines
    ]


def as_today(
    cart: Cart, short: Mapping[UUID, int] | None = None, *, person: str = "", refused: str = ""
) -> CartToday:
    """Read what a cart's lines cost today. `person` is who buys (promotions.operations.person_key), if that is known.

    Raises CassandraUnavailable.
    """
    code = promotions.reading(cart.voucher, person)
    return today(
        cart, goods_of(line.product_id for line in cart.lines), code, short, refused=refused
    )


def shown(reading: Chain, hint: UUID | None, person: str = "") -> CartToday | None:
    """Return the active cart of the owner whose badge is being read, as it is today, or None.

    Two rounds: `hint` is the cart that is probably active, so its lines are read beside the list of carts, and what
    they need of the catalogue beside the badge's sums. A wrong hint costs two rounds more. Raises CassandraUnavailable.
    """
    rows = queries.lines_started(hint).rows() if hint else []
    goods, code = _goods_of(rows), _code_of(rows, person)
    carts, _ = reading.result()
    found = queries.active(carts)
    if found is None:
        return None
    if found.cart_id != hint:
        rows = queries.lines_started(found.cart_id).rows()
        goods, code = _goods_of(rows), _code_of(rows, person)
    return today(queries.as_cart(found.cart_id, found.cart_name, rows), goods.collected(), code)


def _code_of(rows: Sequence[Row], person: str) -> Reading:
    return promotions.reading((rows[0].voucher_code or "") if rows else "", person)


def _goods_of(rows: Iterable[Row]) -> GoodsReading:
    return GoodsReading(row.product_id for row in rows if row.product_id is not None)
