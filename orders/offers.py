"""What the checkout shows: a cart at today's prices and stock, and the token that binds what was shown to what is charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.core import signing

from cart.queries import Cart, Line, on_sale
from catalogue import queries as catalogue
from catalogue.money import minor, money
from catalogue.templatetags.money import money as in_words
from inventory import queries as inventory
from orders import delivery, quotes
from orders.quotes import QuotedLine

_SALT = "orders.checkout"
# How long a checkout page may stay open.
VALID_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Shown:
    """What a checkout page showed: (variant, quantity, price of one) for each line, and the total on the button."""

    order_id: UUID
    owner_id: UUID
    lines: tuple[tuple[UUID, int, int], ...]
    total: int
    currency: str

    def token(self) -> str:
        """Return it signed, for the form."""
        lines = [[variant_id.hex, quantity, price] for variant_id, quantity, price in self.lines]
        content = [self.order_id.hex, self.owner_id.hex, lines, self.total, self.currency]
        return signing.dumps(content, salt=_SALT, compress=True)

    @property
    def content(self) -> list[Any]:
        """What of it belongs to the order's content."""
        return [[str(variant_id), quantity, price] for variant_id, quantity, price in self.lines] + [self.total]


def shown_in(token: str, owner_id: UUID | None) -> Shown | None:
    """Return what a page showed; None if its token is not ours, is too old, or was made for somebody else."""
    try:
        order_id, owner, lines, total, currency = signing.loads(token, salt=_SALT, max_age=VALID_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    if owner_id is None or owner != owner_id.hex:
        return None
    quoted = tuple((UUID(hex=variant_id), quantity, price) for variant_id, quantity, price in lines)
    return Shown(UUID(hex=order_id), owner_id, quoted, total, currency)


@dataclass(frozen=True)
class Offer:
    """What could be ordered of a cart now, and in words what of it differs from the cart's own lines."""

    lines: tuple[QuotedLine, ...]
    reasons: Mapping[UUID, str]  # by variant: why it is not in the offer as it is in the cart

    def sums(self, method: delivery.Method, country: str) -> quotes.Sums:
        """Return what it comes to. Raises ValueError if nothing is left to order."""
        return quotes.sums(self.lines, country, method)

    def shown(self, sums: quotes.Sums, owner_id: UUID, order_id: UUID | None = None) -> Shown:
        """Return what a page that shows this promises."""
        lines = tuple((line.variant_id, line.quantity, minor(line.unit_price)) for line in self.lines)
        return Shown(order_id or uuid4(), owner_id, lines, minor(sums.total), sums.total.currency.code)


def offered(cart: Cart, short: Mapping[UUID, int] | None = None) -> Offer:
    """Return what can be ordered of a cart at today's prices and stock; `short` knows the stock of some better.

    Raises CassandraUnavailable.
    """
    product_ids = {line.product_id for line in cart.lines}
    stock_reading = {product_id: inventory.stock_started(product_id) for product_id in product_ids}
    products = catalogue.products(product_ids)
    stocks = {product_id: inventory.stock_in(pending.rows()) for product_id, pending in stock_reading.items()}
    lines, reasons = [], {}
    for line in cart.lines:
        stock = stocks[line.product_id].get(line.variant_id)
        left = (short or {}).get(line.variant_id, stock.available if stock else 0)
        quoted, reason = _quoted(line, products.get(line.product_id), left)
        if quoted:
            lines.append(quoted)
        if reason:
            reasons[line.variant_id] = reason
    return Offer(tuple(lines), reasons)


def _quoted(line: Line, product: catalogue.Product | None, left: int) -> tuple[QuotedLine | None, str]:
    variant = on_sale(product, line.variant_id)
    if product is None or variant is None:
        return None, f"{line.label} is no longer sold and was left out."
    if left < 1:
        return None, f"{line.label} is sold out and was left out."
    quantity, reason = line.quantity, ""
    if left < quantity:
        quantity, reason = (
            left,
            f"Only {left} of {line.label} {'is' if left == 1 else 'are'} left; you wanted {line.quantity}.",
        )
    return (
        QuotedLine(
            product.product_id,
            variant.variant_id,
            variant.sku,
            product.name,
            product.slug,
            variant.options,
            variant.picture,
            variant.price,
            quantity,
            product.tax_class,
        ),
        reason,
    )


def changes(before: Shown, offer: Offer, sums: quotes.Sums | None) -> list[str]:
    """Say exactly what is not any more as it was shown; nothing if all is."""
    now = {line.variant_id: line for line in offer.lines}
    found = []
    for variant_id, quantity, price in before.lines:
        line = now.pop(variant_id, None)
        if line is None:
            found.append(
                offer.reasons.get(variant_id, "Something was taken out of your cart, and so out of this order.")
            )
            continue
        if line.quantity != quantity:
            found.append(
                offer.reasons.get(variant_id)
                or f"Your cart has {line.quantity} of {line.label} now; here it was {quantity}."
            )
        if minor(line.unit_price) != price:
            old = money(price, before.currency)
            found.append(f"{line.label} costs {in_words(line.unit_price)} now; here it was {in_words(old)}.")
    found += [f"{line.label} was put into your cart, and so into this order." for line in now.values()]
    if not found and sums and minor(sums.total) != before.total:
        was = money(before.total, before.currency)
        found.append(
            f"With the delivery you chose the total is {in_words(sums.total)}; the button said {in_words(was)}."
        )
    return found


def in_cart(cart: Cart, owner_id: UUID) -> Shown:
    """Return what the cart's page showed of its lines."""
    lines = tuple((line.variant_id, line.quantity, minor(line.price)) for line in cart.lines)
    return Shown(cart.cart_id, owner_id, lines, minor(cart.subtotal), cart.subtotal.currency.code)
