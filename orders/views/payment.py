"""The views with which a shopper pays or cancels an unpaid order, and the view for the gateways' webhooks."""

import logging
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from accounts.access import redirect_to_login_page
from cart.errors import CartError
from cart.middleware import without_badge_prefetch
from cassandra_db import current_time
from orders import access, operations
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderChanged, OrderError, WebhookBusy
from orders.lifecycle.states import CONFIRMING_EVENTS
from orders.lifecycle.transitions import Transition
from orders.payment_redirect import redirect_to_payment
from orders.payment_status import poll_open_payment, poll_payment
from orders.submits import find_submitted_event, handle_once
from payments import gateways
from payments.errors import GatewayMissing, GatewayUnavailable
from web.decorators import no_store, owner_only, post_only, public
from web.logs import current_request_id
from web.rendering import without_header

log = logging.getLogger(__name__)


@post_only("orders:detail", "number")
@owner_only
@access.order_owner_required
def pay_order(request: HttpRequest, order: Order) -> HttpResponse:
    """Start another attempt to pay an order."""
    if order.is_awaiting_payment and order.pay_until < current_time():
        messages.warning(
            request, _("The time to pay for this order has run out. Nothing was charged.")
        )
        return redirect("orders:detail", order.number)
    return redirect_to_payment(request, order)


def _answer_giving_up(request: HttpRequest, order: Order) -> HttpResponse:
    messages.info(
        request,
        _("Order %(number)s was cancelled. Its items are still in your cart.")
        % {"number": order.number},
    )
    return redirect("cart:show")


@post_only("orders:detail", "number")
@owner_only
@access.order_owner_required
@handle_once(_answer_giving_up)
def cancel_unpaid_order(request: HttpRequest, order: Order) -> HttpResponse:
    """Cancel an unpaid order. Its units are released, and its lines stay in the cart."""
    order = poll_open_payment(order)
    try:
        if not order.is_awaiting_payment:
            raise NotPayable
        operations.transition_order(
            order, Transition("cancelled", actor="shopper", at=current_time())
        )
    except OrderChanged as stale:
        if find_submitted_event(request, stale.order):
            return _answer_giving_up(request, stale.order)
        messages.error(request, str(stale))
    except (OrderError, GatewayUnavailable) as refused:
        messages.error(request, str(refused))
    else:
        return _answer_giving_up(request, order)
    return redirect("orders:detail", order.number)


@post_only("orders:detail", "number")
@owner_only
@access.order_owner_required
def extend_payment_deadline(request: HttpRequest, order: Order) -> HttpResponse:
    """Extend the reservation of an order's units, so that the shopper can still pay."""
    try:
        operations.extend_payment_deadline(order, current_time())
        messages.success(request, _("The reservation is extended."))
    except (OrderError, GatewayUnavailable) as refused:
        messages.error(request, str(refused))
    return redirect("orders:detail", order.number)


@require_safe
@owner_only
@without_badge_prefetch
def return_from_payment(request: HttpRequest, number: str, payment_id: UUID) -> HttpResponse:
    """Receive the shopper from the gateway's page. Ask the gateway for the payment's outcome, and ignore what the address says."""
    order = access.get_existing_order_with_payments(number)
    if not access.is_own_order(request, order):
        if _has_lost_session(request, order, payment_id):
            return redirect_to_login_page(request)
        raise Http404("no such order")
    order = poll_payment(order, payment_id)
    try:
        # A faster webhook may not have removed the bought lines yet; the next page must not show them in the cart.
        if not _is_paid_by_this_request(order):
            operations.ensure_bought_items_removed(order, current_time())
    except CartError as busy:
        log.warning("order %s: its cart is emptied later: %s", order.number, busy)
    return redirect("orders:detail", order.number)


def _is_paid_by_this_request(order: Order) -> bool:
    """Return whether this request has learned of the payment, and so has applied its effects."""
    return any(
        event.kind in CONFIRMING_EVENTS and event.request_id == current_request_id()
        for event in order.events
    )


def _has_lost_session(request: HttpRequest, order: Order, payment_id: UUID) -> bool:
    """Return whether the visitor seems to be the order's member, logged out while paying: they know a payment attempt's id."""
    return (
        not request.user.is_authenticated
        and order.user_id is not None
        and any(each.payment_id == payment_id for each in order.payment_attempts)
    )


@csrf_exempt
@require_POST
@without_header
@no_store
@public
def payment_webhook(request: HttpRequest, gateway: str) -> HttpResponse:
    """Receive a gateway's webhook about a changed payment. Verify its signature, then ask the gateway about the payment."""
    try:
        webhook = gateways.get_gateway(gateway).parse_webhook(request.body, request.headers)
        if webhook:
            operations.process_webhook(gateway, webhook, current_time())
    except GatewayMissing as nobody:
        raise Http404("no such gateway here") from nobody
    except (PermissionError, LookupError, ValueError) as refused:
        log.warning("a payment webhook was refused: %s", refused)
        return HttpResponse(status=403)
    except WebhookBusy:
        return HttpResponse(status=409)
    except GatewayUnavailable:
        return HttpResponse(status=503)  # so that the webhook is sent again
    return HttpResponse(status=204)
