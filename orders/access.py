"""Who may open an order: a member's own that member alone, signed in; a guest's a browser that has its cookie.

A mailed link, or a number and an e-mail address, gives the cookie. Of a member's order it shows no more than that there is one to
sign in for, so whatever ends the member's sessions (another password or address, "sign out everywhere") closes the order, too.
"""

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.access import redirect_to_login_page
from cassandra_db import current_time
from orders import numbers, queries
from orders.lifecycle.entities import Order

_SALT = "orders.cookie"
# A browser remembers this many orders, the last ones.
MAX_REMEMBERED_ORDERS = 20


def get_existing_order(number: str) -> Order:
    """Return an order, whosever it is. Once its person was erased it is nobody's, not by a cookie or a mailed link. Raises Http404."""
    order = queries.get_order_by_number(numbers.normalize_order_number(number))
    if order is None or order.is_erased:
        raise Http404("no such order")
    return order


def is_own_order(request: HttpRequest, order: Order) -> bool:
    """Return whether the visitor may see the order, and change it."""
    if order.user_id is None:
        return order.order_id in list_remembered_order_ids(request)
    return request.user.is_authenticated and request.user.pk == order.user_id


def order_owner_required(
    view: Callable[[HttpRequest, Order], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Give a view the visitor's own order; a visitor whose browser knows of a member's order is sent to sign in.

    It raises Http404 where there is no such order, or it is not the visitor's.
    """

    @wraps(view)
    def checked(request: HttpRequest, number: str) -> HttpResponse:
        order = get_existing_order(number)
        if is_own_order(request, order):
            return view(request, order)
        if order.order_id not in list_remembered_order_ids(request):
            raise Http404("no such order")
        if not request.user.is_authenticated:
            return redirect_to_login_page(request)
        messages.info(
            request, _("This order belongs to another account. Sign in to that account to see it.")
        )
        return redirect("orders:lookup")

    return checked


def remember_order(request: HttpRequest, response: HttpResponse, order_id: UUID) -> None:
    """Set the cookie that opens this order's page for this browser, along with those of earlier ones."""
    known = {order_id: int(current_time().timestamp())} | {
        each: at for each, at in _remembered_orders(request).items() if each != order_id
    }
    response.set_cookie(
        settings.ORDER_COOKIE_NAME,
        make_order_cookie(dict(list(known.items())[:MAX_REMEMBERED_ORDERS])),
        max_age=settings.ORDER_LINK_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def make_order_cookie(remembered: dict[UUID, int]) -> str:
    """Return the cookie for a browser that remembers these orders, each since a time in seconds, the last one first."""
    return signing.dumps(
        [[each.hex, at] for each, at in remembered.items()], salt=_SALT, compress=True
    )


def remember_guest_order(request: HttpRequest, response: HttpResponse, order: Order) -> None:
    """Let this browser open a guest's order; a member's opens by their session, and no longer after they sign out."""
    if order.user_id is None:
        remember_order(request, response, order.order_id)


def list_remembered_order_ids(request: HttpRequest) -> list[UUID]:
    """Return the orders that this browser knows of, by a link or by a number and address, the last one first."""
    return list(_remembered_orders(request))


def _remembered_orders(request: HttpRequest) -> dict[UUID, int]:
    oldest = current_time().timestamp() - settings.ORDER_LINK_SECONDS
    try:
        found = signing.loads(request.COOKIES.get(settings.ORDER_COOKIE_NAME, ""), salt=_SALT)
        return {UUID(hex=each): at for each, at in found if at > oldest}
    except (signing.BadSignature, ValueError, TypeError):
        return {}
