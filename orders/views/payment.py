"""Paying an order: to the bank and back."""

import logging
from datetime import UTC, datetime
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import time_format
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from accounts.access import to_login
from orders import access, numbers, operations, queries
from orders.entities import Order
from orders.errors import NoticeBusy, NotPayable, OrderError
from orders.payment_redirect import to_payment
from orders.payment_status import ask_bank, settle_payment
from orders.transitions import Transition
from payments import gateways
from payments.errors import GatewayAway, NoGateway
from web.methods import own, post_only, public
from web.rendering import without_header

log = logging.getLogger(__name__)


@post_only("orders:detail", "number")
@own
def pay(request: HttpRequest, number: str) -> HttpResponse:
    """Try once more to pay an order."""
    order = access.own_order(request, number)
    if order.waits_for_payment and order.pay_until < datetime.now(UTC):
        messages.warning(request, "The time to pay this order is over. Nothing was charged.")
        return redirect("orders:detail", order.number)
    return to_payment(request, order)


@post_only("orders:detail", "number")
@own
@access.by_its_buyer
def give_up(request: HttpRequest, order: Order) -> HttpResponse:
    """The shopper does not want to pay: the order's things are free again, and still in the cart."""
    order = ask_bank(order)
    try:
        if not order.waits_for_payment:
            raise NotPayable
        operations.order_moved(
            order, Transition("cancelled", actor="shopper", at=datetime.now(UTC))
        )
    except (OrderError, GatewayAway) as refused:
        messages.error(request, str(refused))
        return redirect("orders:detail", order.number)
    messages.info(request, f"Order {order.number} is given up.")
    return redirect("cart:show")


@post_only("orders:detail", "number")
@own
def keep(request: HttpRequest, number: str) -> HttpResponse:
    """The shopper is still about to pay: the order's things are kept a little longer."""
    order = access.own_order(request, number)
    try:
        until = operations.kept_longer(order, datetime.now(UTC))
        messages.success(
            request, f"We keep your things until {time_format(timezone.localtime(until), 'H:i')}."
        )
    except (OrderError, GatewayAway) as refused:
        messages.error(request, str(refused))
    return redirect("orders:detail", number)


@require_safe
@never_cache
@own
def payment_return(request: HttpRequest, number: str, payment_id: UUID) -> HttpResponse:
    """The shopper comes back from the gateway: ask it how the payment has ended, whatever the address says."""
    if not request.user.is_authenticated and _signed_out_at_the_bank(number, payment_id):
        return to_login(request)
    order = access.own_order(request, number)
    settle_payment(order, payment_id)
    return redirect("orders:detail", order.number)


def _signed_out_at_the_bank(number: str, payment_id: UUID) -> bool:
    """Whether this is a member's try to pay: whoever knows its id has paid it, and their session has ended meanwhile."""
    order = queries.order_by_number(numbers.tidied(number))
    if order is None or order.user_id is None:
        return False
    return any(each.payment_id == payment_id for each in queries.attempts(order.order_id))


@csrf_exempt
@require_POST
@without_header
@public
def payment_notice(request: HttpRequest, gateway: str) -> HttpResponse:
    """A gateway tells that a payment has moved on: believe its signature, and ask it for the rest."""
    try:
        notice = gateways.gateway(gateway).notified(request.body, request.headers)
        if notice:
            operations.notice_followed(gateway, notice, datetime.now(UTC))
    except NoGateway as nobody:
        raise Http404("no such gateway here") from nobody
    except (PermissionError, LookupError, ValueError) as refused:
        log.warning("a payment notice was refused: %s", refused)
        return HttpResponse(status=403)
    except NoticeBusy:
        return HttpResponse(status=409)
    except GatewayAway:
        return HttpResponse(status=503)  # so that the notice is sent again
    return HttpResponse(status=204)
