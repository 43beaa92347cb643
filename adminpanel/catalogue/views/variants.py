"""Pages of a product's variants: change them, plan their prices, and generate them from options."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import Money

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.product_pages import describe_planned, options_text
from adminpanel.catalogue.rendering import get_product_or_404, render_product_page
from adminpanel.catalogue.submits import (
    get_variant_or_404,
    list_others,
    save_variant_form,
    show_refusal,
    with_seen_version,
)
from adminpanel.catalogue.variant_forms import OptionsForm, PlannedPriceForm, VariantForm
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.prices import PricePoint
from catalogue.variants import fingerprint_variant, generate_variants
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:product", "product_id")
def update_variant(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Save a variant. Somebody else's change of another part of the product is no conflict."""
    product = get_product_or_404(product_id)
    variant, seen = get_variant_or_404(product, variant_id)
    form = VariantForm(variant, seen, request.POST, product.pictures)
    product, status = save_variant_form(request, product, form)
    if status != HTTPStatus.SEE_OTHER:
        return render_product_page(request, product, submitted=form, status=status)
    page = request.GET.get("variants", "")[:4]
    query = f"?variants={page}" if page.isdecimal() else ""
    return redirect(f"{reverse('adminpanel:product', args=(product_id,))}{query}#variants")


@staff_required(CATALOGUE_STAFF)
@get_or_post
def variant_prices(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Show a variant's past, present and planned prices. Plan a price, or remove a planned one."""
    now, product = current_time(), get_product_or_404(product_id)
    variant, _seen = get_variant_or_404(product, variant_id)
    if request.method != "POST":
        return _prices_page(request, product, variant)
    form, status = PlannedPriceForm(request.POST), 422
    if "remove" in request.POST:
        # If a sale is removed, the price at its end is removed with it.
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
            show_refusal(form, refused, list_others(product, variant))
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
    """Preview the variants that the product's options generate, then save them."""
    product = get_product_or_404(product_id)
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
        operations.save_product(
            with_seen_version(request, generated.apply_to(product)), current_time()
        )
    except ProductRefused as refused:
        show_refusal(form, refused)
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
