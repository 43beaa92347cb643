"""What an order comes to: goods, delivery and the tax in them. Pure sums; nothing here reads or writes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from moneyed import Money

from orders import delivery, tax


@dataclass(frozen=True)
class QuotedLine:
    """A variant, how many of it, and what one costs (tax included)."""

    product_id: UUID
    variant_id: UUID
    sku: str
    name: str
    slug: str
    options: dict[str, str]
    picture: str
    unit_price: Money
    quantity: int
    tax_class: str

    @property
    def total(self) -> Money:
        return self.unit_price * self.quantity

    @property
    def label(self) -> str:
        """The name with what was chosen: "Mug, olive"."""
        return ", ".join([self.name, *(value.lower() for value in self.options.values())])


@dataclass(frozen=True)
class Sums:
    """What an order comes to. total = subtotal + delivery - discount (I9); `tax` is included in it."""

    subtotal: Money
    delivery: Money
    discount: Money
    total: Money
    taxes: tuple[tax.TaxPart, ...]

    @property
    def tax(self) -> Money:
        return sum((part.tax for part in self.taxes), self.total * 0)


def sums(lines: Sequence[QuotedLine], country: str, method: delivery.Method) -> Sums:
    """Add up an order's lines and its delivery, which is taxed at the standard rate. Raises ValueError without lines."""
    if not lines:
        raise ValueError("an order has at least one line")
    subtotal = goods(lines)
    price = method.price_for(subtotal)
    taxed = [*((line.tax_class, line.total) for line in lines), ("standard", price)]
    return Sums(subtotal, price, subtotal * 0, subtotal + price, tax.included(taxed, country))


def goods(lines: Iterable[QuotedLine]) -> Money:
    """Return what the lines cost without delivery."""
    first, *rest = (line.total for line in lines)
    return sum(rest, first)
