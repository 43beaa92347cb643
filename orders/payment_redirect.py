"""Redirecting the shopper from an order to its payment."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from cassandra_db import current_time
from orders import operations
from orders.access import remember_guest_order
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import NotPayable, OrderError
from payments.errors import GatewayUnavailable


def redirect_to_payment(request: HttpRequest, order: Order) -> HttpResponse:
    """Redirect the shopper to the gateway, or to the order's page if there is nothing to pay."""
    origin = f"{request.scheme}://{request.get_host()}"
    try:
        url = operations.start_payment(order, origin, current_time()).url
    except NotPayable:
        response = redirect("orders:detail", order.number)
    except (OrderError, GatewayUnavailable) as refused:
        messages.error(request, str(refused))
        response = redirect("orders:detail", order.number)
    else:
        response = redirect(url)
    remember_guest_order(request, response, order)
    return response
