"""A cart at today's prices and stock, for the cart's page and the checkout."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from uuid import UUID

from django.conf import settings
from moneyed import Money

from cart import queries
from cart.entities import Cart, Line
from cassandra_db import Chain, Row, current_time
from catalogue.entities import Variant
from catalogue.queries import get_sellable_variant
from inventory.entities import Backorder, Stock
from inventory.products_with_stock import (
    PendingProductsWithStock,
    ProductWithStock,
    get_products_with_stock,
)
from inventory.queries import get_reserved_units
from pricing import delivery, quotes, tax
from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import QuotedLine, lines_subtotal
from promotions import queries as promotions
from promotions.entities import AppliedPromotions
from promotions.queries import PendingPromotions

# The most lines for which the reservations of the cart's own checkout are read.
MAX_PRODUCTS_CHECKED = 20


@dataclass(frozen=True)
class PriceConsent:
    """A line with a risen price, as a page showed it: quantity, old price and today's price, in minor units."""

    key: str
    quantity: int
    old_price: int
    new_price: int

    def __str__(self) -> str:
        return f"{self.key}:{self.quantity}:{self.old_price}:{self.new_price}"


@dataclass(frozen=True)
class PricedLine:
    """A line with today's price and stock of its variant. `available` units can be bought now.

    A line costs today's price. A price fall applies at once. A price rise counts in all sums, and the shopper must accept
    the rise before ordering (`dearer_lines`).
    """

    line: Line
    product_with_stock: ProductWithStock
    available: int

    @property
    def variant(self) -> Variant | None:
        return get_sellable_variant(self.product_with_stock.product, self.line.variant_id)

    @property
    def is_gone(self) -> bool:
        return self.variant is None

    @property
    def is_sold_out(self) -> bool:
        return not self.is_gone and self.available < 1

    @property
    def is_short(self) -> bool:
        """Whether some units are left, but fewer than the line has."""
        return not self.is_gone and 0 < self.available < self.line.quantity

    @property
    def has_few_left(self) -> bool:
        stock = self.product_with_stock.stock.get(self.line.variant_id)
        return stock is not None and stock.availability == "few" and stock.backorder is None

    @property
    def backorder(self) -> Backorder | None:
        """The backorder that the line's units would wait for; None if the units are sent at once."""
        stock = self.product_with_stock.stock.get(self.line.variant_id)
        return stock.backorder_for(self.line.quantity) if stock else None

    @property
    def price(self) -> Money:
        """Today's price of a unit."""
        return self.variant.price if self.variant else self.line.price

    @property
    def has_price_rise(self) -> bool:
        """Whether the line can be ordered, at a risen price that the shopper has not accepted yet."""
        return bool(self.orderable_quantity) and self.price > self.line.price

    @property
    def has_price_fall(self) -> bool:
        return self.price < self.line.price

    @property
    def price_consent(self) -> PriceConsent:
        """The consent of a shopper who accepts today's price."""
        return PriceConsent(
            self.line.key,
            self.line.quantity,
            to_minor_units(self.line.price),
            to_minor_units(self.price),
        )

    @property
    def orderable_quantity(self) -> int:
        """The units that can be ordered now."""
        return 0 if self.is_gone else max(0, min(self.line.quantity, self.available))

    @property
    def total(self) -> Money:
        """The price of the orderable units."""
        return self.price * self.orderable_quantity

    @property
    def quoted_line(self) -> QuotedLine | None:
        """The line for a quote, with the units that can be ordered now; None if there are none."""
        product, variant = self.product_with_stock.product, self.variant
        if product is None or variant is None or not self.orderable_quantity:
            return None
        return product.quote_line(variant, self.orderable_quantity)


@dataclass(frozen=True)
class PricedCart:
    """A cart as it can be ordered today. Lines whose variant is no longer sold or sold out do not count."""

    cart: Cart
    lines: tuple[PricedLine, ...]
    applied_promotions: AppliedPromotions  # the promotions that apply, and the result of its code

    @cached_property
    def quoted_lines(self) -> tuple[QuotedLine, ...]:
        return _quote_lines(self.lines)

    @property
    def subtotal(self) -> Money:
        """The sum of the cart, which all pages show (X123)."""
        return sum_lines(self.lines)

    @cached_property
    def dearer_lines(self) -> tuple[PricedLine, ...]:
        """The lines with a risen price that the shopper has not accepted yet."""
        return tuple(each for each in self.lines if each.has_price_rise)

    @property
    def price_consents(self) -> list[PriceConsent]:
        return [each.price_consent for each in self.dearer_lines]

    def compute_quote(
        self, tax_rates: tax.TaxRates, method: delivery.DeliveryMethod
    ) -> quotes.Quote | None:
        """Return the sums with delivery and tax; None if no line can be ordered."""
        return (
            quotes.compute_quote(
                self.quoted_lines, tax_rates, method, self.applied_promotions.promotions
            )
            if self.quoted_lines
            else None
        )


def _quote_lines(lines: Iterable[PricedLine]) -> tuple[QuotedLine, ...]:
    return tuple(quoted for each in lines if (quoted := each.quoted_line))


def sum_lines(lines: Iterable[PricedLine]) -> Money:
    """Return the sum of the orderable units at today's prices, without delivery and before discounts.

    Every page shows this sum, and it is the subtotal of the order (pricing.quotes.lines_subtotal).
    """
    quoted = _quote_lines(lines)
    return lines_subtotal(quoted) if quoted else from_minor_units(0, settings.CURRENCY)


def price_lines(
    cart: Cart,
    products: Mapping[UUID, ProductWithStock],
    available_units: Mapping[UUID, int] | None = None,
) -> tuple[PricedLine, ...]:
    """Return a cart's lines with their products; `available_units` has newer stock of some variants. Raises CassandraUnavailable."""
    lines = []
    for line in cart.lines:
        product = products[line.product_id]
        stock = product.stock.get(line.variant_id, Stock())
        lines.append(
            PricedLine(line, product, (available_units or {}).get(line.variant_id, stock.available))
        )
    if cart.checkout_id and available_units is None:
        lines = _add_own_reservations(cart.checkout_id, lines)
    return tuple(lines)


def price_cart(
    cart: Cart,
    products: Mapping[UUID, ProductWithStock],
    pending_promotions: PendingPromotions,
    available_units: Mapping[UUID, int] | None = None,
    *,
    refusal_reason: str = "",
) -> PricedCart:
    """Return a cart with its products and promotions; `available_units` has newer stock of some variants.

    `refusal_reason` is the reason why the cart's code gives no discount, if known. Raises CassandraUnavailable.
    """
    found = PricedCart(cart, price_lines(cart, products, available_units), AppliedPromotions())
    return replace(
        found,
        applied_promotions=pending_promotions.collect(
            found.quoted_lines, current_time(), refusal_reason=refusal_reason
        ),
    )


def _add_own_reservations(checkout_id: UUID, lines: Sequence[PricedLine]) -> list[PricedLine]:
    """Count units that the cart's own checkout has reserved as available."""
    missing = {
        each.line.variant_id: number
        for number, each in enumerate(lines, 1)
        if each.is_sold_out or each.is_short
    }
    # The number of a line in the order is its number in the cart, or a smaller number.
    reserved = get_reserved_units(
        checkout_id,
        {
            variant_id: number
            for variant_id, number in missing.items()
            if number <= MAX_PRODUCTS_CHECKED
        },
    )
    return [
        replace(each, available=each.available + units)
        if (units := reserved.get(each.line.variant_id))
        else each
        for each in lines
    ]


def count_units_left(cart_id: UUID, variant_id: UUID, available: int) -> int:
    """Return the units of a variant that a cart can order: the `available` ones, and the ones that its checkout has reserved.

    Raises CassandraUnavailable.
    """
    cart = queries.get_cart(cart_id)
    numbers = {line.variant_id: number for number, line in enumerate(cart.lines, 1)}
    number = numbers.get(variant_id, MAX_PRODUCTS_CHECKED + 1)
    if cart.checkout_id is None or number > MAX_PRODUCTS_CHECKED:
        return available
    return available + get_reserved_units(cart.checkout_id, {variant_id: number})[variant_id]


def get_priced_cart(
    cart: Cart,
    available_units: Mapping[UUID, int] | None = None,
    *,
    customer_keys: Sequence[str] = (),
    refusal_reason: str = "",
) -> PricedCart:
    """Return a cart at today's prices.

    `customer_keys` are the customer's keys for codes (promotions.operations.voucher_customer_keys), if known. Raises
    CassandraUnavailable.
    """
    pending_promotions = promotions.prefetch_promotions(cart.voucher, customer_keys)
    return price_cart(
        cart,
        get_products_with_stock(line.product_id for line in cart.lines),
        pending_promotions,
        available_units,
        refusal_reason=refusal_reason,
    )


def get_active_priced_cart(
    reading: Chain, expected_cart_id: UUID | None, find_customer_keys: Callable[[], Sequence[str]]
) -> PricedCart | None:
    """Return the active cart of the owner whose badge is being read, at today's prices, or None.

    It takes two rounds of reads: first the list of carts and the lines of `expected_cart_id`, probably the active cart; then
    the badge's sums and the lines' products. If another cart is active, it takes two more rounds. `find_customer_keys` is
    called only for a cart with a code. Raises CassandraUnavailable.
    """
    rows = queries.prefetch_lines(expected_cart_id).rows() if expected_cart_id else []
    products, pending_promotions = (
        _prefetch_products(rows),
        _prefetch_promotions(rows, find_customer_keys),
    )
    carts, _ = reading.result()
    found = queries.find_active_cart_row(carts)
    if found is None:
        return None
    if found.cart_id != expected_cart_id:
        rows = queries.prefetch_lines(found.cart_id).rows()
        products, pending_promotions = (
            _prefetch_products(rows),
            _prefetch_promotions(rows, find_customer_keys),
        )
    return price_cart(
        queries.cart_from_rows(found.cart_id, found.cart_name, rows),
        products.collect(),
        pending_promotions,
    )


def _prefetch_promotions(
    rows: Sequence[Row], find_customer_keys: Callable[[], Sequence[str]]
) -> PendingPromotions:
    code = (rows[0].voucher_code or "") if rows else ""
    return promotions.prefetch_promotions(code, find_customer_keys() if code else ())


def _prefetch_products(rows: Iterable[Row]) -> PendingProductsWithStock:
    return PendingProductsWithStock(row.product_id for row in rows if row.product_id is not None)
