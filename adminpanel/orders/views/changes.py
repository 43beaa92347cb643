"""Changes of a placed order: its lines, and its delivery address."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters

from accounts.access import staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.orders.change_forms import ChangeLinesForm, StaffAddressForm
from adminpanel.orders.refund_permission import confirm_order_refund
from adminpanel.orders.submits import handle_submit, order_submit
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.queries import list_items
from web.decorators import post_only


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_lines(request: HttpRequest, order: Order) -> HttpResponse:
    """Remove unpacked units from an order, and refund the money that was paid for these units."""

    def apply(order: Order, form: ChangeLinesForm, actor: str, now: datetime) -> Order:
        return operations.change_order(order, form.units, actor=actor, now=now)

    def confirm(request: HttpRequest, order: Order, form: ChangeLinesForm) -> bool:
        try:
            amount = operations.compute_change_refund(order, list_items(order), form.units)
        except TransitionRefused:
            return True  # the refusal explains the reason
        return confirm_order_refund(request, form, order, amount)

    return handle_submit(
        request,
        order,
        lambda order, items: ChangeLinesForm(order, items, request.POST),
        apply,
        confirm,
    )


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_delivery_address(request: HttpRequest, order: Order) -> HttpResponse:
    """Change an order's delivery address to another address in the same country."""

    def apply(order: Order, form: StaffAddressForm, actor: str, now: datetime) -> Order:
        return operations.change_order(order, {}, form.address(), actor=actor, now=now)

    return handle_submit(
        request, order, lambda order, _: StaffAddressForm(order, request.POST), apply
    )
