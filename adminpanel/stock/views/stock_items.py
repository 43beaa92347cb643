"""Pages of a variant's stock in all warehouses: its numbers of units, thresholds and shelves."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import STOCK_STAFF
from adminpanel.stock.booking import get_warehouse_or_404
from adminpanel.stock.forms import PlaceForm, ThresholdForm
from adminpanel.stock.rendering import get_variant_or_404, render_stock_item
from cassandra_db import InvalidPageToken
from catalogue.entities import Variant
from inventory import operations
from inventory.errors import PlaceChanged, StockChanged
from inventory.queries import prefetch_stock_numbers
from inventory.warehouses import find_warehouse_name
from web.decorators import post_only


@staff_required(STOCK_STAFF)
@require_safe
def stock_item(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Show a variant's stock in all warehouses, its transfers, and its stock history."""
    try:
        return render_stock_item(
            request, product_id, variant_id, after=request.GET.get("after", "")[:500]
        )
    except InvalidPageToken:
        return redirect("adminpanel:stock_item", product_id, variant_id)


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def set_stock_threshold(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Set the threshold at which a variant's stock in a warehouse is low."""
    _product, variant = get_variant_or_404(product_id, variant_id)
    warehouse = get_warehouse_or_404(request)
    form, status = ThresholdForm(warehouse, None, request.POST), 422
    if form.is_valid():
        threshold, seen = form.cleaned_data["threshold"], form.cleaned_data["seen"]
        try:
            operations.set_threshold(variant_id, warehouse, threshold, seen=seen)
        except LookupError:
            form.add_error("threshold", _("No stock here yet."))
        except StockChanged:
            status = 409
            row = prefetch_stock_numbers(variant_id, warehouse).one()
            now_seen = row.threshold if row and row.threshold is not None else 0
            form.keep_typed(seen=now_seen)
            form.add_error(
                "threshold",
                _("It’s %(units)d now. Save again to replace it.") % {"units": now_seen},
            )
        else:
            operations.copy_stock(product_id, [(variant_id, warehouse)])
            note_changes(request, {"low at": seen}, {"low at": threshold, "sku": variant.sku})
            said = _("%(sku)s has no low-stock threshold in %(warehouse)s.")
            if threshold:
                said = _("The low-stock threshold of %(sku)s in %(warehouse)s is %(units)d.")
            _say(request, said, variant, warehouse, units=threshold)
            return redirect("adminpanel:stock_item", product_id, variant_id)
    return render_stock_item(request, product_id, variant_id, form=form, status=status)


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def set_stock_place(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Set a variant's place in a warehouse, such as a shelf."""
    _product, variant = get_variant_or_404(product_id, variant_id)
    warehouse = get_warehouse_or_404(request)
    form, status = PlaceForm(warehouse, "", request.POST), 422
    if form.is_valid():
        place, seen = form.cleaned_data["place"], form.cleaned_data["seen_place"]
        try:
            operations.set_place(variant_id, warehouse, place, seen=seen)
        except LookupError:
            form.add_error("place", _("No stock here yet."))
        except PlaceChanged as changed:
            status = 409
            form.keep_typed(seen_place=changed.place)
            form.add_error(
                "place",
                _("It’s “%(place)s” now. Save again to replace it.") % {"place": changed.place},
            )
        else:
            note_changes(request, {"place": seen}, {"place": place, "sku": variant.sku})
            said = _("%(sku)s has no location in %(warehouse)s.")
            if place:
                said = _("The location of %(sku)s in %(warehouse)s is %(place)s.")
            _say(request, said, variant, warehouse, place=place)
            return redirect("adminpanel:stock_item", product_id, variant_id)
    return render_stock_item(request, product_id, variant_id, form=form, status=status)


def _say(request: HttpRequest, text: str, variant: Variant, warehouse: str, **more: object) -> None:
    words = {"sku": variant.sku, "warehouse": find_warehouse_name(warehouse), **more}
    messages.success(request, text % words)
