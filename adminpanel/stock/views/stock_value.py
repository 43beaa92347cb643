"""The value of the stock at cost, by warehouse and currency, as a page and as a file."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.stock.forms import StockValueForm
from analytics.days import shop_today
from inventory.warehouses import find_warehouse_name
from product_reports.entities import NO_COST_PRICE, StockValueCount, StockValueLine
from product_reports.queries import (
    attention_from_rows,
    prefetch_attention,
    prefetch_stock_values,
    stock_value_from_rows,
)
from spreadsheets.files import CONTENT_TYPES, csv_line
from spreadsheets.typed_values import format_price
from web.rendering import render_page


@staff_required(("analyst", *CATALOGUE_STAFF))
@require_safe
def stock_value(request: HttpRequest) -> HttpResponse:
    """Show the latest count of the stock value, or that of an earlier day. With `format=csv`, send its lines as a file."""
    form = StockValueForm(request.GET, today=shop_today())
    day = form.parse_day()
    if form.is_refused:
        return render_page(request, "adminpanel/stock/stock_value.html", {"form": form}, status=422)
    reading, unpriced = prefetch_stock_values(day), prefetch_attention(NO_COST_PRICE)
    found = stock_value_from_rows([row for pending in reading for row in pending.rows()])
    if found and request.GET.get("format") == "csv":
        return _send_file(found)
    context = {
        "form": form,
        "count": found,
        "lines": [(find_warehouse_name(each.warehouse_id), each) for each in found.lines]
        if found
        else [],
        "unpriced": attention_from_rows(NO_COST_PRICE, unpriced.rows()),
        "can_edit": has_permission(current_member(request), "adminpanel.product"),
    }
    return render_page(request, "adminpanel/stock/stock_value.html", context)


def _send_file(count: StockValueCount) -> HttpResponse:
    head = [
        *(_("Warehouse"), _("Currency"), _("Units on hand"), _("Value at cost, without tax")),
        *(_("Units without a cost price"), _("Variants without a cost price")),
    ]
    rows = [
        *(_cells(find_warehouse_name(each.warehouse_id), each) for each in count.lines),
        *(_cells(_("All warehouses"), each) for each in count.totals),
    ]
    return HttpResponse(
        b"".join(csv_line(list(row)) for row in (head, *rows)),
        content_type=CONTENT_TYPES["csv"],
        headers={"Content-Disposition": f'attachment; filename="stock-value-{count.day}.csv"'},
    )


def _cells(name: str, line: StockValueLine) -> Iterator[str]:
    yield name
    yield line.value.currency.code
    yield str(line.units)
    yield format_price(line.value)
    yield from map(str, (line.unpriced_units, line.unpriced_variants))
