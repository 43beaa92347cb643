"""The sums of an order: subtotal, discounts, delivery and tax. Pure arithmetic without reads or writes.

Rounding: a unit's price is in whole cents, so lines and subtotal are not rounded. A percentage is taken of the sum of all lines
to which it applies. It is rounded half up once, and spread over the lines in proportion (pricing.proration.prorate_amount). Tax
is computed once per rate from the sum with this rate, and rounded half up (pricing.tax). So to the cent, lines + delivery + added
tax - discount = total (I9). The parts of lines add up to their whole, too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from moneyed import Money

from pricing import delivery, tax
from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount


@dataclass(frozen=True)
class VariantSnapshot:
    """The values of a variant that an order line keeps, even if the variant changes."""

    product_id: UUID
    variant_id: UUID
    sku: str
    name: str
    slug: str
    options: dict[str, str]
    picture: str

    @property
    def label(self) -> str:
        """The variant's name with the chosen options: "Mug, Olive"."""
        return line_label(self.name, self.options)

    @property
    def options_label(self) -> str:
        """The chosen options: "Olive, 300 ml"; "" without options."""
        return options_label(self.options)


def snapshot_columns(source: Any) -> dict[str, Any]:
    """Return a snapshot's columns by name. The source is an order line or a row of Cassandra, where an empty map is null."""
    found = {each.name: getattr(source, each.name) for each in fields(VariantSnapshot)}
    return found | {"options": dict(source.options or {})}


@dataclass(frozen=True)
class QuotedLine(VariantSnapshot):
    """A variant, its quantity and its unit price. The price includes tax, except in countries where tax is added."""

    unit_price: Money
    quantity: int
    tax_class: str
    weight_grams: int = 0  # of one unit
    category_id: UUID | None = None

    @property
    def total(self) -> Money:
        return self.unit_price * self.quantity


@dataclass(frozen=True)
class LineDiscounts:
    """The effect of a promotion: the discount of each line in minor units, and whether delivery is free."""

    line_amounts: tuple[int, ...]
    has_free_delivery: bool = False


class Promotion(Protocol):
    """A promotion as a quote needs it; promotions.rules decides which promotions apply."""

    @property
    def key(self) -> str:
        """The promotion's key, or ""."""

    @property
    def title(self) -> str:
        """The promotion's name, for shoppers."""

    def compute_line_discounts(
        self, lines: Sequence[QuotedLine], remaining: Sequence[int]
    ) -> LineDiscounts:
        """Return the promotion's discounts. `remaining` is each line's sum after earlier promotions, in minor units."""


@dataclass(frozen=True)
class Discount:
    """A discount and the name of its promotion, for shoppers. The amount of free delivery is 0.

    `key` is the promotion's key, `lines` has the numbers of the lines that it reduces. Orders of earlier versions lack both.
    """

    name: str
    amount: Money
    key: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Quote:
    """The sums of an order: total = subtotal + delivery + tax_added - discount (I9).

    `subtotal` is before discounts, `delivery` after them. `tax` is the tax in the total, whether included or added.
    `line_discounts` and `line_taxes` (added tax) are the shares of the lines. The rest of the added tax belongs to delivery.
    """

    subtotal: Money
    delivery: Money
    discount: Money
    total: Money
    taxes: tuple[tax.TaxPart, ...]
    discounts: tuple[Discount, ...] = ()
    line_discounts: tuple[Money, ...] = ()
    line_taxes: tuple[Money, ...] = ()
    is_tax_added: bool = False  # whether tax is added to the prices; else the prices include it

    @property
    def tax(self) -> Money:
        return sum((part.tax for part in self.taxes), self.total * 0)

    @property
    def tax_added(self) -> Money:
        return self.tax if self.is_tax_added else self.total * 0


def compute_quote(
    lines: Sequence[QuotedLine],
    tax_rates: tax.TaxRates,
    method: delivery.DeliveryMethod,
    promotions: Sequence[Promotion] = (),
) -> Quote:
    """Compute the sums of an order. Delivery is taxed at the standard rate. Promotions apply in the given order.

    The subtotal before discounts decides whether delivery is free, so a code never makes delivery dearer. Raises ValueError
    without lines.
    """
    if not lines:
        raise ValueError("an order has at least one line")
    subtotal = lines_subtotal(lines)
    currency = subtotal.currency.code
    off, discounts, free_delivery = _apply_promotions(lines, promotions)
    price = subtotal * 0 if free_delivery else method.price_for(subtotal, lines_weight(lines))
    discount = from_minor_units(sum(off), currency)
    less = [from_minor_units(each, currency) for each in off]
    left = [line.total - each for line, each in zip(lines, less, strict=True)]
    taxed = [*zip((line.tax_class for line in lines), left, strict=True), ("standard", price)]
    without_tax = subtotal + price - discount
    added, rates = tax_rates.is_added, tax_rates.by_class
    parts = (tax.compute_added_tax if added else tax.split_included_tax)(taxed, rates)
    return Quote(
        subtotal,
        price,
        discount,
        without_tax + sum((part.tax for part in parts), subtotal * 0) if added else without_tax,
        parts,
        discounts,
        tuple(less),
        added_tax_by_line(taxed, parts, rates)[: len(lines)]
        if added
        else (subtotal * 0,) * len(lines),
        added,
    )


def _apply_promotions(
    lines: Sequence[QuotedLine], promotions: Iterable[Promotion]
) -> tuple[list[int], tuple[Discount, ...], bool]:
    """Return each line's discount, each promotion's discount, and whether delivery is free. No line falls below zero."""
    currency = lines[0].total.currency.code
    left = [to_minor_units(line.total) for line in lines]
    off, free_delivery = [0] * len(lines), False
    discounts: list[Discount] = []
    for each in promotions:
        reduction = each.compute_line_discounts(lines, left)
        less = [
            max(0, min(wanted, remaining))
            for wanted, remaining in zip(reduction.line_amounts, left, strict=True)
        ]
        if not any(less) and (free_delivery or not reduction.has_free_delivery):
            continue
        off = [before + more for before, more in zip(off, less, strict=True)]
        left = [remaining - more for remaining, more in zip(left, less, strict=True)]
        free_delivery = free_delivery or reduction.has_free_delivery
        reduced = tuple(number for number, amount in enumerate(less, 1) if amount)
        amount = from_minor_units(sum(less), currency)
        discounts.append(Discount(each.title, amount, each.key, reduced))
    return off, tuple(discounts), free_delivery


def added_tax_by_line(
    taxed: Sequence[tuple[str, Money]], parts: Iterable[tax.TaxPart], rates: Mapping[str, Decimal]
) -> tuple[Money, ...]:
    """Return the added tax of each sum (tax class, net). A rate's tax is spread over all sums with this rate."""
    shares = [amount * 0 for _, amount in taxed]
    for part in parts:
        indexes = [index for index, (kind, _) in enumerate(taxed) if rates[kind] == part.rate]
        cents_each = prorate_amount(
            to_minor_units(part.tax), [to_minor_units(taxed[index][1]) for index in indexes]
        )
        for index, cents in zip(indexes, cents_each, strict=True):
            shares[index] = from_minor_units(cents, part.tax.currency.code)
    return tuple(shares)


def lines_subtotal(lines: Iterable[QuotedLine]) -> Money:
    """Return the sum of the lines, before discounts and without delivery."""
    first, *rest = (line.total for line in lines)
    return sum(rest, first)


def lines_weight(lines: Iterable[QuotedLine]) -> int:
    """Return the weight of all lines together, in grams."""
    return sum(line.weight_grams * line.quantity for line in lines)


# Sizes of clothes, which are shown in capitals: xs, m, xxl, 3xl.
_SIZE = re.compile(r"[0-9]{1,2}x[sl]|x{0,4}[sl]|m")


def option_label(value: str) -> str:
    """Return an option's value as pages show it (X132): "Mustard", "XL". Values with capitals are not changed."""
    if _SIZE.fullmatch(value):
        return value.upper()
    return value if value != value.lower() else value[:1].upper() + value[1:]


def options_label(options: Mapping[str, str]) -> str:
    """Return the chosen options in words: "Mustard, S"; "" without options."""
    return ", ".join(option_label(value) for value in options.values())


def line_label(name: str, options: Mapping[str, str]) -> str:
    """Return a product's name with the chosen options: "Mug, Olive"."""
    return ", ".join(filter(None, (name, options_label(options))))
