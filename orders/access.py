"""Who may open an order: its member, or a browser that has its cookie.

The cookie lasts long, and a number and an e-mail address are enough to get it. So it opens a member's order for reading only.
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

from accounts.access import send_to_login
from orders import numbers, queries
from orders.entities import Order

_SALT = "orders.cookie"
# A browser remembers this many orders, the last ones.
MAX_REMEMBERED_ORDERS = 20
COOKIE_SECONDS = 400 * 24 * 3600


def get_own_order(request: HttpRequest, number: str) -> Order:
    """Return the order with this number if it is the visitor's own. Raises Http404, the same whether it exists or not."""
    order = queries.get_order_by_number(numbers.normalize_order_number(number))
    if order is None or not is_own_order(request, order):
        raise Http404("no such order")
    return order


def is_own_order(request: HttpRequest, order: Order) -> bool:
    """Return whether the visitor may see the order. Once its person was erased nobody may, not with a cookie or a mailed link."""
    if order.is_erased:
        return False
    if order.order_id in list_remembered_order_ids(request):
        return True
    return order.user_id is not None and _is_members(request, order)


def has_change_permission(request: HttpRequest, order: Order) -> bool:
    """Return whether a visitor who may see the order may also change it: a member's only as that member."""
    return order.user_id is None or _is_members(request, order)


def _is_members(request: HttpRequest, order: Order) -> bool:
    return request.user.is_authenticated and request.user.pk == order.user_id


def order_owner_required(
    view: Callable[[HttpRequest, Order], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Give a view the visitor's own order; a visitor who may only read it is sent to sign in.

    It raises Http404 where there is no such order, or it is not the visitor's.
    """

    @wraps(view)
    def checked(request: HttpRequest, number: str) -> HttpResponse:
        order = get_own_order(request, number)
        if has_change_permission(request, order):
            return view(request, order)
        if not request.user.is_authenticated:
            return send_to_login(request)
        messages.info(
            request,
            _("This order belongs to another account. Sign in to that account to change it."),
        )
        return redirect("orders:detail", order.number)

    return checked


def remember_order(request: HttpRequest, response: HttpResponse, order_id: UUID) -> None:
    """Set the cookie that opens this order's page for this browser, along with those of earlier ones."""
    order_ids = [
        order_id,
        *(each for each in list_remembered_order_ids(request) if each != order_id),
    ][:MAX_REMEMBERED_ORDERS]
    response.set_cookie(
        settings.ORDER_COOKIE_NAME,
        signing.dumps([each.hex for each in order_ids], salt=_SALT, compress=True),
        max_age=COOKIE_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def remember_guest_order(request: HttpRequest, response: HttpResponse, order: Order) -> None:
    """Let this browser open a guest's order; a member's opens by their session, and no longer after they sign out."""
    if order.user_id is None:
        remember_order(request, response, order.order_id)


def list_remembered_order_ids(request: HttpRequest) -> list[UUID]:
    """Return the orders that this browser may open without a session, the last one first."""
    try:
        found = signing.loads(request.COOKIES.get(settings.ORDER_COOKIE_NAME, ""), salt=_SALT)
        return [UUID(hex=each) for each in found]
    except (signing.BadSignature, ValueError, TypeError):
        return []
