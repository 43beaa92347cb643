"""Pages of products: list, add, change or duplicate them; change a price or the stock in the list."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.bulk_change_forms import list_filter_fields
from adminpanel.catalogue.labels import STATUS_LABELS
from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.catalogue.product_forms import ProductForm, fingerprint_product, fingerprint_status
from adminpanel.catalogue.product_pages import (
    SubmittedCount,
    describe_product,
    list_product_lines,
    related_skus,
    successor_sku,
)
from adminpanel.catalogue.product_saves import (
    ProductEdit,
    book_stock,
    cut_changes,
    make_edit,
    save_edit,
)
from adminpanel.catalogue.rendering import (
    get_product_or_404,
    get_product_with_stock,
    render_new_product_page,
    render_product_page,
)
from adminpanel.catalogue.submits import get_variant_or_404, save_variant_form, show_product_refusal
from adminpanel.catalogue.variant_forms import PriceForm
from adminpanel.catalogue.variant_grid import GRID_FIELD, VariantGrid
from adminpanel.conflicts import Conflict, compare_fields
from adminpanel.parameters import found_or_404
from adminpanel.picture_uploads import refuse_count, take_in_files
from adminpanel.stock.booking import book_submitted
from adminpanel.stock.low_stock import list_low_stock
from cassandra_db import current_time
from catalogue import operations
from catalogue.entities import Product
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.photos import MAX_PHOTO_BYTES
from catalogue.rules import MAX_PICTURES
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import (
    STAFF_DEEPEST,
    STAFF_PAGE_LENGTH,
    StaffSearchResult,
    count_products_without_alt,
    find_products_for_staff,
)
from spreadsheets.columns import blank_product
from web.decorators import get_or_post, post_only
from web.rendering import render_or_redirect, render_page
from web.uploads import takes_files

# The message after a save names at most this many changes.
MAX_NAMED = 5


@staff_required(CATALOGUE_STAFF)
@require_safe
def product_list(request: HttpRequest) -> HttpResponse:
    """List the products of any status, the most recently changed first."""
    return _list_page(request)


def _list_page(
    request: HttpRequest,
    product: Product | None = None,
    submitted: PriceForm | SubmittedCount | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the list of products. A request by htmx gets only the row of the submitted product."""
    form = ProductFilterForm(request.GET)
    selection = form.parse_selection()
    is_missing = False
    found = StaffSearchResult((), 0, "all")
    try:
        if not form.is_refused:
            found = find_products_for_staff(
                selection.query, selection.filters, sort=selection.sort, offset=selection.offset
            )
    except SearchIndexMissing:
        is_missing = True
    reachable = min(found.total, STAFF_DEEPEST)
    products = [
        each for each in found.products if product is None or each.product_id != product.product_id
    ]
    products = [product, *products] if product else products
    lines = list_product_lines(products, current_time(), submitted)
    context = {
        "form": form,
        "low_stock": list_low_stock(request),
        "without_alt": count_products_without_alt(),
        "lines": lines,
        "line": lines[0] if lines else None,
        "found": found,
        "filters": [form[name] for name in ("status", "category", "stock", "brand")],
        "filter_count": selection.filters.count or len(form.errors),
        "is_filtered": form.is_refused or bool(selection.query or selection.filters.count),
        "is_missing": is_missing,
        "selection": list_filter_fields(request.GET),
        "page": selection.page,
        "parameters": _list_parameters(request, "page"),
        "row_parameters": _list_parameters(request),
        "previous_page": selection.page - 1,
        "next_page": selection.page + 1 if selection.page * STAFF_PAGE_LENGTH < reachable else 0,
    }
    part = "row" if product else ""
    if form.is_refused and status == HTTPStatus.OK:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    return render_page(
        request, "adminpanel/catalogue/products.html", context, part=part, status=status
    )


def _list_parameters(request: HttpRequest, *but: str) -> str:
    parameters = request.GET.copy()
    for name in but:
        parameters.pop(name, None)
    return parameters.urlencode()


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:products")
def update_price(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Save the price of a variant that was typed in the list of products."""
    product = get_product_or_404(product_id)
    form = PriceForm(*get_variant_or_404(product, variant_id), request.POST)
    product, status = save_variant_form(request, product, form)
    if status != HTTPStatus.SEE_OTHER:
        return _list_page(request, product, form, status)
    return _show_saved(request, product)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:products")
def update_stock(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Book a count of a variant's units that was typed in the list of products."""
    product = get_product_or_404(product_id)
    variant, _seen = get_variant_or_404(product, variant_id)
    warehouse, form, status = book_submitted(request, product, variant)
    if status != HTTPStatus.SEE_OTHER:
        submitted = SubmittedCount(variant, warehouse, form)
        return _list_page(request, product, submitted, status)
    return _show_saved(request, get_product_or_404(product_id))


def _show_saved(request: HttpRequest, product: Product) -> HttpResponse:
    """Redirect to the list of products. A request by htmx gets the product's row instead."""
    parameters = _list_parameters(request)
    return render_or_redirect(
        request,
        f"{reverse('adminpanel:products')}?{parameters}",
        "adminpanel/catalogue/products.html",
        lambda: {
            "line": list_product_lines([product], current_time())[0],
            "row_parameters": parameters,
        },
        part="row",
    )


@staff_required(
    CATALOGUE_STAFF, lists=("category_ids",), is_about_people=False, unlogged=GRID_FIELD
)
@takes_files(MAX_PHOTO_BYTES)
@get_or_post
def create_product(request: HttpRequest) -> HttpResponse:
    """Show the page of a new product, or save a draft product with its variants, stock and pictures."""
    if request.method == "POST":
        return _submit(request, None)
    form, grid = ProductForm(is_new=True), VariantGrid.of(blank_product(UUID(int=0), ""), {})
    return render_new_product_page(request, form, grid)


@staff_required(
    CATALOGUE_STAFF, lists=("category_ids",), is_about_people=False, unlogged=GRID_FIELD
)
@takes_files(MAX_PHOTO_BYTES)
@get_or_post
def product_detail(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show a product's page, or save the product with its variants, stock and pictures."""
    if request.method == "POST":
        return _submit(request, get_product_or_404(product_id))
    product, stock = get_product_with_stock(product_id)
    return render_product_page(request, product, VariantGrid.of(product, stock))


def _submit(request: HttpRequest, product: Product | None) -> HttpResponse:
    """Save the form of a product's page, or show the page again. `product` is None for a new product."""
    form = ProductForm(request.POST, is_new=product is None)
    base = product or blank_product(UUID(int=0), "")
    grid = VariantGrid.sent(base, request.POST)
    files = request.FILES.getlist("pictures")
    if files and (refused := _refuse_pictures(len(files), base)):
        form.add_error(None, refused)
    if "variants" in request.POST.getlist("act") and not grid.errors:
        shown = VariantGrid.of(grid.apply_to(base), {})
        shown.keep_typed(grid)
        return _show_again(request, product, form, shown, 200)
    if not form.is_valid() or grid.errors:
        return _show_again(request, product, form, grid, 422)
    edit = make_edit(form, grid, request.POST)
    if form.errors:
        return _show_again(request, product, form, grid, 422)
    product_id = product.product_id if product else form.cleaned_data["product_id"]
    try:
        saved = save_edit(product_id, edit, current_time(), is_new=product is None)
    except ProductRefused as error:
        show_product_refusal(form, grid, error, base.variants)
        return _show_again(request, product, form, grid, 422)
    except ProductChanged as changed:
        saved = found_or_404(changed.product or product, "product")
        return _conflict_page(request, saved, edit)
    return _finish_save(request, product, saved, edit, files)


def _refuse_pictures(count: int, product: Product) -> str:
    """Return a sentence that says why this number of files is refused, or "" if it is accepted."""
    if len(product.pictures) + count > MAX_PICTURES:
        return _("A product has at most %(most)d pictures.") % {"most": MAX_PICTURES}
    return refuse_count(count)


def _show_again(
    request: HttpRequest, product: Product | None, form: ProductForm, grid: VariantGrid, status: int
) -> HttpResponse:
    """Show the page with all that was typed."""
    _ask_for_files(request)
    if product is None:
        return render_new_product_page(request, form, grid, status=status)
    return render_product_page(request, product, grid, form=form, status=status)


def _ask_for_files(request: HttpRequest) -> None:
    """Say that the chosen files have to be chosen again: no page can fill in their field."""
    if request.FILES:
        messages.warning(request, _("Choose the pictures again. They are not saved yet."))


def _finish_save(
    request: HttpRequest,
    before: Product | None,
    saved: Product,
    edit: ProductEdit,
    files: "Sequence[UploadedFile[bytes]]",
) -> HttpResponse:
    """Book the stock of a saved product and take in its pictures. Show which stock cells were refused, with status 409."""
    was_units, units, refused = book_stock(
        saved, edit, str(current_member(request).pk), current_time()
    )
    if files:
        take_in_files(request, saved.product_id, files)
    was = describe_product(before, related_skus(before), successor_sku(before)) if before else {}
    clean = edit.form.cleaned_data
    now = describe_product(saved, clean["related"], clean["successor"])
    changes = cut_changes({**was, **was_units}, {**now, **units})
    names = ", ".join(str(each.name) for each in files)
    note_changes(request, changes[0], changes[1] | ({"files": names} if files else {}))
    if refused:
        messages.error(request, _("Saved, except for the stock that is marked below."))
        product, stock = get_product_with_stock(saved.product_id)
        grid = VariantGrid.of(product, stock, {each.cell.warehouse_id for each in refused})
        grid.mark_stock(refused)
        form = ProductForm.of(product, related_skus(product), successor_sku(product))
        form.initial["stock_reason"] = clean["stock_reason"]
        return render_product_page(request, product, grid, form=form, status=409)
    if before is None:
        messages.success(request, _("%(name)s is saved as a draft.") % {"name": saved.name})
    else:
        messages.success(request, _saved_text(list(changes[1]), len(files)))
    return redirect("adminpanel:product", product_id=saved.product_id)


def _saved_text(changed: Sequence[str], pictures: int) -> str:
    if not changed:
        return _("Saved.") if pictures else _("Saved. Nothing has changed.")
    if len(changed) > MAX_NAMED:
        more = len(changed) - MAX_NAMED
        named = ", ".join(changed[:MAX_NAMED])
        return _("Saved: %(fields)s and %(more)d more.") % {"fields": named, "more": more}
    return _("Saved: %(fields)s.") % {"fields": ", ".join(changed)}


def _conflict_page(request: HttpRequest, saved: Product, edit: ProductEdit) -> HttpResponse:
    """Show the page again after a conflict: the saved and the typed product side by side, with status 409."""
    _ask_for_files(request)
    clean = edit.form.cleaned_data
    if not clean["slug"]:
        data = cast("MultiValueDict[str, Any]", edit.form.data).copy()
        data["slug"] = saved.slug
        edit.form.data = data
    typed = edit.apply_to(saved)
    fields = compare_fields(
        describe_product(saved, related_skus(saved), successor_sku(saved)),
        describe_product(typed, clean["related"], clean["successor"]),
    )
    conflict = Conflict("", saved.updated_at, fingerprint_product(saved), fields)
    return render_product_page(
        request, saved, edit.grid, form=edit.form, conflict=conflict, status=409
    )


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def change_product_status(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Set a product's status to active, archived or draft. A picture that was added meanwhile is no conflict."""
    product, status = get_product_or_404(product_id), request.POST.get("status", "")
    if status not in STATUS_LABELS:
        raise Http404("no such status")
    try:
        if fingerprint_status(product) != request.POST.get("version", ""):
            raise ProductChanged(product)
        operations.change_product_status(product, status, current_time())
    except ProductChanged as changed:
        messages.error(request, str(changed))
        newer, stock = get_product_with_stock(product_id)
        return render_product_page(request, newer, VariantGrid.of(newer, stock), status=409)
    except ProductRefused as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:product", product_id=product_id)
    note_changes(request, {"status": product.status}, {"status": status})
    said = {
        "active": _("%(name)s is on sale as soon as its dates allow."),
        "draft": _("%(name)s is a draft. Shoppers don’t see it."),
        "archived": _("%(name)s is archived. Its page says that it’s gone."),
    }[status]
    messages.success(request, said % {"name": product.name})
    return redirect("adminpanel:product", product_id=product_id)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def duplicate_product(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Copy a product into a new draft, and redirect to the draft's page."""
    product = get_product_or_404(product_id)
    try:
        copy = operations.duplicate_product(product, current_time())
    except ProductRefused as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:product", product_id=product_id)
    note_changes(request, {}, {"copy": copy.product_id})
    messages.success(
        request, _("This is a copy of %(name)s, saved as a draft.") % {"name": product.name}
    )
    return redirect("adminpanel:product", product_id=copy.product_id)
