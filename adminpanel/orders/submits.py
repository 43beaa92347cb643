"""Handles a form on an order's page: checks the form, applies it, and answers with the page."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, note_changes
from adminpanel.orders.available_forms import AnyForm
from adminpanel.orders.history import describe_submitted_event
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.order_page import get_order_or_404, get_order_page
from adminpanel.orders.rendering import order_page_context, render_conflict, render_order_page
from cassandra_db import current_time
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderChanged, TrackingNumberTaken, TransitionRefused
from orders.lifecycle.items import Item
from orders.queries import list_items
from orders.submits import find_submitted_event, handle_once
from web.rendering import render_or_redirect

F = TypeVar("F", bound=AnyForm)
# Returns the submitted form for an order and its items, or None if the order does not allow the form.
BuildForm = Callable[[Order, tuple[Item, ...]], F | None]
# Applies a form to an order in the name of an actor, at a given time. Returns the changed order.
ApplyForm = Callable[[Order, F, str, datetime], Order]
# Returns whether a valid form may be applied. If it may not, the form has an error.
ConfirmForm = Callable[[HttpRequest, Order, F], bool]


def answer_submit(
    request: HttpRequest, changed: Order, before: Order | None = None
) -> HttpResponse:
    """Return the order's page with a message about the change, and enter the change in the audit log.

    `before` is None for a form that was sent twice: the log already has its change.
    """
    if before:
        note_changes(request, _audited(before), _audited(changed), personal=["delivery_address"])
    if event := find_submitted_event(request, changed):
        text = _("Order %(number)s: %(what)s.")
        what = describe_submitted_event(changed, event)
        messages.success(request, text % {"number": changed.number, "what": what})
    return render_or_redirect(
        request,
        reverse("adminpanel:order", args=[changed.number]),
        "adminpanel/orders/order.html",
        lambda: order_page_context(request, get_order_page(changed)),
        part="order",
    )


def _audited(order: Order) -> dict[str, object]:
    """Return the values of an order that the audit log compares."""
    return {
        "status": order.state,
        "payment": order.payment,
        "fulfilment": order.fulfilment,
        "total": order.total,
        "received": order.captured,
        "refunds": ", ".join(str(each.amount) for each in order.refunds) or "none",
        "refunded": order.refunded,
        "items": ", ".join(f"{line}: {units}" for line, units in sorted(order.quantities.items())),
        "parcels": ", ".join(f"{each.parcel_id}: {each.state}" for each in order.parcels())
        or "none",
        "returns": ", ".join(f"{each.return_id}: {each.state}" for each in order.returns) or "none",
        "delivery_address": order.delivery_address,
        "tags": ", ".join(order.tags) or "none",
    }


def order_submit(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Give a view the order with the number in the address. A form that is sent twice runs once. Raises Http404."""
    handled = handle_once(answer_submit)(view)

    @wraps(view)
    def submitted(request: HttpRequest, number: str, **kwargs: str) -> HttpResponse:
        return handled(request, get_order_or_404(number), **kwargs)

    return submitted


def handle_submit(
    request: HttpRequest,
    order: Order,
    build_form: BuildForm[F],
    apply: ApplyForm[F],
    confirm: ConfirmForm[F] | None = None,
) -> HttpResponse:
    """Apply a form to an order in the version that the page showed, and answer with the order's page.

    If the order has changed or refuses, the answer is a conflict (409). An invalid form shows its errors (422).
    """
    form = build_form(order, list_items(order))
    if form is None or request.POST.get("version") != str(order.version):
        return render_conflict(
            request, OrderChanged(order), typed=form.typed_values if form else []
        )
    if not form.is_valid() or (confirm and not confirm(request, order, form)):
        return render_order_page(request, get_order_page(order), form=form, status=422)
    try:
        changed = apply(order, form, staff_actor(current_member(request)), current_time())
    except TrackingNumberTaken as taken:
        form.add_error("tracking", str(taken))
        return render_order_page(request, get_order_page(order), form=form, status=422)
    except (OrderChanged, TransitionRefused, NotPayable) as refused:
        return render_conflict(request, conflict_error(refused, order), typed=form.typed_values)
    return answer_submit(request, changed, before=order)


def conflict_error(
    refused: OrderChanged | TransitionRefused | NotPayable, order: Order
) -> OrderChanged | TransitionRefused:
    """Return the error that the order's page explains to the user."""
    if isinstance(refused, NotPayable):
        return TransitionRefused(order, "paid", _("there is nothing to pay"))
    return refused
