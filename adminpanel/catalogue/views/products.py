"""Pages of products: list, add, change or duplicate them; change a price or the stock in the list."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.bulk_change_forms import list_filter_fields
from adminpanel.catalogue.labels import STATUS_LABELS
from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.catalogue.product_forms import (
    NewProductForm,
    ProductForm,
    fingerprint_product,
    make_slug,
)
from adminpanel.catalogue.product_pages import (
    SubmittedCount,
    describe_product,
    find_related_ids,
    list_product_lines,
    related_skus,
    successor_sku,
)
from adminpanel.catalogue.rendering import get_product_or_404, render_product_page
from adminpanel.catalogue.submits import (
    get_variant_or_404,
    save_variant_form,
    show_refusal,
    with_seen_version,
)
from adminpanel.catalogue.variant_forms import PriceForm
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.stock.booking import book_submitted
from adminpanel.stock.low_stock import list_low_stock
from cassandra_db import current_time
from catalogue import operations
from catalogue.entities import Product
from catalogue.errors import ProductChanged, ProductRefused, SlugTaken
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import (
    STAFF_DEEPEST,
    STAFF_PAGE_LENGTH,
    StaffSearchResult,
    find_products_for_staff,
)
from web.decorators import get_or_post, post_only
from web.rendering import render_or_redirect, render_page


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


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def create_product(request: HttpRequest) -> HttpResponse:
    """Create a draft product with one variant. The product's page then offers the other fields."""
    form = NewProductForm(request.POST or None)
    if request.method != "POST":
        return render_page(request, "adminpanel/catalogue/product_new.html", {"form": form})
    if form.is_valid():
        product = form.build_product()
        try:
            _save_under_free_address(product)
        except ProductChanged:
            # The form was sent twice. Its first submit has already created the product.
            messages.info(
                request, _("This product is saved already. Check that it is as you want it.")
            )
        except ProductRefused as refused:
            show_refusal(form, refused)
        else:
            note_changes(request, {}, {"name": product.name, "sku": product.variants[0].sku})
            messages.success(request, _("%(name)s is saved as a draft.") % {"name": product.name})
        if form.is_valid():
            return redirect("adminpanel:product", product_id=product.product_id)
    return render_page(request, "adminpanel/catalogue/product_new.html", {"form": form}, status=422)


def _save_under_free_address(product: Product) -> Product:
    """Save a new product. If its address is taken, append letters of its id to the address. Raises like `save_product`."""
    now = current_time()
    try:
        return operations.save_product(product, now)
    except SlugTaken:
        slug = f"{make_slug(product.slug, 80)}-{product.product_id.hex[:6]}"
        return operations.save_product(replace(product, slug=slug), now)


@staff_required(CATALOGUE_STAFF, lists=("category_ids",), is_about_people=False)
@get_or_post
def product_detail(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show a product's page, or save the product's form."""
    product = get_product_or_404(product_id)
    if request.method != "POST":
        return render_product_page(request, product)
    form = ProductForm(request.POST)
    if not form.is_valid():
        return render_product_page(request, product, form=form, status=422)
    successor = form.cleaned_data["successor"]
    related_ids, unknown = find_related_ids(form.cleaned_data["related"])
    successor_ids, unknown_successor = find_related_ids([successor] if successor else [])
    for field, skus in (("related", unknown), ("successor", unknown_successor)):
        if skus:
            form.add_error(field, _("No product has the SKU %(sku)s.") % {"sku": skus[0]})
    if form.errors:
        return render_product_page(request, product, form=form, status=422)

    def apply_to(newest: Product) -> Product:
        return form.apply_to(newest, related_ids, next(iter(successor_ids), None))

    def change(newest: Product) -> Product:
        # A change of a variant is no conflict, because this form has no fields of variants.
        if fingerprint_product(newest) != get_seen_version(request.POST):
            raise ProductChanged(newest)
        return apply_to(newest)

    try:
        saved = operations.change_product(product_id, change, current_time())
    except ProductChanged as changed:
        newer = changed.product or product
        return _conflict_page(request, newer, apply_to(newer), form)
    except ProductRefused as refused:
        show_refusal(form, refused)
        return render_product_page(request, product, form=form, status=422)
    was = describe_product(product, related_skus(product), successor_sku(product))
    now = describe_product(saved, form.cleaned_data["related"], successor)
    note_changes(request, was, now)
    messages.success(request, _saved_text(was, now))
    return redirect("adminpanel:product", product_id=product_id)


def _saved_text(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    changed = [label for label in after if before[label] != after[label]]
    if not changed:
        return _("Saved. Nothing has changed.")
    return _("Saved: %(fields)s.") % {"fields": ", ".join(changed)}


def _conflict_page(
    request: HttpRequest, saved: Product, typed: Product, form: ProductForm
) -> HttpResponse:
    """Show the page again after a conflict: the saved and the typed product side by side, with status 409."""
    clean = form.cleaned_data
    fields = compare_fields(
        describe_product(saved, related_skus(saved), successor_sku(saved)),
        describe_product(typed, clean["related"], clean["successor"]),
    )
    conflict = Conflict("", saved.updated_at, fingerprint_product(saved), fields)
    return render_product_page(request, saved, form=form, conflict=conflict, status=409)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def change_product_status(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Set a product's status to active, archived or draft."""
    product, status = get_product_or_404(product_id), request.POST.get("status", "")
    if status not in STATUS_LABELS:
        raise Http404("no such status")
    try:
        operations.change_product_status(
            with_seen_version(request, product), status, current_time()
        )
    except ProductChanged as changed:
        messages.error(request, str(changed))
        return render_product_page(request, changed.product or product, status=409)
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
