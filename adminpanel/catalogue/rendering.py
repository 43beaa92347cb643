"""Draws a product's page. The page can contain what was typed, or a conflict with somebody else's change."""

from collections.abc import Mapping
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from adminpanel.catalogue.product_forms import ProductForm, fingerprint_status
from adminpanel.catalogue.product_pages import (
    preview_url,
    related_skus,
    search_snippet,
    status_badge,
    successor_sku,
)
from adminpanel.catalogue.variant_grid import VariantGrid
from adminpanel.conflicts import Conflict
from adminpanel.parameters import found_or_404
from adminpanel.picture_uploads import PageUploads
from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from catalogue.previews import make_preview_token
from catalogue.rules import MAX_VARIANTS
from inventory.entities import Stock
from inventory.queries import prefetch_stock_at_quorum, stock_from_rows
from web.rendering import render_page
from web.uploads import upload_url


def get_product_or_404(product_id: UUID) -> Product:
    """Return a product, read at quorum. Raises Http404 if it does not exist. Also raises CassandraUnavailable."""
    return found_or_404(queries.get_product_at_quorum(product_id), "product")


def get_product_with_stock(product_id: UUID) -> tuple[Product, Mapping[UUID, Stock]]:
    """Return a product and its stock by variant, read at quorum. Raises Http404 and CassandraUnavailable."""
    stock = prefetch_stock_at_quorum(product_id)
    return get_product_or_404(product_id), stock_from_rows(stock.rows())


def render_new_product_page(
    request: HttpRequest, form: ProductForm, grid: VariantGrid, *, status: int = 200
) -> HttpResponse:
    """Return the page of a new product."""
    address = reverse("adminpanel:product_new")
    context = {"product": None, "own_url": address, "save_url": upload_url(request, address)}
    return _render(request, context, form, grid, status)


def render_product_page(
    request: HttpRequest,
    product: Product,
    grid: VariantGrid,
    *,
    form: ProductForm | None = None,
    conflict: Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return a product's page. `form` replaces the product's form."""
    now = current_time()
    label, tone = status_badge(product, now)
    address = reverse("adminpanel:product", args=(product.product_id,))
    context = {
        "product": product,
        "own_url": address,
        "save_url": upload_url(request, address),
        "conflict": conflict,
        "status_version": fingerprint_status(product),
        "status_label": label,
        "status_tone": tone,
        "is_on_sale": product.is_on_sale(now),
        "snippet": search_snippet(product, request.get_host()),
        "preview_url": preview_url(product, make_preview_token(product.product_id)),
    }
    form = form or ProductForm.of(product, related_skus(product), successor_sku(product))
    return _render(request, context, form, grid, status)


def _render(
    request: HttpRequest,
    page: Mapping[str, object],
    form: ProductForm,
    grid: VariantGrid,
    status: int,
) -> HttpResponse:
    uploads = PageUploads("", "", (), (), is_polled=False)
    own = {"form": form, "grid": grid, "uploads": uploads, "most_variants": MAX_VARIANTS}
    return render_page(request, "adminpanel/catalogue/product.html", {**page, **own}, status=status)
