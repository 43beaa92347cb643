"""The pages for refused orders, one for each reason."""

from django.http import HttpRequest, HttpResponse

from cart.errors import CartChanged, CartError
from cart.pages import refresh_badge
from cassandra_db import current_time
from checkout.orderable_cart import OrderableCart
from checkout.pages import placing_page, redirect_to_existing_order, step_page
from checkout.placement import reload_cart
from checkout.snapshot import CheckoutSnapshot
from checkout.steps import REVIEW
from checkout.visit import CheckoutVisit
from inventory.errors import OutOfStock
from orders.lifecycle.errors import (
    CartOrdered,
    CheckoutAbandoned,
    CheckoutBusy,
    CheckoutUsed,
    CustomerRefused,
    TooManyUnpaidUnits,
)
from payments.errors import GatewayUnavailable
from promotions.errors import VoucherRefused
from web.errors import TooManyAttempts

# The errors that refuse an order.
REFUSALS = (
    CartError,
    CartOrdered,
    CheckoutAbandoned,
    CheckoutBusy,
    CheckoutUsed,
    CustomerRefused,
    GatewayUnavailable,
    OutOfStock,
    TooManyAttempts,
    TooManyUnpaidUnits,
    VoucherRefused,
)


def refusal_page(
    request: HttpRequest,
    visit: CheckoutVisit,
    snapshot: CheckoutSnapshot,
    orderable: OrderableCart,
    refusal: Exception,
) -> HttpResponse:
    """Answer a submit that an error of REFUSALS refused: with the present review page, or with the existing order.

    `snapshot` is of the page that the shopper has reviewed; `orderable` is the orderable cart before the refusal.
    """
    previous_snapshot, message = None, [str(refusal)]
    match refusal:
        case CheckoutUsed() | CartOrdered():
            return redirect_to_existing_order(request, visit.owner_id, refusal.order)
        case CheckoutBusy():
            return placing_page(request)
        case TooManyAttempts():
            response = step_page(
                request, visit, REVIEW, orderable, extra_messages=message, status=429
            )
            response["Retry-After"] = str(refusal.retry_after)
            return response
        case CartChanged():
            visit = reload_cart(visit, current_time())
            refresh_badge(request)
            orderable, previous_snapshot = visit.get_orderable_cart(), snapshot
        case OutOfStock():
            # The changes since the snapshot explain the refusal.
            orderable = visit.get_orderable_cart(refusal.shortages)
            previous_snapshot, message = snapshot, []
        case VoucherRefused():
            orderable = visit.get_orderable_cart({}, refused=str(refusal))
            previous_snapshot, message = snapshot, []
        case _:
            orderable = visit.get_orderable_cart({})
    return step_page(
        request,
        visit,
        REVIEW,
        orderable,
        previous_snapshot=previous_snapshot,
        extra_messages=message,
        status=409,
    )
