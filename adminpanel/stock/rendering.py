"""Draws the page of a variant's stock, with an invalid form if there is one."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.access import current_member, has_permission
from adminpanel.parameters import found_or_404
from adminpanel.stock.forms import PlaceForm, StockTransferForm, ThresholdForm
from adminpanel.stock.pages import get_stock_item_page
from catalogue import queries
from catalogue.entities import Product, Variant
from web.rendering import render_page


def render_stock_item(
    request: HttpRequest,
    product_id: UUID,
    variant_id: UUID,
    *,
    after: str = "",
    transfer_form: StockTransferForm | None = None,
    threshold_form: tuple[str, ThresholdForm] | None = None,
    place_form: tuple[str, PlaceForm] | None = None,
    status: int = 422,
) -> HttpResponse:
    """Return a variant's stock page. A submitted form replaces the page's own, and sets the status.

    `threshold_form` and `place_form` come with their warehouse. Raises Http404, InvalidPageToken, CassandraUnavailable.
    """
    page = found_or_404(get_stock_item_page(product_id, variant_id, after), "variant")
    submitted = dict([threshold_form] if threshold_form else [])
    placed = dict([place_form] if place_form else [])
    refused = transfer_form or next(iter([*submitted.values(), *placed.values()]), None)
    context = {
        "page": page,
        "product": page.product,
        "variant": page.variant,
        "lines": [
            (
                line,
                submitted.get(line.warehouse_id)
                or ThresholdForm(line.warehouse_id, line.threshold),
                placed.get(line.warehouse_id) or PlaceForm(line.warehouse_id, line.place),
            )
            for line in page.lines
        ],
        "after": after,
        "transfer_form": transfer_form or StockTransferForm(),
        "form": refused,
        "can_edit": has_permission(current_member(request), "adminpanel.product"),
    }
    return render_page(
        request, "adminpanel/stock/stock_item.html", context, status=status if refused else 200
    )


def get_variant_or_404(product_id: UUID, variant_id: UUID) -> tuple[Product, Variant]:
    """Return a product and its variant, read at quorum. Raises Http404, CassandraUnavailable."""
    product = found_or_404(queries.get_product_at_quorum(product_id), "product")
    return product, found_or_404(product.get_variant(variant_id), "variant")
