"""Pages of transfers between warehouses: send units, list transfers, book them as arrived, or call them off."""

from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import STOCK_STAFF
from adminpanel.parameters import found_or_404
from adminpanel.stock.forms import StockTransferForm
from adminpanel.stock.pages import list_transfer_lines
from adminpanel.stock.rendering import get_variant_or_404, render_stock_item
from cassandra_db import current_time
from inventory import operations
from inventory.entities import LEAVING, StockTransfer
from inventory.errors import NotEnoughAvailable, TooManyTransfers, TransferRefused
from inventory.queries import get_transfer
from inventory.warehouses import find_warehouse_name
from web.decorators import post_only
from web.rendering import render_page


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_item", "product_id", "variant_id")
def start_stock_transfer(request: HttpRequest, product_id: UUID, variant_id: UUID) -> HttpResponse:
    """Send units of a variant from one warehouse to another."""
    _product, variant = get_variant_or_404(product_id, variant_id)
    form = StockTransferForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        transfer = StockTransfer(
            # The id is derived from the key. If it were the key itself, a forged key could be another transfer's id.
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
                "source": find_warehouse_name(transfer.source),
                "destination": find_warehouse_name(transfer.destination),
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
    form.keep_typed(key=uuid4())
    return render_stock_item(request, product_id, variant_id, form=form)


def _send(transfer: StockTransfer, form: StockTransferForm) -> bool:
    """Start a transfer. Return whether the units were sent. If they were not, the form has an error."""
    try:
        operations.start_transfer(transfer)
    except LookupError:
        form.add_error("source", _("No stock there yet."))
    except NotEnoughAvailable as short:
        form.add_error(
            "units",
            _("Available there: %(units)d. Orders hold the others.") % {"units": short.available},
        )
    except TooManyTransfers:
        form.add_error(None, _("Too many transfers are in transit. Book the arrived ones first."))
    except TransferRefused as refused:
        known = refused.transfer
        form.add_error(
            "units",
            _("This form was already saved: %(units)d from %(source)s to %(destination)s.")
            % {
                "units": known.units,
                "source": find_warehouse_name(known.source),
                "destination": find_warehouse_name(known.destination),
            },
        )
    return not form.errors


@staff_required(STOCK_STAFF)
@require_safe
def stock_transfers(request: HttpRequest) -> HttpResponse:
    """Show the open transfers between warehouses."""
    return _transfers_page(request)


def _transfers_page(request: HttpRequest, refused: StockTransfer | None = None) -> HttpResponse:
    lines, count = list_transfer_lines()
    context = {
        "lines": lines,
        "count": count,
        "refused": refused,
        "arrived_in": find_warehouse_name(refused.arrived_in) if refused else "",
    }
    status = 409 if refused else 200
    return render_page(request, "adminpanel/stock/stock_transfers.html", context, status=status)


@staff_required(STOCK_STAFF, is_about_people=False)
@post_only("adminpanel:stock_transfers")
def end_stock_transfer(request: HttpRequest, transfer_id: UUID) -> HttpResponse:
    """Book a transfer as arrived, or call it off and return its units to the first warehouse."""
    transfer = found_or_404(get_transfer(transfer_id), "transfer")
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
        {"in transit": 0, "arrived in": find_warehouse_name(warehouse)},
    )
    words = {"units": transfer.units, "warehouse": find_warehouse_name(warehouse)}
    said = ngettext(
        "%(units)d unit has arrived in %(warehouse)s.",
        "%(units)d units have arrived in %(warehouse)s.",
        transfer.units,
    )
    if is_called_off:
        said = ngettext(
            "%(units)d unit is back in %(warehouse)s.",
            "%(units)d units are back in %(warehouse)s.",
            transfer.units,
        )
    messages.success(request, said % words)
    if request.POST.get("back") == "item":
        return redirect("adminpanel:stock_item", transfer.product_id, transfer.variant_id)
    return redirect("adminpanel:stock_transfers")
