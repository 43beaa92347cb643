"""The form that ships an order as one parcel."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse

from adminpanel.orders.parcel_forms import ShipForm
from adminpanel.orders.submits import handle_submit
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item


def ship_order(request: HttpRequest, order: Order) -> HttpResponse:
    """Ship an order as one parcel, with the submitted carrier and tracking number."""

    def build_form(order: Order, items: tuple[Item, ...]) -> ShipForm | None:
        return ShipForm(order, request.POST) if ShipForm.is_possible(order) else None

    def apply(order: Order, form: ShipForm, actor: str, now: datetime) -> Order:
        carrier, tracking = form.cleaned_data["carrier"], form.cleaned_data["tracking"]
        if form.packed:
            parcel_id = form.packed.parcel_id
            return operations.ship_parcel(order, parcel_id, carrier, tracking, actor=actor, now=now)
        return operations.ship_order(order, carrier, tracking, actor=actor, now=now)

    return handle_submit(request, order, build_form, apply)
