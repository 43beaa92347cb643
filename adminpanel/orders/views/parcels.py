"""Pages of an order's parcels: pack or ship one, correct its tracking number, record its outcome."""

from datetime import datetime
from functools import partial

from django.http import HttpRequest, HttpResponse

from accounts.access import staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.orders.forms import OrderForm
from adminpanel.orders.order_page import get_order_or_404, get_order_page
from adminpanel.orders.parcel_forms import PackForm, ParcelForm, TrackingForm
from adminpanel.orders.rendering import render_conflict, render_order_page
from adminpanel.orders.submits import handle_submit, order_submit
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import TRACKED
from orders.queries import list_items
from web.decorators import post_only


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def pack_parcel(request: HttpRequest, order: Order, warehouse: str) -> HttpResponse:
    """Pack a parcel of the order in a warehouse."""

    def apply(order: Order, form: PackForm, actor: str, now: datetime) -> Order:
        carrier, tracking = form.cleaned_data["carrier"], form.cleaned_data["tracking"]
        return operations.pack_parcel(
            order, warehouse, form.units, carrier, tracking, actor=actor, now=now
        )

    build_form = partial(_build_pack_form, request, warehouse)
    return handle_submit(request, order, build_form, apply)


def _build_pack_form(
    request: HttpRequest, warehouse: str, order: Order, items: tuple[Item, ...]
) -> PackForm | None:
    if warehouse not in order.units_to_pack:
        return None
    return PackForm(order, warehouse, items, request.POST)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
def count_scanned(request: HttpRequest, number: str, warehouse: str) -> HttpResponse:
    """Add a scanned unit to the form, for browsers without scripts. This view saves nothing."""
    order = get_order_or_404(number)
    form = _build_pack_form(request, warehouse, order, list_items(order))
    if form is None or request.POST.get("version") != str(order.version):
        return render_conflict(
            request, OrderChanged(order), typed=form.typed_values if form else []
        )
    status = 200 if form.count_scan() else 422
    return render_order_page(request, get_order_page(order), form=form, status=status)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def update_parcel(request: HttpRequest, order: Order, parcel_id: str) -> HttpResponse:
    """Ship a parcel, correct its tracking number, or record its outcome."""

    def build_form(order: Order, items: tuple[Item, ...]) -> OrderForm | None:
        found = next((each for each in order.parcels() if each.parcel_id == parcel_id), None)
        if found and request.POST.get("event") == TRACKED:
            is_possible = TrackingForm.is_possible(order, found)
            return TrackingForm(order, found, request.POST) if is_possible else None
        if found and found.state in ParcelForm.STEPS:
            return ParcelForm(order, found, request.POST)
        return None

    def apply(order: Order, form: OrderForm, actor: str, now: datetime) -> Order:
        event = form.cleaned_data["event"]
        carrier, tracking = (form.cleaned_data.get(name, "") for name in ("carrier", "tracking"))
        if event == TRACKED:
            mail = form.cleaned_data["mail"]
            return operations.correct_tracking(
                order, parcel_id, carrier, tracking, actor=actor, now=now, has_mail=mail
            )
        if event == "shipped":
            return operations.ship_parcel(order, parcel_id, carrier, tracking, actor=actor, now=now)
        step = {
            "unpacked": operations.unpack_parcel,
            "delivered": operations.mark_parcel_delivered,
            "lost": operations.mark_parcel_lost,
        }[event]
        return step(order, parcel_id, actor=actor, now=now)

    return handle_submit(request, order, build_form, apply)
