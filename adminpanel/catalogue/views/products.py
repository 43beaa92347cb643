"""Products: found, made, changed, with their variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe
from moneyed import Money

from accounts.access import note_changes, staff_required
from adminpanel.catalogue.bulk_forms import list_filter_fields
from adminpanel.catalogue.product_forms import (
    CATALOGUE_STAFF,
    STATUS_LABELS,
    NewProductForm,
    OptionsForm,
    PlannedPriceForm,
    PriceForm,
    ProductFilterForm,
    ProductForm,
    VariantForm,
    fingerprint_product,
    make_slug,
)
from adminpanel.catalogue.product_pages import (
    SubmittedCount,
    describe_planned,
    describe_product,
    find_related_ids,
    list_product_lines,
    options_text,
    preview_url,
    related_skus,
    search_snippet,
    status_badge,
    successor_sku,
    variant_page,
)
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.stock.levels import book_submitted
from adminpanel.stock.low_stock import PendingLowStock
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused, SlugTaken
from catalogue.previews import make_preview_token
from catalogue.prices import PricePoint
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import (
    STAFF_DEEPEST,
    STAFF_PAGE_LENGTH,
    StaffSearchResult,
    find_products_for_staff,
)
from catalogue.variants import fingerprint_variant, generate_variants
from web.decorators import get_or_post, post_only
from web.rendering import render_or_redirect, render_page

# What the forms call what the catalogue's refusals name otherwise.
FORM_FIELDS = {
    "related_ids": "related",
    "option_names": "options",
    "planned": "starts",
    "successor_id": "successor",
}


@staff_required(CATALOGUE_STAFF)
@require_safe
def product_list(request: HttpRequest) -> HttpResponse:
    """List the products, whatever their status, those that were changed last first."""
    return _list_page(request)


def _list_page(
    request: HttpRequest,
    product: Product | None = None,
    submitted: PriceForm | SubmittedCount | None = None,
    status: int = 200,
) -> HttpResponse:
    """Show the list, or of a product whose price or stock was `submitted` its row alone, if that was asked for."""
    form = ProductFilterForm(request.GET)
    selection = form.parse_selection()
    is_missing = False
    low_stock = PendingLowStock(request)
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
    shown = [product, *products] if product else products
    lines = list_product_lines(shown, current_time(), submitted)
    context = {
        "form": form,
        "low_stock": low_stock,
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
    """Save the price of a variant from its row in the list."""
    product = _get_product(product_id)
    form = PriceForm(*_shown_variant(product, variant_id), request.POST)
    product, status = _save_submitted(request, product, form)
    if status != HTTPStatus.SEE_OTHER:
        return _list_page(request, product, form, status)
    return _show_saved(request, product)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:products")
def update_stock(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Book how many units of a variant were counted, from its row in the list."""
    product = _get_product(product_id)
    variant, _seen = _shown_variant(product, variant_id)
    warehouse, form, status = book_submitted(request, product, variant)
    if status != HTTPStatus.SEE_OTHER:
        submitted = SubmittedCount(variant, warehouse, form)
        return _list_page(request, product, submitted, status)
    return _show_saved(request, _get_product(product_id))


def _show_saved(request: HttpRequest, product: Product) -> HttpResponse:
    """Lead back to the list, or show the product's row alone, as it is now."""
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
    """Make a draft of a product with one variant; all else is entered on its own page."""
    form = NewProductForm(request.POST or None)
    if request.method != "POST":
        return render_page(request, "adminpanel/catalogue/product_new.html", {"form": form})
    if form.is_valid():
        product = form.build_product()
        try:
            _save_under_free_address(product)
        except ProductChanged:
            # The same form was sent before; what it said then is saved.
            messages.info(
                request, _("This product is saved already. Check that it is as you want it.")
            )
        except ProductRefused as refused:
            _show_refusal(form, refused)
        else:
            note_changes(request, {}, {"name": product.name, "sku": product.variants[0].sku})
            messages.success(request, _("%(name)s is saved as a draft.") % {"name": product.name})
        if form.is_valid():
            return redirect("adminpanel:product", product_id=product.product_id)
    return render_page(request, "adminpanel/catalogue/product_new.html", {"form": form}, status=422)


def _save_under_free_address(product: Product) -> Product:
    """Save a new product; if another one has its address, under one that ends in letters of its id. Raises what `save_product` raises."""
    now = current_time()
    try:
        return operations.save_product(product, now)
    except SlugTaken:
        slug = f"{make_slug(product.slug, 80)}-{product.product_id.hex[:6]}"
        return operations.save_product(replace(product, slug=slug), now)


@staff_required(CATALOGUE_STAFF, lists=("category_ids",), is_about_people=False)
@get_or_post
def product_detail(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show a product with all that staff can change, and save what they have changed."""
    product = _get_product(product_id)
    if request.method != "POST":
        return _page(request, product)
    form = ProductForm(request.POST)
    if not form.is_valid():
        return _page(request, product, form=form, status=422)
    successor = form.cleaned_data["successor"]
    related_ids, unknown = find_related_ids(form.cleaned_data["related"])
    successor_ids, unknown_successor = find_related_ids([successor] if successor else [])
    for field, skus in (("related", unknown), ("successor", unknown_successor)):
        if skus:
            form.add_error(field, _("No product has the SKU %(sku)s.") % {"sku": skus[0]})
    if form.errors:
        return _page(request, product, form=form, status=422)

    def apply_to(newest: Product) -> Product:
        return form.apply_to(newest, related_ids, next(iter(successor_ids), None))

    def change(newest: Product) -> Product:
        # A variant that is saved meanwhile is no conflict: none of its fields is in this form.
        if fingerprint_product(newest) != get_seen_version(request.POST):
            raise ProductChanged(newest)
        return apply_to(newest)

    try:
        saved = operations.change_product(product_id, change, current_time())
    except ProductChanged as changed:
        newer = changed.product or product
        return _conflict_page(request, newer, apply_to(newer), form)
    except ProductRefused as refused:
        _show_refusal(form, refused)
        return _page(request, product, form=form, status=422)
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
    """Show both states side by side, and keep what was typed."""
    clean = form.cleaned_data
    fields = compare_fields(
        describe_product(saved, related_skus(saved), successor_sku(saved)),
        describe_product(typed, clean["related"], clean["successor"]),
    )
    conflict = Conflict("", saved.updated_at, fingerprint_product(saved), fields)
    return _page(request, saved, form=form, conflict=conflict, status=409)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def change_product_status(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Put a product on sale, take it off, or make it a draft again."""
    product, status = _get_product(product_id), request.POST.get("status", "")
    if status not in STATUS_LABELS:
        raise Http404("no such status")
    try:
        operations.change_product_status(_as_seen(request, product), status, current_time())
    except ProductChanged as changed:
        messages.error(request, str(changed))
        return _page(request, changed.product or product, status=409)
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
    """Make a draft that is like a product, and open it."""
    product = _get_product(product_id)
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


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def update_variant(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Save a variant, whatever else of its product somebody changes meanwhile."""
    product = _get_product(product_id)
    shown = _shown_variant(product, variant_id)
    form = VariantForm(*shown, request.POST, product.pictures)
    product, status = _save_submitted(request, product, form)
    if status != HTTPStatus.SEE_OTHER:
        return _page(request, product, submitted=form, status=status)
    page = request.GET.get("variants", "")[:4]
    query = f"?variants={page}" if page.isdecimal() else ""
    return redirect(f"{reverse('adminpanel:product', args=(product_id,))}{query}#variants")


def _shown_variant(product: Product, variant_id: UUID) -> tuple[Variant, str]:
    variant = product.get_variant(variant_id)
    if variant is None:
        raise Http404("no such variant")
    return variant, fingerprint_variant(variant)


def _save_submitted(
    request: HttpRequest, product: Product, form: VariantForm
) -> tuple[Product, int]:
    """Save a variant as its form says; return the product as it is then, and the answer's status: 303 if it is saved.

    What is in the way stands in the form's errors.
    """
    if not form.is_valid():
        return product, HTTPStatus.UNPROCESSABLE_ENTITY
    typed = form.build_variant()
    try:
        saved = operations.save_variant(
            product.product_id, typed, form.cleaned_data["seen"], current_time()
        )
    except ProductChanged as changed:
        newer = changed.product or product
        _show_newer_variant(form, newer)
        return newer, HTTPStatus.CONFLICT
    except ProductRefused as refused:
        _show_refusal(form, refused)
        return product, HTTPStatus.UNPROCESSABLE_ENTITY
    note_changes(request, VariantForm.describe(form.variant), VariantForm.describe(typed))
    messages.success(request, _("Saved %(sku)s.") % {"sku": typed.sku})
    return saved, HTTPStatus.SEE_OTHER


def _show_newer_variant(form: VariantForm, product: Product) -> None:
    """Say what is saved now, beside the fields, and let the next submit write over it."""
    newer = product.get_variant(form.variant.variant_id)
    if newer is None:
        return
    form.add_error(
        None,
        _(
            "Someone else has changed this variant in the meantime. Save again to keep what you typed."
        ),
    )
    typed = form.build_variant()
    for name, text in VariantForm.describe(newer).items():
        if name in form.fields and text != VariantForm.describe(typed)[name]:
            form.add_error(name, _("Saved now: %(text)s") % {"text": text or _("empty")})
    form.data = {**form.data.dict(), "seen": fingerprint_variant(newer)}  # type: ignore[attr-defined]


@staff_required(CATALOGUE_STAFF)
@get_or_post
def variant_prices(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Show what a variant costs, will cost and has cost; plan a price, or take a planned one back."""
    now, product = current_time(), _get_product(product_id)
    variant, _seen = _shown_variant(product, variant_id)
    if request.method != "POST":
        return _prices_page(request, product, variant)
    form, status = PlannedPriceForm(request.POST), 422
    if "remove" in request.POST:
        # Of a sale its end goes, too.
        planned = tuple(
            each
            for each in variant.planned
            if request.POST["remove"]
            not in (each.starts_at.isoformat(), each.back_to and each.back_to.isoformat())
        )
        form = PlannedPriceForm()
    elif form.is_valid():
        planned = form.plan_for(variant, now)
    else:
        return _prices_page(request, product, variant, form, status)
    try:
        operations.save_variant(
            product_id, replace(variant, planned=planned), request.POST.get("seen", ""), now
        )
    except ProductChanged as changed:
        messages.error(
            request,
            _("Someone else has changed this variant in the meantime. This is what it costs now."),
        )
        product, status = changed.product or product, 409
    except ProductRefused as refused:
        if not form.is_bound:
            messages.error(request, str(refused))
        else:
            _show_refusal(form, refused)
    else:
        before, after = describe_planned(variant.planned), describe_planned(planned)
        note_changes(request, {"planned": before}, {"planned": after})
        messages.success(request, _("Saved. The price changes by itself."))
        return redirect("adminpanel:product_prices", product_id=product_id, variant_id=variant_id)
    return _prices_page(request, product, product.get_variant(variant_id) or variant, form, status)


def _prices_page(
    request: HttpRequest,
    product: Product,
    variant: Variant,
    form: PlannedPriceForm | None = None,
    status: int = 200,
) -> HttpResponse:
    history = queries.list_price_history(variant.variant_id)
    lowest = Money(0, variant.price.currency)
    context = {
        "product": product,
        "variant": variant,
        "seen": fingerprint_variant(variant),
        "form": form or PlannedPriceForm(),
        "history": history[::-1],
        "reference": queries.find_reference_price(
            product, variant, history, PricePoint(current_time(), lowest)
        ),
    }
    return render_page(request, "adminpanel/catalogue/product_prices.html", context, status=status)


@staff_required(CATALOGUE_STAFF)
@get_or_post
def product_options(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show what variants a product's options would make, and make them once that has been seen."""
    product = _get_product(product_id)
    if request.method != "POST":
        initial = {"options": options_text(product)}
        return _options_page(request, product, OptionsForm(initial=initial))
    form = OptionsForm(request.POST)
    if not form.is_valid():
        return _options_page(request, product, form, status=422)
    options = form.cleaned_data["options"]
    try:
        generated = generate_variants(product, options)
        if "save" not in request.POST:
            return _options_page(request, product, form, generated=generated)
        operations.save_product(_as_seen(request, generated.apply_to(product)), current_time())
    except ProductRefused as refused:
        _show_refusal(form, refused)
        return _options_page(request, product, form, status=422)
    except ProductChanged as changed:
        form.add_error(None, f"{changed} {_('Look again at what you get now.')}")
        product = changed.product or product
        generated = generate_variants(product, options)
        return _options_page(request, product, form, generated=generated, status=409)
    note_changes(
        request,
        {"options": options_text(product)},
        {"options": options_text(generated.apply_to(product))},
    )
    added = ngettext("%(count)s variant added", "%(count)s variants added", len(generated.added))
    messages.success(
        request,
        _("%(added)s, %(retired)s no longer sold.")
        % {"added": added % {"count": len(generated.added)}, "retired": len(generated.retired)},
    )
    return redirect(f"{reverse('adminpanel:product', args=(product_id,))}#variants")


def _options_page(
    request: HttpRequest, product: Product, form: OptionsForm, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"product": product, "form": form, **more}
    return render_page(request, "adminpanel/catalogue/product_options.html", context, status=status)


def _as_seen(request: HttpRequest, product: Product) -> Product:
    """Return the product with the version that the sent page has shown."""
    seen = request.POST.get("version", "")
    return replace(product, version=int(seen) if seen.isdecimal() and len(seen) < 10 else 0)


def _get_product(product_id: UUID) -> Product:
    product = queries.get_product_at_quorum(product_id)
    if product is None:
        raise Http404("no such product")
    return product


def _show_refusal(form: Any, refused: ProductRefused) -> None:
    """Put each reason of a refusal beside its field, or above the form if it has no such field."""
    for name, text in refused.reasons:
        field = FORM_FIELDS.get(name, name)
        form.add_error(field if field in form.fields else None, text)


def _page(
    request: HttpRequest,
    product: Product,
    *,
    form: ProductForm | None = None,
    submitted: VariantForm | None = None,
    conflict: Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    now, number = current_time(), request.GET.get("variants", "")[:4]
    label, tone = status_badge(product, now)
    context = {
        "product": product,
        "form": form or ProductForm.of(product, related_skus(product), successor_sku(product)),
        "variants": variant_page(product, int(number) if number.isdecimal() else 1, submitted),
        "submitted": submitted,
        "has_errors": bool(submitted and submitted.errors),
        "conflict": conflict,
        "status_label": label,
        "status_tone": tone,
        "is_on_sale": product.is_on_sale(now),
        "snippet": search_snippet(product, request.get_host()),
        "preview_url": preview_url(product, make_preview_token(product.product_id)),
    }
    return render_page(request, "adminpanel/catalogue/product.html", context, status=status)
