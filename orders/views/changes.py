"""The pages on which a shopper changes a placed order: fewer units, another delivery address, a return.

If a relevant event happened after the page was opened, a submit is answered by 409 with that event and the typed values. The
next submit counts.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from cassandra_db import current_time
from orders import access, operations, presentation, queries
from orders.change_forms import ChangeForm, DeliveryAddressForm, ReturnForm
from orders.lifecycle import parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.submits import Answer, handle_once
from web.decorators import get_or_post, owner_only
from web.rendering import render_page

# How often a change is tried while other writes, such as a payment, change the order.
MAX_ATTEMPTS = 3


def _back_to_order(message: str) -> Answer:
    """Return a function that redirects to the order's page with this message, for `handle_once`."""

    def answer(request: HttpRequest, order: Order) -> HttpResponse:
        messages.success(request, _(message))
        return redirect("orders:detail", order.number)

    return answer


_LINES_CHANGED = _back_to_order(gettext_noop("Your order was updated."))
_ADDRESS_CHANGED = _back_to_order(gettext_noop("Your order will go to the new address."))
_RETURN_REQUESTED = _back_to_order(
    gettext_noop(
        "We’ve received your return request. We’ll reply by email within two working days."
    )
)


@get_or_post
@owner_only
@access.order_owner_required
@handle_once(_LINES_CHANGED)
def change_lines(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page for removing unpacked units from an order, and remove the chosen units."""
    lines = order.current_lines(queries.list_items(order))
    packed = parcels.units_by_line(parcels.packed_units(order.parcels()))
    form = ChangeForm(request.POST or None, items=lines, packed=packed)
    return _handle_change_form(
        request,
        order,
        "orders/change.html",
        {"form": form, "may": presentation.can_change_lines(order)},
        presentation.CHANGE_KINDS,
        lambda order, now: operations.change_order(order, form.units, actor="shopper", now=now),
        _LINES_CHANGED,
    )


@get_or_post
@owner_only
@access.order_owner_required
@handle_once(_ADDRESS_CHANGED)
def change_delivery_address(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page for changing the delivery address of an unpacked order within its country, and change the address."""
    form = DeliveryAddressForm(request.POST or None, current_address=order.delivery_address)
    return _handle_change_form(
        request,
        order,
        "orders/delivery_address.html",
        {"form": form, "may": presentation.can_change_address(order)},
        presentation.CHANGE_KINDS,
        lambda order, now: operations.change_order(
            order, {}, form.address(), actor="shopper", now=now
        ),
        _ADDRESS_CHANGED,
    )


@get_or_post
@owner_only
@access.order_owner_required
@handle_once(_RETURN_REQUESTED)
def request_return(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page for returning delivered units within the shop's return period, and request the return."""
    items = queries.list_items(order)
    contents = presentation.item_units(items, order.returnable_units(current_time()))
    form = ReturnForm(request.POST or None, contents=contents)
    context = {
        "form": form,
        "may": bool(contents),
        "until": presentation.return_deadline(order),
        "returns": presentation.summarize_returns(order, items),
    }
    return _handle_change_form(
        request,
        order,
        "orders/request_return.html",
        context,
        presentation.RETURN_KINDS,
        lambda order, now: operations.request_return(
            order, form.units, form.reason_text, actor="shopper", now=now
        ),
        _RETURN_REQUESTED,
    )


def _handle_change_form(
    request: HttpRequest,
    order: Order,
    template: str,
    context: dict[str, Any],
    kinds: frozenset[str],
    make_change: Callable[[Order, datetime], Order],
    answer: Answer,
) -> HttpResponse:
    """Show the page of a change. If the form was sent, make the change and return `answer`, or show the page with the reason."""

    def refuse(**reason: Any) -> HttpResponse:
        return render_page(request, template, context | {"typed": True} | reason, status=409)

    context |= {"order": order, "seen": presentation.last_event_id(order)}
    if request.method != "POST":
        return render_page(request, template, context)
    news = presentation.events_since(order, request.POST.get("seen", ""), kinds)
    if news or not context["may"]:
        return refuse(news=news)
    if not context["form"].is_valid():
        return render_page(request, template, context, status=422)
    for _try in range(MAX_ATTEMPTS):
        try:
            order = make_change(order, current_time())
        except OrderChanged as stale:
            seen = presentation.last_event_id(order)
            if news := presentation.events_since(stale.order, seen, kinds):
                seen = presentation.last_event_id(stale.order)
                return refuse(news=news, order=stale.order, seen=seen)
            order = stale.order
        except TransitionRefused as refused:
            return refuse(why=str(refused))
        else:
            return answer(request, order)
    return refuse(why=_("Someone is working on this order at the moment."))
