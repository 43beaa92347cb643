"""The table of the sales report as lines of a CSV file, with its total as the last line."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from adminpanel.reports.comparisons import percent_change
from adminpanel.reports.sales import SalesLine, SalesReport


def list_sales_cells(report: SalesReport) -> Iterator[list[object]]:
    """Yield the head, the rows and the total of a report's table. Amounts are numbers in the report's currency."""
    yield [
        *(_("Rows"), _("Currency"), _("Orders"), _("Units"), _("Units per order"), _("Sold")),
        *(_("Average order"), _("Refunded units"), _("Return rate, %"), _("Refunded"), _("Net")),
        *(_("Net without tax"), _("First orders"), _("Orders by returning customers")),
        *(_("Sold in the previous period"), _("Change, %")),
        *(_("Sold in the year before"), _("Change, %")),
    ]
    for line in (*report.lines, report.total):
        yield _cells(line)


def _cells(line: SalesLine) -> list[object]:
    now, figures = line.now, line.now.figures
    return [
        *(line.day or line.name, now.currency, figures.orders, figures.units),
        *(_number(figures.units_per_order), now.gross.amount),
        now.average_order.amount if now.average_order else "",
        *(figures.refunded_units, _number(figures.return_rate), now.refunded.amount),
        *(now.gross_after_refunds.amount, now.net_after_refunds.amount),
        "" if now.first_orders is None else now.first_orders,
        "" if now.returning_orders is None else now.returning_orders,
        *(
            cell
            for each in line.sales[1:]
            for cell in (each.gross.amount, _number(percent_change(now.gross, each.gross)))
        ),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
