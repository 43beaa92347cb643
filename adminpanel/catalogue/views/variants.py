"""The page of a variant's prices: past, present and scheduled."""

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from moneyed import Money

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.product_pages import describe_planned
from adminpanel.catalogue.rendering import get_product_or_404
from adminpanel.catalogue.submits import get_variant_or_404, list_others, show_refusal
from adminpanel.catalogue.variant_forms import PlannedPriceForm
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import Product, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.prices import PricePoint
from catalogue.variants import fingerprint_variant
from web.decorators import get_or_post
from web.rendering import render_page


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
            request, _("Someone else has changed this variant. Its current price is shown.")
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
    history = queries.list_price_history(product, variant)
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
