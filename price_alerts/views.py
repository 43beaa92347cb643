"""The pages of watched prices: the list, and the button on a product's page."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from cassandra_db import current_time
from catalogue.entities import Product
from catalogue.queries import get_product, get_products, leave_out, product_card
from price_alerts import operations, queries
from price_alerts.errors import TooManyWatched
from price_alerts.watch_button import watch_context
from web.decorators import get_or_post
from web.rendering import render_or_redirect, render_page


@require_safe
@member_required
def watched_products(request: HttpRequest) -> HttpResponse:
    """Show the products whose prices a member watches, the latest first. Those that are gone drop out."""
    watched = [row.product_id for row in queries.list_watched(current_member(request).pk)]
    products, now = get_products(watched, leave_out), current_time()
    cards = [
        product_card(product)
        for product_id in watched
        if (product := products.get(product_id)) and product.is_on_sale(now)
    ]
    return render_page(request, "price_alerts/watched.html", {"cards": cards})


@get_or_post
@member_required
def watch(request: HttpRequest) -> HttpResponse:
    """Watch the price of a product."""
    if request.method != "POST":
        return redirect("price_alerts:list")
    product = _find_product(request)
    try:
        operations.watch_price(current_member(request).pk, product.product_id, current_time())
    except TooManyWatched:
        text = _("You already watch %(most)d products. Stop watching one of them first.")
        messages.error(request, text % {"most": operations.MAX_WATCHED})
        return redirect("price_alerts:list")
    messages.success(request, _("We’ll tell you when it costs less."))
    return _answer(request, product, is_watched=True)


@get_or_post
@member_required
def stop(request: HttpRequest) -> HttpResponse:
    """Stop watching the price of a product, from its page or from the list."""
    if request.method != "POST":
        return redirect("price_alerts:list")
    product = _find_product(request)
    operations.stop_watching(current_member(request).pk, product.product_id)
    messages.success(request, _("You’re no longer watching its price."))
    if "listed" in request.POST:
        return redirect("price_alerts:list")
    return _answer(request, product, is_watched=False)


def _find_product(request: HttpRequest) -> Product:
    try:
        product = get_product(UUID(request.POST.get("product", "")))
    except ValueError as error:
        raise Http404 from error
    if product is None:
        raise Http404
    return product


def _answer(request: HttpRequest, product: Product, *, is_watched: bool) -> HttpResponse:
    return render_or_redirect(
        request,
        reverse("product", args=[product.slug]),
        "price_alerts/watch_button.html",
        watch_context(product, is_watched=is_watched),
        part="watch_button",
    )
