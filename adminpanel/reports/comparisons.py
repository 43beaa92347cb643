"""Sales figures as pages show them, and in words how they differ from those of another period."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from analytics.figures import Figures
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from web.types import StrOrPromise


class Share(float):
    """A share in per cent."""


Figure = Money | float | None


def share(part: int, whole: int) -> Share | None:
    """Return how many per cent a part is of a whole; None of nothing."""
    return Share(100 * part / whole) if whole else None


@dataclass(frozen=True)
class Sales:
    """Sales figures in one currency. The orders by first-time and returning customers are None if they are not counted."""

    figures: Figures
    currency: str
    first_orders: int | None = None
    returning_orders: int | None = None

    @property
    def orders(self) -> int | None:
        """The number of orders. None for a sum of several keys, under each of which the same order may count."""
        return self.figures.orders if self.figures.orders or not self.figures.units else None

    @property
    def gross(self) -> Money:
        return from_minor_units(self.figures.gross, self.currency)

    @property
    def average_order(self) -> Money | None:
        average = self.figures.average_order
        return None if average is None else from_minor_units(average, self.currency)

    @property
    def refunded(self) -> Money:
        return from_minor_units(self.figures.refunded_gross, self.currency)

    @property
    def gross_after_refunds(self) -> Money:
        return from_minor_units(self.figures.gross_after_refunds, self.currency)

    @property
    def net_after_refunds(self) -> Money:
        return from_minor_units(self.figures.net_after_refunds, self.currency)

    @property
    def return_rate(self) -> Share | None:
        """The per cent of the sold units that were refunded; None without units."""
        return share(self.figures.refunded_units, self.figures.units)

    @property
    def returning(self) -> Share | None:
        """The per cent of the orders that came from returning customers; None if this is unknown for all orders."""
        returning = self.returning_orders or 0
        return share(returning, (self.first_orders or 0) + returning)


# The figures of the summary.
SUMMARY: Mapping[StrOrPromise, Callable[[Sales], Figure]] = {
    gettext_lazy("Orders"): lambda sales: sales.figures.orders,
    gettext_lazy("Units"): lambda sales: sales.figures.units,
    gettext_lazy("Units per order"): lambda sales: sales.figures.units_per_order,
    gettext_lazy("Sold"): lambda sales: sales.gross,
    gettext_lazy("Average order"): lambda sales: sales.average_order,
    gettext_lazy("Refunded"): lambda sales: sales.refunded,
    gettext_lazy("After refunds"): lambda sales: sales.gross_after_refunds,
    gettext_lazy("After refunds, without tax"): lambda sales: sales.net_after_refunds,
    gettext_lazy("Return rate"): lambda sales: sales.return_rate,
    gettext_lazy("Returning customers"): lambda sales: sales.returning,
}


@dataclass(frozen=True)
class Comparison:
    """A figure of an earlier period as text, and in words how the figure has changed since then."""

    text: str
    change: str


@dataclass(frozen=True)
class SummaryLine:
    """A figure of the summary, compared with the previous period and with the year before."""

    label: StrOrPromise
    text: str
    previous: Comparison
    year_before: Comparison


def list_summary(now: Sales, *earlier: Sales) -> Iterator[SummaryLine]:
    """Yield the figures of a period, each compared with the previous period and with the year before."""
    for label, read in SUMMARY.items():
        value = read(now)
        compared = (compare(value, read(each)) for each in earlier)
        yield SummaryLine(label, format_figure(value), *compared)


def compare(now: Figure, before: Figure) -> Comparison:
    """Return a figure of an earlier period, compared with the present one: in per cent, or shares in points."""
    if isinstance(now, Share) and isinstance(before, Share):
        words = _describe_change(now - before, _("points"))
    else:
        words = _describe_change(percent_change(now, before), "%")
    return Comparison(format_figure(before), words)


def percent_change(now: Figure, before: Figure) -> float | None:
    """Return by how many per cent a figure has changed; None if there was nothing to compare with."""
    if now is None or not before:
        return None
    return 100 * (_number(now) / _number(before) - 1)


def _number(value: Money | float) -> float:
    return float(value.amount if isinstance(value, Money) else value)


def _describe_change(change: float | None, unit: str) -> str:
    """Return a change in words: "up 12.5 %", "down 3.0 points" or "no change"; "" if there is none to describe."""
    if change is None:
        return ""
    size = number_format(f"{abs(change):.1f}")
    if size == number_format("0.0"):
        return _("no change")
    words = _("up %(size)s %(unit)s") if change > 0 else _("down %(size)s %(unit)s")
    return words % {"size": size, "unit": unit}


def format_figure(value: Figure) -> str:
    """Return a figure as pages show it; "–" if there is none."""
    if value is None:
        return "–"
    if isinstance(value, Money):
        return format_money(value)
    if isinstance(value, Share):
        return f"{number_format(f'{value:.1f}')} %"
    return str(number_format(value if isinstance(value, int) else f"{value:.2f}"))
