"""Pages of an order's returns: approve, decline or receive one."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse

from accounts.access import staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.orders.forms import OrderForm
from adminpanel.orders.return_forms import ReturnDecisionForm, ReturnReceiptForm
from adminpanel.orders.submits import handle_submit, order_submit
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from web.decorators import post_only


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def update_return(request: HttpRequest, order: Order, return_id: str) -> HttpResponse:
    """Approve a return, decline it with a reason, or receive it and put its units back into stock."""

    def build_form(order: Order, items: tuple[Item, ...]) -> OrderForm | None:
        found = next((each for each in order.returns if each.return_id == return_id), None)
        if found and found.state == "requested":
            return ReturnDecisionForm(order, found, request.POST)
        if found and found.state == "approved":
            return ReturnReceiptForm(order, found, items, request.POST)
        return None

    def apply(order: Order, form: OrderForm, actor: str, now: datetime) -> Order:
        if isinstance(form, ReturnReceiptForm):
            return operations.receive_return(order, return_id, form.units, actor=actor, now=now)
        answer = {
            "return_approved": operations.approve_return,
            "return_rejected": operations.reject_return,
        }[form.cleaned_data["event"]]
        return answer(order, return_id, actor=actor, now=now, note=form.cleaned_data["note"])

    return handle_submit(request, order, build_form, apply)
