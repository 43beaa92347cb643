"""Pages about an order's money: refund it, and record payments that arrived by hand."""

from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters
from moneyed import Money

from accounts.access import current_member, staff_required
from accounts.roles import MONEY_STAFF
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.money_forms import ReceivedPaymentForm, RefundForm
from adminpanel.orders.refund_permission import confirm_order_refund
from adminpanel.orders.rendering import render_conflict
from adminpanel.orders.submits import answer_submit, conflict_error, handle_submit, order_submit
from cassandra_db import current_time
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderChanged, TransitionRefused
from orders.lifecycle.items import Item
from pricing.money import to_minor_units
from web.decorators import post_only


@sensitive_post_parameters("code")
@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def decide_refund(request: HttpRequest, order: Order, return_id: str = "") -> HttpResponse:
    """Refund units, the delivery or another sum. The refund can belong to a return, and can close it with a sum of 0."""

    def build_form(order: Order, items: tuple[Item, ...]) -> RefundForm | None:
        back = next((each for each in order.returns if each.return_id == return_id), None)
        if return_id and not (back and back.is_awaiting_refund):
            return None
        return RefundForm(order, items, back, request.POST)

    def apply(order: Order, form: RefundForm, actor: str, now: datetime) -> Order:
        sent = form.cleaned_data
        if not to_minor_units(sent["amount"]):
            return operations.close_return(
                order, return_id, actor=actor, now=now, note=sent["reason"]
            )
        return operations.decide_refund(
            order,
            sent["amount"],
            form.units,
            sent["reason"],
            actor=actor,
            now=now,
            return_id=return_id,
            more={"delivery": sent["delivery"], "restock": form.restock},
        )

    def confirm(request: HttpRequest, order: Order, form: RefundForm) -> bool:
        return confirm_order_refund(request, form, order, form.cleaned_data["amount"])

    return handle_submit(request, order, build_form, apply, confirm)


@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def record_payment(request: HttpRequest, order: Order) -> HttpResponse:
    """Record money received by transfer or on delivery."""

    def apply(order: Order, form: ReceivedPaymentForm, actor: str, now: datetime) -> Order:
        amount: Money = form.cleaned_data["amount"]
        idempotency_key: UUID = form.cleaned_data["press"]
        return operations.record_manual_payment(
            order, amount, key=str(idempotency_key), actor=actor, now=now
        )[0]

    return handle_submit(
        request, order, lambda order, _: ReceivedPaymentForm(order, request.POST), apply
    )


@staff_required(MONEY_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def record_manual_refund(request: HttpRequest, order: Order) -> HttpResponse:
    """Record that staff have paid out a refund by hand."""
    actor = staff_actor(current_member(request))
    try:
        changed = operations.record_manual_refund(
            order, request.POST.get("refund", ""), actor=actor, now=current_time()
        )
    except (NotPayable, OrderChanged, TransitionRefused) as refused:
        return render_conflict(request, conflict_error(refused, order))
    return answer_submit(request, changed, before=order)
