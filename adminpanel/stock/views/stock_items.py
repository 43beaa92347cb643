"""A variant's stock in all warehouses: from how many on it is low, and what goes from one to another."""

from __future__ import annotations

from uuid import UUID, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, note_changes, staff_required
from adminpanel.stock.booking import STOCK_STAFF
from adminpanel.stock.forms import PlaceForm, StockTransferForm, ThresholdForm, warehouse_label
from adminpanel.stock.pages import get_stock_item_page, list_transfer_lines
from cassandra_db import InvalidPageToken, current_time
from catalogue import queries
from catalogue.entities import Product, Variant
from inventory import operations
from inventory.entities import LEAVING, StockTransfer
from inventory.errors import (
    NotEnoughAvailable,
    PlaceChanged,
    StockChanged,
    TooManyTransfers,
    TransferRefused,
)
from inventory.queries import get_transfer, prefetch_stock_numbers
from inventory.warehouses import list_warehouses
from web.decorators import post_only
from web.rendering import render_page


@staff_required(STOCK_STAFF)
@require_safe
def stock_item(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Show a variant in all warehouses: its numbers, what is in transit, what was booked and by whom."""
    try:
        return _item_page(request, product_id, variant_id, after=request.GET.get("after", "")[:500])
    except InvalidPageToken:
        return redirect("adminpanel:stock_item", product_id, variant_id)


def _item_page(
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
    page = get_stock_item_page(product_id, variant_id, after)
    if page is None:
        raise Http404("no such variant")
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


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def set_stock_threshold(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Say up to how many units of a variant are low in a warehouse."""
    _product, variant = _get_variant(product_id, variant_id)
    warehouse = request.POST.get("warehouse", "")
    if warehouse not in list_warehouses():
        raise Http404("no such warehouse")
    form, status = ThresholdForm(warehouse, None, request.POST), 422
    if form.is_valid():
        threshold, seen = form.cleaned_data["threshold"], form.cleaned_data["seen"]
        try:
            operations.set_threshold(variant_id, warehouse, threshold, seen=seen)
        except LookupError:
            form.add_error("threshold", _("Nothing has arrived here yet."))
        except StockChanged:
            status = 409
            row = prefetch_stock_numbers(variant_id, warehouse).one()
            now_seen = row.threshold if row and row.threshold is not None else 0
            form.data = {**dict(form.data.items()), "seen": str(now_seen)}
            form.add_error(
                "threshold",
                _("Meanwhile it is %(units)d. Save again if yours is right.") % {"units": now_seen},
            )
        else:
            operations.copy_stock(product_id, [(variant_id, warehouse)])
            note_changes(request, {"low at": seen}, {"low at": threshold, "sku": variant.sku})
            messages.success(
                request,
                _("%(sku)s is low in %(warehouse)s at %(units)d.")
                % {
                    "sku": variant.sku,
                    "warehouse": warehouse_label(warehouse),
                    "units": threshold,
                }
                if threshold
                else _("%(sku)s is never called low in %(warehouse)s.")
                % {"sku": variant.sku, "warehouse": warehouse_label(warehouse)},
            )
            return redirect("adminpanel:stock_item", product_id, variant_id)
    return _item_page(
        request, product_id, variant_id, threshold_form=(warehouse, form), status=status
    )


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def set_stock_place(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Say where in a warehouse a variant lies."""
    _product, variant = _get_variant(product_id, variant_id)
    warehouse = request.POST.get("warehouse", "")
    if warehouse not in list_warehouses():
        raise Http404("no such warehouse")
    form, status = PlaceForm(warehouse, "", request.POST), 422
    if form.is_valid():
        place, seen = form.cleaned_data["place"], form.cleaned_data["seen_place"]
        try:
            operations.set_place(variant_id, warehouse, place, seen=seen)
        except LookupError:
            form.add_error("place", _("Nothing has arrived here yet."))
        except PlaceChanged as changed:
            status = 409
            form.data = {**dict(form.data.items()), "seen_place": changed.place}
            form.add_error(
                "place",
                _("Meanwhile it is “%(place)s”. Save again if yours is right.")
                % {"place": changed.place},
            )
        else:
            note_changes(request, {"place": seen}, {"place": place, "sku": variant.sku})
            words = {"sku": variant.sku, "warehouse": warehouse_label(warehouse), "place": place}
            messages.success(
                request,
                _("%(sku)s lies at %(place)s in %(warehouse)s.") % words
                if place
                else _("%(sku)s has no place in %(warehouse)s.") % words,
            )
            return redirect("adminpanel:stock_item", product_id, variant_id)
    return _item_page(request, product_id, variant_id, place_form=(warehouse, form), status=status)


def _get_variant(product_id: UUID, variant_id: UUID) -> tuple[Product, Variant]:
    product = queries.get_product_at_quorum(product_id)
    variant = product.get_variant(variant_id) if product else None
    if product is None or variant is None:
        raise Http404("no such variant")
    return product, variant


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def start_stock_transfer(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Send units of a variant to another warehouse."""
    _product, variant = _get_variant(product_id, variant_id)
    form = StockTransferForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        transfer = StockTransfer(
            # Never the key itself: a form that names another transfer would find that one.
            uuid5(variant_id, f"transfer {sent['key']}"),
            product_id,
            variant_id,
            sent["source"],
            sent["destination"],
            sent["units"],
            sent["reason"],
            LEAVING,
            str(current_member(request).pk),
            current_time(),
        )
        if _send(transfer, form):
            words = {
                "sku": variant.sku,
                "units": transfer.units,
                "source": warehouse_label(transfer.source),
                "destination": warehouse_label(transfer.destination),
            }
            note_changes(request, {}, words)
            messages.success(
                request,
                ngettext(
                    "%(units)d unit of %(sku)s is on its way from %(source)s to %(destination)s.",
                    "%(units)d units of %(sku)s are on their way from %(source)s to %(destination)s.",
                    transfer.units,
                )
                % words,
            )
            return redirect("adminpanel:stock_item", product_id, variant_id)
    form.renew_key()
    return _item_page(request, product_id, variant_id, transfer_form=form)


def _send(transfer: StockTransfer, form: StockTransferForm) -> bool:
    """Start a transfer, and return whether it has left; the form has an error if not."""
    try:
        operations.start_transfer(transfer)
    except LookupError:
        form.add_error("source", _("Nothing has arrived there yet."))
    except NotEnoughAvailable as short:
        form.add_error(
            "units",
            _("Only %(units)d are free there: orders have the others.")
            % {"units": short.available},
        )
    except TooManyTransfers:
        form.add_error(
            None, _("Too many transfers are under way. Book those that have arrived first.")
        )
    except TransferRefused as refused:
        known = refused.transfer
        form.add_error(
            "units",
            _("This form was sent already: %(units)d from %(source)s to %(destination)s.")
            % {
                "units": known.units,
                "source": warehouse_label(known.source),
                "destination": warehouse_label(known.destination),
            },
        )
    return not form.errors


@staff_required(STOCK_STAFF)
@require_safe
def stock_transfers(request: HttpRequest) -> HttpResponse:
    """Show what is on its way between the warehouses."""
    return _transfers_page(request)


def _transfers_page(request: HttpRequest, refused: StockTransfer | None = None) -> HttpResponse:
    lines, count = list_transfer_lines()
    context = {
        "lines": lines,
        "count": count,
        "refused": refused,
        "arrived_in": warehouse_label(refused.arrived_in) if refused else "",
    }
    status = 409 if refused else 200
    return render_page(request, "adminpanel/stock/stock_transfers.html", context, status=status)


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_transfers")
def end_stock_transfer(request: HttpRequest, transfer_id: UUID) -> HttpResponse:
    """Book a transfer as arrived, or call it off: then its units are back where they came from."""
    transfer = get_transfer(transfer_id)
    if transfer is None:
        raise Http404("no such transfer")
    is_called_off = "call_off" in request.POST
    warehouse = transfer.source if is_called_off else transfer.destination
    try:
        operations.end_transfer(
            transfer, warehouse, str(current_member(request).pk), current_time()
        )
    except TransferRefused as refused:
        return _transfers_page(request, refused.transfer)
    note_changes(
        request,
        {"in transit": transfer.units},
        {"in transit": 0, "arrived in": warehouse_label(warehouse)},
    )
    words = {"units": transfer.units, "warehouse": warehouse_label(warehouse)}
    messages.success(
        request,
        ngettext(
            "%(units)d unit is back in %(warehouse)s.",
            "%(units)d units are back in %(warehouse)s.",
            transfer.units,
        )
        % words
        if is_called_off
        else ngettext(
            "%(units)d unit has arrived in %(warehouse)s.",
            "%(units)d units have arrived in %(warehouse)s.",
            transfer.units,
        )
        % words,
    )
    if request.POST.get("back") == "item":
        return redirect("adminpanel:stock_item", transfer.product_id, transfer.variant_id)
    return redirect("adminpanel:stock_transfers")
