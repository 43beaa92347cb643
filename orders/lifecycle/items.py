"""An order's lines."""

from dataclasses import dataclass, replace
from typing import Self

from moneyed import Money

from pricing.money import from_minor_units, to_minor_units
from pricing.proration import prorate_amount, prorate_units
from pricing.quotes import VariantSnapshot


@dataclass(frozen=True)
class Item(VariantSnapshot):
    """A line of an order when it was placed; Order.current_lines has the present lines. Prices do not include `tax_added`."""

    line_number: int
    unit_price: Money
    quantity: int
    line_total: Money
    discount: Money  # its share of the order's discount
    tax_added: Money  # its share of the tax that is added to prices; else zero
    tax_class: str

    @property
    def final_total(self) -> Money:
        """The line's total less its discount, with its tax."""
        return self.line_total - self.discount + self.tax_added

    def units_total(self, units: int, before: int = 0) -> Money:
        """Return the total of `units` of the line, after `before` other units were accounted for.

        The parts of a line always add up to `final_total` (pricing.proration.prorate_units). Raises ValueError for too many units.
        """
        return from_minor_units(
            prorate_units(to_minor_units(self.final_total), self.quantity, units, before),
            self.final_total.currency.code,
        )

    def with_quantity(self, quantity: int) -> Self:
        """Return the line with fewer units, and their share of its discount and tax."""
        currency = self.line_total.currency.code
        return replace(
            self,
            quantity=quantity,
            line_total=self.unit_price * quantity,
            discount=from_minor_units(
                prorate_units(to_minor_units(self.discount), self.quantity, quantity, 0), currency
            ),
            tax_added=from_minor_units(
                prorate_units(to_minor_units(self.tax_added), self.quantity, quantity, 0), currency
            ),
        )


def prorate_discount(lines: tuple[Item, ...], discount: Money) -> tuple[Item, ...]:
    """Return the lines with a new total discount, divided in proportion to their present discounts. No line's discount grows."""
    discounts = [to_minor_units(line.discount) for line in lines]
    if to_minor_units(discount) >= sum(discounts):
        return lines
    currency = discount.currency.code
    return tuple(
        replace(line, discount=from_minor_units(part, currency))
        for line, part in zip(
            lines, prorate_amount(to_minor_units(discount), discounts), strict=True
        )
    )
