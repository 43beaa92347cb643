"""The pages of the books: a month's taxes, payments and differences, and the open invoices. The same rows are sent as CSV."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _
from moneyed import Money

from books.entities import (
    FEE,
    PAYMENT,
    REFUND,
    BookDifference,
    BookMonth,
    BookSum,
    OpenInvoice,
    SumKey,
    next_month,
)
from books.operations import CLOSE_AFTER
from books.queries import (
    closed_months_from_rows,
    differences_from_rows,
    list_open_invoices,
    prefetch_closed_months,
    prefetch_differences,
    prefetch_sums,
    sums_from_rows,
)
from payments.gateways import METHODS
from pricing.delivery_settings import country_name
from pricing.money import from_minor_units
from spreadsheets.typed_values import format_price

_NONE = BookSum()


def _name_gateway(name: str) -> str:
    """Return the name of a gateway, or of the payment method that has none."""
    method = METHODS.get(name)
    return _(method.name) if method else name.capitalize()


@dataclass(frozen=True)
class TaxLine:
    """The sales and refunds in a country at a tax rate, in one currency. Without a country, it is the currency's total."""

    country: str
    rate: Decimal | None
    currency: str
    sales: BookSum
    refunds: BookSum

    @property
    def country_name(self) -> str:
        return country_name(self.country) if self.country else _("Total")

    @property
    def amounts(self) -> tuple[Money, ...]:
        """Net, tax and gross of the sales, then of the refunds, then the tax that is left."""
        sold, back = self.sales, self.refunds
        cents = (
            sold.net,
            sold.tax,
            sold.gross,
            back.net,
            back.tax,
            back.gross,
            sold.tax - back.tax,
        )
        return tuple(from_minor_units(each, self.currency) for each in cents)


@dataclass(frozen=True)
class PaymentLine:
    """The money that a gateway moved on a day, in one currency. Without a day, it is the total of the month."""

    day: date | None
    gateway: str
    currency: str
    received: int
    refunded: int
    fees: int | None  # None if the gateway has stated none

    @property
    def label(self) -> str:
        return _name_gateway(self.gateway)

    @property
    def amounts(self) -> tuple[Money | None, ...]:
        """What was received, refunded and kept as fees, and what is left. Unknown fees are None."""
        left = self.received - self.refunded - (self.fees or 0)
        return tuple(
            None if each is None else from_minor_units(each, self.currency)
            for each in (self.received, self.refunded, self.fees, left)
        )


@dataclass(frozen=True)
class BooksPage:
    """The books of a month. `closes_on` is the day on which the month will be closed at the earliest."""

    month: date
    state: BookMonth | None
    is_closed_before: bool
    taxes: tuple[TaxLine, ...]
    tax_totals: tuple[TaxLine, ...]
    payments: tuple[PaymentLine, ...]
    payment_totals: tuple[PaymentLine, ...]
    differences: tuple[BookDifference, ...]

    @property
    def closes_on(self) -> date:
        return next_month(self.month) + CLOSE_AFTER

    @property
    def earlier(self) -> date:
        return (self.month - timedelta(days=1)).replace(day=1)

    @property
    def later(self) -> date:
        return next_month(self.month)


def get_books_page(month: date) -> BooksPage:
    """Return the books of a month, which are read in one round. Raises CassandraUnavailable."""
    reading = (prefetch_sums(month), prefetch_closed_months(), prefetch_differences(month))
    sums, closed, differences = (pending.rows() for pending in reading)
    months, found = closed_months_from_rows(closed), sums_from_rows(sums)
    return BooksPage(
        month,
        next((each for each in months if each.month == month), None),
        bool(months) and month < months[0].month,
        *_list_taxes(found),
        *_list_payments(found),
        tuple(differences_from_rows(differences)),
    )


def _list_taxes(sums: Mapping[SumKey, BookSum]) -> tuple[tuple[TaxLine, ...], tuple[TaxLine, ...]]:
    """Return a line for each country and rate, and the totals of each currency."""
    lines: dict[tuple[str, str, Decimal | None], dict[str, BookSum]] = {}
    for key, each in sums.items():
        if key.kind in (PAYMENT, REFUND):
            for place in ((key.currency, key.country, key.rate), (key.currency, "", None)):
                line = lines.setdefault(place, {})
                line[key.kind] = line.get(key.kind, _NONE) + each
    made = [
        TaxLine(country, rate, currency, kinds.get(PAYMENT, _NONE), kinds.get(REFUND, _NONE))
        for (currency, country, rate), kinds in lines.items()
    ]
    made.sort(key=lambda line: (line.currency, line.country_name, -(line.rate or 0)))
    return tuple(line for line in made if line.country), tuple(
        line for line in made if not line.country
    )


def _list_payments(
    sums: Mapping[SumKey, BookSum],
) -> tuple[tuple[PaymentLine, ...], tuple[PaymentLine, ...]]:
    """Return a line for each day and gateway, and the totals of each gateway."""
    lines: dict[tuple[str, str, date | None], dict[str, int]] = {}
    for key, each in sums.items():
        for day in (key.day, None):
            kinds = lines.setdefault((key.currency, key.gateway, day), {})
            kinds[key.kind] = kinds.get(key.kind, 0) + each.gross
    made = [
        PaymentLine(
            day, gateway, currency, kinds.get(PAYMENT, 0), kinds.get(REFUND, 0), kinds.get(FEE)
        )
        for (currency, gateway, day), kinds in lines.items()
    ]
    made.sort(key=lambda line: (line.day or date.min, line.currency, line.gateway))
    return tuple(line for line in made if line.day), tuple(line for line in made if not line.day)


@dataclass(frozen=True)
class InvoiceLine:
    """An open invoice, and by how many days it is overdue today; negative days are left."""

    invoice: OpenInvoice
    days_over: int

    @property
    def amount(self) -> Money:
        return from_minor_units(self.invoice.amount, self.invoice.currency)

    @property
    def method(self) -> str:
        return _name_gateway(self.invoice.payment_method)


@dataclass(frozen=True)
class OpenInvoicesPage:
    """The open invoices by due day, or only the overdue ones, with their sums by currency: all, and overdue."""

    lines: tuple[InvoiceLine, ...]
    open_sums: tuple[Money, ...]
    overdue_sums: tuple[Money, ...]
    open_count: int
    overdue_count: int
    has_more: bool


def get_open_invoices(today: date, *, only_overdue: bool) -> OpenInvoicesPage:
    """Return the open invoices, which are read in one round. Raises CassandraUnavailable."""
    found, has_more = list_open_invoices()
    lines = tuple(InvoiceLine(each, (today - each.due).days) for each in found)
    overdue = tuple(line for line in lines if line.days_over > 0)
    return OpenInvoicesPage(
        overdue if only_overdue else lines,
        _add_up(lines),
        _add_up(overdue),
        len(lines),
        len(overdue),
        has_more,
    )


def _add_up(lines: Iterable[InvoiceLine]) -> tuple[Money, ...]:
    sums: dict[str, int] = {}
    for line in lines:
        currency = line.invoice.currency
        sums[currency] = sums.get(currency, 0) + line.invoice.amount
    return tuple(from_minor_units(sums[currency], currency) for currency in sorted(sums))


def list_tax_rows(page: BooksPage) -> Iterator[list[object]]:
    """Yield the rows of the table of taxes for a file: its head, its lines, its totals."""
    yield [
        *(_("Country"), _("Rate"), _("Currency"), _("Net sales"), _("Tax on sales")),
        *(_("Gross sales"), _("Net refunds"), _("Tax on refunds"), _("Gross refunds"), _("Tax")),
    ]
    for line in (*page.taxes, *page.tax_totals):
        yield [
            line.country or _("Total"),
            line.rate,
            line.currency,
            *map(format_price, line.amounts),
        ]


def list_payment_rows(page: BooksPage) -> Iterator[list[object]]:
    """Yield the rows of the table of payments for a file: its head, its lines, its totals."""
    yield [
        *(_("Day"), _("Gateway"), _("Currency"), _("Received"), _("Refunded"), _("Fees")),
        _("Balance"),
    ]
    for line in (*page.payments, *page.payment_totals):
        yield [line.day or _("Total"), line.label, line.currency, *map(format_price, line.amounts)]


def list_difference_rows(page: BooksPage) -> Iterator[list[object]]:
    """Yield the rows of the table of differences for a file, its head first."""
    yield [
        *(_("Order"), _("Currency"), _("In the order"), _("In the books"), _("At the gateway")),
        _("Compared"),
    ]
    for found in page.differences:
        at = found.found_at.isoformat(timespec="seconds")
        yield [found.number, found.currency, *map(format_price, found.amounts), at]


def list_invoice_rows(page: OpenInvoicesPage, *, only_overdue: bool) -> Iterator[list[object]]:
    """Yield the rows of the table of open invoices for a file: its head, its lines, its totals."""
    yield [
        *(_("Order"), _("Payment method"), _("Country"), _("Due"), _("Days overdue")),
        *(_("Currency"), _("Amount")),
    ]
    for line in page.lines:
        each = line.invoice
        yield [
            *(each.number, line.method, each.country, each.due, max(line.days_over, 0)),
            *(each.currency, format_price(line.amount)),
        ]
    label = _("Total of the first invoices; there are more") if page.has_more else _("Total")
    for total in page.overdue_sums if only_overdue else page.open_sums:
        yield [label, "", "", "", "", total.currency.code, format_price(total)]
