"""Lists of the stock of a warehouse or a product. Their rows have forms for receipts and counts."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, note_changes, staff_required
from accounts.operations import save_low_stock_mail
from accounts.roles import STOCK_STAFF
from adminpanel.parameters import cut_page, found_or_404
from adminpanel.stock.booking import StockForm, book_submitted
from adminpanel.stock.forms import LIST_LABELS, StockListForm
from adminpanel.stock.pages import get_stock_lines, get_stock_page
from cassandra_db import InvalidPageToken
from catalogue import queries
from catalogue.entities import Product
from inventory.queries import prefetch_open_transfers
from inventory.warehouses import find_warehouse_name, list_warehouses
from web.decorators import get_or_post, post_only
from web.rendering import render_or_redirect, render_page

VARIANTS_A_PAGE = 25


@staff_required(STOCK_STAFF)
@require_safe
def stock_list(request: HttpRequest) -> HttpResponse:
    """List the stock of a warehouse, sorted by SKU: all variants, those with low stock, or those without stock."""
    form = StockListForm(request.GET)
    selection = form.parse_selection()
    try:
        lines, following = ([], "") if form.is_refused else get_stock_page(selection)
    except InvalidPageToken:
        return redirect(f"{reverse('adminpanel:stock')}?{selection.to_query(after='')}")
    show = selection.show
    context = {
        "form": form,
        "selection": selection,
        "lines": lines,
        "warehouses": [
            (find_warehouse_name(each), each == selection.warehouse, _list_query(each, show))
            for each in list_warehouses()
        ],
        "lists": [
            (label, name == show, selection.to_query(show=name, after=""))
            for name, label in LIST_LABELS.items()
        ],
        "warehouse": find_warehouse_name(selection.warehouse),
        "first_query": selection.to_query(after=""),
        "next_query": selection.to_query(after=following) if following else "",
        "row_query": f"list=1&{selection.to_query()}",
        "wants_mail": bool(current_member(request).low_stock_mail),
        "can_see_value": has_permission(current_member(request), "adminpanel.stock_value"),
    }
    status = 422 if form.is_refused else 200
    return render_page(request, "adminpanel/stock/stock.html", context, status=status)


def _list_query(warehouse: str, show: str) -> str:
    return StockListForm({"warehouse": warehouse, "show": show}).parse_selection().to_query()


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock")
def set_stock_mail(request: HttpRequest) -> HttpResponse:
    """Subscribe the user to the daily mail about low stock, or end the subscription."""
    member, wanted = current_member(request), request.POST.get("wanted") == "1"
    before = bool(member.low_stock_mail)
    save_low_stock_mail(member.pk, wanted=wanted)
    note_changes(request, {"mail about low stock": before}, {"mail about low stock": wanted})
    said = _("You no longer get low-stock emails.")
    if wanted:
        said = _("You get an email each morning when stock is low.")
    messages.success(request, said)
    return redirect("adminpanel:stock")


@staff_required(STOCK_STAFF, is_about_people=False)
@get_or_post
def product_stock(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show the stock of a product's variants, and book receipts and counts."""
    product = found_or_404(queries.get_product_at_quorum(product_id), "product")
    if request.method != "POST":
        return _page(request, product)
    sent_id = request.POST.get("variant")
    variant = found_or_404(
        next((each for each in product.variants if str(each.variant_id) == sent_id), None),
        "variant",
    )
    warehouse, form, status = book_submitted(request, product, variant)
    if status != HTTPStatus.SEE_OTHER:
        return _page(request, product, (variant.variant_id, warehouse), form, status)
    (line,) = get_stock_lines([(product, variant, warehouse)], {}, prefetch_open_transfers())
    query = _row_query(request)
    return render_or_redirect(
        request,
        f"{_list_address(request, product_id, query)}#{line.row_id}",
        "adminpanel/stock/product_stock.html",
        {"line": line, "row_query": query},
        part="row",
    )


def _row_query(request: HttpRequest) -> str:
    """Return the query parameters that name the list of a row's form."""
    if request.GET.get("list"):
        return f"list=1&{StockListForm(request.GET).parse_selection().to_query()}"
    page = request.GET.get("page", "")[:4]
    return f"page={page}" if page.isdecimal() and page != "1" else ""


def _list_address(request: HttpRequest, product_id: UUID, query: str) -> str:
    if request.GET.get("list"):
        return f"{reverse('adminpanel:stock')}?{query.removeprefix('list=1&')}"
    address = reverse("adminpanel:product_stock", args=(product_id,))
    return f"{address}?{query}" if query else address


def _page(
    request: HttpRequest,
    product: Product,
    key: tuple[UUID, str] | None = None,
    submitted: StockForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show a page of a product's variants. A request by htmx gets only the submitted row."""
    sold_first = sorted(product.variants, key=lambda each: not each.sold)
    variants, number, count = cut_page(sold_first, request.GET, VARIANTS_A_PAGE)
    if key and all(each.variant_id != key[0] for each in variants):
        variants = [each for each in sold_first if each.variant_id == key[0]]
    transfers = prefetch_open_transfers()
    keys = [(product, variant, each) for variant in variants for each in list_warehouses()]
    lines = get_stock_lines(keys, {key: submitted} if key and submitted else {}, transfers)
    context = {
        "product": product,
        "lines": lines,
        "line": next((each for each in lines if each.form is submitted), None),
        "form": submitted,
        "page": number,
        "pages": range(1, count + 1),
        "row_query": _row_query(request) or (f"page={number}" if number > 1 else ""),
        "can_edit": has_permission(current_member(request), "adminpanel.product"),
    }
    template, part = "adminpanel/stock/product_stock.html", "row" if submitted else ""
    return render_page(request, template, context, part=part, status=status)
