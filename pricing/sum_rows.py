"""The rows of an order's sums, the same in a cart, an order, a mail and an invoice (X124)."""

from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _
from moneyed import Money

from pricing.quotes import Discount
from pricing.templatetags.money import format_money

SUBTOTAL, DISCOUNT, DELIVERY, TAX, TOTAL = "subtotal", "discount", "delivery", "tax", "total"


class Sums(Protocol):
    """The sums of a quote or an order."""

    @property
    def subtotal(self) -> Money:
        """The sum of the lines, before discounts."""

    @property
    def discounts(self) -> tuple[Discount, ...]:
        """The discounts, each with its name. Empty for an order that stores only their sum."""

    @property
    def discount(self) -> Money:
        """The sum of all discounts."""

    @property
    def delivery(self) -> Money:
        """The price of delivery after discounts."""

    @property
    def tax_added(self) -> Money:
        """The tax that is added to the prices; zero where prices include tax."""

    @property
    def total(self) -> Money:
        """The sum to be paid."""


@dataclass(frozen=True)
class SumRow:
    """A row of an order's sums: its kind, its label, and its amount as text. Discounts have a minus."""

    kind: str
    label: str
    amount: str


def list_sum_rows(sums: Sums, method_name: str) -> list[SumRow]:
    """Return the rows from the subtotal down to the total. `method_name` is the name of the delivery method."""
    rows = [SumRow(SUBTOTAL, _("Subtotal"), format_money(sums.subtotal))]
    rows += [SumRow(DISCOUNT, each.name, _taken_off(each.amount)) for each in sums.discounts]
    if sums.discount.amount and not sums.discounts:
        rows.append(SumRow(DISCOUNT, _("Discount"), _taken_off(sums.discount)))
    label = _("Delivery, %(method)s") % {"method": method_name}
    price = format_money(sums.delivery) if sums.delivery.amount else _("Free")
    rows.append(SumRow(DELIVERY, label, price))
    if sums.tax_added.amount:
        rows.append(SumRow(TAX, _("Tax"), format_money(sums.tax_added)))
    return [*rows, SumRow(TOTAL, _("Total"), format_money(sums.total))]


def _taken_off(amount: Money) -> str:
    # Free delivery needs no row here: the price of delivery already includes it.
    return f"−{format_money(amount)}" if amount.amount else _("Free delivery")
