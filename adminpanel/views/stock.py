"""A product's stock: units that arrive, and what was counted."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, has_permission, note_changes, staff_required
from adminpanel.product_forms import VARIANTS_A_PAGE
from adminpanel.stock import StockForm, book_stock, list_stock_lines
from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from inventory.queries import get_stock_numbers
from inventory.warehouses import list_warehouses
from web.decorators import get_or_post
from web.rendering import render_or_redirect, render_page


@staff_required(("catalogue", "warehouse"), is_about_people=False)
@get_or_post
def product_stock(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show a product's stock, and book units of a variant in a warehouse that have arrived or were counted."""
    product = queries.get_product_at_quorum(product_id)
    if product is None:
        raise Http404("no such product")
    if request.method != "POST":
        return _page(request, product)
    variant = next(
        (each for each in product.variants if str(each.variant_id) == request.POST.get("variant")),
        None,
    )
    warehouse = request.POST.get("warehouse", "")
    if variant is None or warehouse not in list_warehouses():
        raise Http404("no such variant or warehouse")
    before = get_stock_numbers(variant.variant_id, warehouse)
    form = StockForm(variant.variant_id, warehouse, before, request.POST)
    said = ""
    if form.is_valid():
        member, now = current_member(request), current_time()
        said = book_stock(product, variant.variant_id, warehouse, form, member, now)
    key = (variant.variant_id, warehouse)
    if not said:
        form.show_with(seen=get_stock_numbers(*key).on_hand)
        return _page(request, product, key, form, 422)
    (line,) = (each for each in list_stock_lines([variant], {}) if each.warehouse_id == warehouse)
    note_changes(
        request, {"units": before.on_hand}, {"units": line.numbers.on_hand, "sku": variant.sku}
    )
    messages.success(
        request,
        _("%(sku)s, %(warehouse)s: %(said)s")
        % {"sku": variant.sku, "warehouse": warehouse.capitalize(), "said": said},
    )
    address = reverse("adminpanel:product_stock", args=(product_id,))
    page = request.GET.get("page", "")[:4]
    return render_or_redirect(
        request,
        f"{address}?page={page}#{line.row_id}" if page.isdecimal() else f"{address}#{line.row_id}",
        "adminpanel/product_stock.html",
        {"product": product, "line": line},
        part="row",
    )


def _page(
    request: HttpRequest,
    product: Product,
    key: tuple[UUID, str] | None = None,
    submitted: StockForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the stock of a page of a product's variants, or of the one that was submitted its row alone, if that was asked for."""
    sold_first = sorted(product.variants, key=lambda each: not each.sold)
    count = max(1, -(-len(sold_first) // VARIANTS_A_PAGE))
    asked = request.GET.get("page", "")[:4]
    number = min(max(int(asked), 1), count) if asked.isdecimal() else 1
    shown = sold_first[(number - 1) * VARIANTS_A_PAGE : number * VARIANTS_A_PAGE]
    if key and all(each.variant_id != key[0] for each in shown):
        shown = [each for each in sold_first if each.variant_id == key[0]]
    lines = list_stock_lines(shown, {key: submitted} if key and submitted else {})
    context = {
        "product": product,
        "lines": lines,
        "line": next((each for each in lines if each.form is submitted), None),
        "form": submitted,
        "page": number,
        "pages": range(1, count + 1),
        "can_edit": has_permission(current_member(request), "adminpanel.product"),
    }
    return render_page(
        request,
        "adminpanel/product_stock.html",
        context,
        part="row" if submitted else "",
        status=status,
    )
