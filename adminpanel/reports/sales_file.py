"""The table of the sales report as lines of a CSV file, with its total as the last line."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from adminpanel.reports.comparisons import percent_change
from adminpanel.reports.sales import SalesLine, SalesReport


def list_sales_cells(report: SalesReport) -> Iterator[list[object]]:
    """Yield the head, the rows and the total of a report's table. Amounts are numbers in the report's currency."""
    yield [
        *(report.row_label, _("Currency"), _("Orders"), _("Units"), _("Units per order")),
        *(_("Sold"), _("Average order"), _("Refunded units"), _("Return rate, %"), _("Refunded")),
        *(_("After refunds"), _("After refunds, without tax")),
        *(_("First orders"), _("Orders by returning customers")),
        *(_("Sold in the previous period"), _("Change from the previous period, %")),
        *(_("Sold in the year before"), _("Change from the year before, %")),
    ]
    for line in (*report.lines, report.total):
        yield _cells(line)


def _cells(line: SalesLine) -> list[object]:
    now, figures = line.now, line.now.figures
    return [
        *(line.day or line.name, now.currency, now.orders, figures.units),
        *(_number(figures.units_per_order), now.gross.amount),
        now.average_order.amount if now.average_order else None,
        *(figures.refunded_units, _number(now.return_rate), now.refunded.amount),
        *(now.gross_after_refunds.amount, now.net_after_refunds.amount),
        *(now.first_orders, now.returning_orders),
        *(
            cell
            for each in line.sales[1:]
            for cell in (each.gross.amount, _number(percent_change(now.gross, each.gross)))
        ),
    ]


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"
