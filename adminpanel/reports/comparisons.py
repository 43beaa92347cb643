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


@dataclass(frozen=True)
class Sales:
    """Sales figures in one currency. The orders by first-time and returning customers are None if they are not counted."""

    figures: Figures
    currency: str
    first_orders: int | None = None
    returning_orders: int | None = None

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
    def returning(self) -> float | None:
        """The per cent of the orders that came from returning customers; None if this is unknown for all orders."""
        known = (self.first_orders or 0) + (self.returning_orders or 0)
        return 100 * (self.returning_orders or 0) / known if known else None


# The figures of the summary. Shares are in per cent.
SUMMARY: Mapping[StrOrPromise, Callable[[Sales], Money | float | None]] = {
    gettext_lazy("Orders"): lambda sales: sales.figures.orders,
    gettext_lazy("Units"): lambda sales: sales.figures.units,
    gettext_lazy("Units per order"): lambda sales: sales.figures.units_per_order,
    gettext_lazy("Sold"): lambda sales: sales.gross,
    gettext_lazy("Average order"): lambda sales: sales.average_order,
    gettext_lazy("Refunded"): lambda sales: sales.refunded,
    gettext_lazy("Net"): lambda sales: sales.gross_after_refunds,
    gettext_lazy("Net without tax"): lambda sales: sales.net_after_refunds,
}
SHARES: Mapping[StrOrPromise, Callable[[Sales], float | None]] = {
    gettext_lazy("Return rate"): lambda sales: sales.figures.return_rate,
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


def list_summary(now: Sales, previous: Sales, year_before: Sales) -> Iterator[SummaryLine]:
    """Yield the figures of a period, each compared with the two others."""
    for label, read in SUMMARY.items():
        value = read(now)
        earlier = (compare(value, read(each)) for each in (previous, year_before))
        yield SummaryLine(label, format_figure(value), *earlier)
    for label, read_share in SHARES.items():
        share = read_share(now)
        earlier = (_compare_shares(share, read_share(each)) for each in (previous, year_before))
        yield SummaryLine(label, _format_share(share), *earlier)


def compare(now: Money | float | None, before: Money | float | None) -> Comparison:
    """Return a figure of an earlier period, compared with the present one."""
    return Comparison(format_figure(before), describe_change(percent_change(now, before)))


def percent_change(now: Money | float | None, before: Money | float | None) -> float | None:
    """Return by how many per cent a figure has changed; None if there was nothing to compare with."""
    if now is None or not before:
        return None
    return 100 * (_number(now) / _number(before) - 1)


def _number(value: Money | float) -> float:
    return float(value.amount if isinstance(value, Money) else value)


def describe_change(percent: float | None) -> str:
    """Return a change in words: "up 12.5 %", "down 3.0 %" or "no change"; "" if there is none to describe."""
    if percent is None:
        return ""
    size = number_format(f"{abs(percent):.1f}")
    if size == number_format("0.0"):
        return _("no change")
    words = _("up %(size)s %%") if percent > 0 else _("down %(size)s %%")
    return words % {"size": size}


def _compare_shares(now: float | None, before: float | None) -> Comparison:
    if now is None or before is None:
        return Comparison(_format_share(before), "")
    size = number_format(f"{abs(now - before):.1f}")
    words = _("up %(size)s points") if now > before else _("down %(size)s points")
    change = _("no change") if size == number_format("0.0") else words % {"size": size}
    return Comparison(_format_share(before), change)


def _format_share(share: float | None) -> str:
    return "–" if share is None else f"{number_format(f'{share:.1f}')} %"


def format_figure(value: Money | float | None) -> str:
    """Return a figure as pages show it; "–" if there is none."""
    if value is None:
        return "–"
    if isinstance(value, Money):
        return format_money(value)
    return str(number_format(value if isinstance(value, int) else f"{value:.2f}"))
