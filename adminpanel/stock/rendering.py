"""Draws the page of a variant's stock. The page can contain an invalid form."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.access import current_member, has_permission
from adminpanel.parameters import found_or_404
from adminpanel.stock.forms import PlaceForm, StockTransferForm, ThresholdForm
from adminpanel.stock.pages import StockLine, get_stock_item_page
from catalogue import queries
from catalogue.entities import Product, Variant
from web.forms import Form
from web.rendering import render_page


def render_stock_item(
    request: HttpRequest,
    product_id: UUID,
    variant_id: UUID,
    *,
    after: str = "",
    form: StockTransferForm | ThresholdForm | PlaceForm | None = None,
    status: int = 422,
) -> HttpResponse:
    """Return the page of a variant's stock. A submitted form replaces the page's form, and sets the status.

    Raises Http404, InvalidPageToken, CassandraUnavailable.
    """
    page = found_or_404(get_stock_item_page(product_id, variant_id, after), "variant")

    def own(form_class: type[ThresholdForm] | type[PlaceForm], line: StockLine, value: Any) -> Form:
        if isinstance(form, form_class) and form.warehouse_id == line.warehouse_id:
            return form
        return form_class(line.warehouse_id, value)

    context = {
        "page": page,
        "product": page.product,
        "variant": page.variant,
        "lines": [
            (line, own(ThresholdForm, line, line.threshold), own(PlaceForm, line, line.place))
            for line in page.lines
        ],
        "after": after,
        "transfer_form": form if isinstance(form, StockTransferForm) else StockTransferForm(),
        "form": form,
        "can_edit": has_permission(current_member(request), "adminpanel.product"),
    }
    status = status if form else 200
    return render_page(request, "adminpanel/stock/stock_item.html", context, status=status)


def get_variant_or_404(product_id: UUID, variant_id: UUID) -> tuple[Product, Variant]:
    """Return a product and one of its variants, read at quorum. Raises Http404, CassandraUnavailable."""
    product = found_or_404(queries.get_product_at_quorum(product_id), "product")
    return product, found_or_404(product.get_variant(variant_id), "variant")
