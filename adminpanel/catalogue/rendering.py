"""Draws a product's page. The page can contain an invalid form, or a conflict with somebody else's change."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from adminpanel.catalogue.product_forms import ProductForm
from adminpanel.catalogue.product_pages import (
    preview_url,
    related_skus,
    search_snippet,
    status_badge,
    successor_sku,
    variant_page,
)
from adminpanel.catalogue.variant_forms import VariantForm
from adminpanel.conflicts import Conflict
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from catalogue.previews import make_preview_token
from web.rendering import render_page


def get_product_or_404(product_id: UUID) -> Product:
    """Return a product, read at quorum. Raises Http404 if it does not exist. Also raises CassandraUnavailable."""
    return found_or_404(queries.get_product_at_quorum(product_id), "product")


def render_product_page(
    request: HttpRequest,
    product: Product,
    *,
    form: ProductForm | None = None,
    submitted: VariantForm | None = None,
    conflict: Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return a product's page. `form` replaces the product's form, and `submitted` the form of a variant."""
    now = current_time()
    label, tone = status_badge(product, now)
    context = {
        "product": product,
        "form": form or ProductForm.of(product, related_skus(product), successor_sku(product)),
        "variants": variant_page(product, request.GET, submitted),
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
