"""The value of the stock at cost, by warehouse and currency, as a page and as a file."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.file_states import send_csv
from adminpanel.stock.forms import StockValueForm
from inventory.warehouses import find_warehouse_name
from product_reports.entities import StockValueCount, StockValueLine
from product_reports.queries import prefetch_stock_values, stock_value_from_rows
from spreadsheets.typed_values import format_price
from web.rendering import render_page


@staff_required(("analyst", *CATALOGUE_STAFF))
@require_safe
def stock_value(request: HttpRequest) -> HttpResponse:
    """Show the latest count of the stock value, or that of an earlier day. With `format=csv`, send its lines as a file."""
    form = StockValueForm(request.GET)
    day = form.parse_day()
    if form.is_refused:
        return render_page(request, "adminpanel/stock/stock_value.html", {"form": form}, status=422)
    reading = prefetch_stock_values(day)
    found = stock_value_from_rows([row for pending in reading for row in pending.rows()])
    if found and request.GET.get("format") == "csv":
        return send_csv(f"stock-value-{found.day}.csv", _iterate_rows(found))
    lines = found.lines if found else ()
    context = {
        "form": form,
        "count": found,
        "lines": [(find_warehouse_name(each.warehouse_id), each) for each in lines],
        "can_see_unpriced": has_permission(current_member(request), "adminpanel.attention"),
    }
    return render_page(request, "adminpanel/stock/stock_value.html", context)


def _iterate_rows(count: StockValueCount) -> Iterator[list[str]]:
    yield [
        *(_("Warehouse"), _("Currency"), _("Units on hand"), _("Value at cost, without tax")),
        _("Units without a cost price"),
    ]
    for each in count.lines:
        yield _cells(find_warehouse_name(each.warehouse_id), each)
    for each in count.totals:
        yield _cells(_("All warehouses"), each)


def _cells(name: str, line: StockValueLine) -> list[str]:
    value = line.value
    return [
        name,
        value.currency.code,
        str(line.units),
        format_price(value),
        str(line.unpriced_units),
    ]
