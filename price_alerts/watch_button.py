"""The button on a product's page that watches its price."""

from uuid import UUID

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.bell import get_request_bell
from cassandra_db import PendingResult
from catalogue.entities import Product
from price_alerts.queries import prefetch_watch


def prefetch_watch_button(request: HttpRequest, product_id: UUID) -> PendingResult | None:
    """Start reading whether the member watches a product, in the round that reads the product. A guest pays nothing."""
    user_id = get_request_bell(request).user_id
    return prefetch_watch(user_id, product_id) if user_id else None


def render_watch_button(
    request: HttpRequest, reading: PendingResult | None, product: Product
) -> str:
    """Return the HTML of a member's button; "" for guests, whose link to the login is in the page. Raises CassandraUnavailable."""
    if not request.user.is_authenticated:
        return ""
    is_watched = reading is not None and reading.one() is not None
    context = watch_context(product, is_watched=is_watched)
    return render_to_string("price_alerts/watch_button.html", context, request)


def watch_context(product: Product, *, is_watched: bool) -> dict[str, object]:
    """Return what the button shows."""
    return {
        "product_id": product.product_id,
        "product_url": reverse("product", args=[product.slug]),
        "is_watched": is_watched,
    }
