"""Access to orders: a member's order needs that member's login, a guest's order needs a browser with the order's cookie.

A visitor gets the cookie by a mailed link, or by an order's number and e-mail address. For a member's order the cookie only
leads to the login, so ending the member's sessions also ends access to the order.
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
from cassandra_db import PendingResult, current_time
from orders import numbers, queries
from orders.lifecycle.entities import Order
from web.cookies import set_cookie

_SALT = "orders.cookie"
# A browser remembers its latest orders only.
MAX_REMEMBERED_ORDERS = 20


def get_existing_order(number: str) -> Order:
    """Return the order with a number, for any visitor. Raises Http404 if it does not exist, or its person was erased."""
    return _require_order(queries.get_order_by_number(numbers.normalize_order_number(number)))


def get_existing_order_with_payments(number: str) -> Order:
    """Return the order with its payment references, which take no round of their own. Raises Http404 as `get_existing_order`."""
    order, references = _read_order(number, queries.prefetch_payments)
    return queries.add_payment_references(order, references.rows())


def _read_order(
    number: str, beside: Callable[[UUID], PendingResult]
) -> tuple[Order, PendingResult]:
    """Return the existing order with a number, and the pending read that `beside` starts with its id."""
    normalized = numbers.normalize_order_number(number)
    row = queries.prefetch_order_id(normalized).one() if normalized else None
    if row is None:
        raise Http404("no such order")
    reading, more = queries.prefetch_order(row.order_id), beside(row.order_id)
    return _require_order(queries.order_from_rows(reading.rows())), more


def _require_order(order: Order | None) -> Order:
    if order is None or order.is_erased:
        raise Http404("no such order")
    return order


def is_own_order(request: HttpRequest, order: Order) -> bool:
    """Return whether the visitor may see and change the order."""
    if order.user_id is None:
        return order.order_id in list_remembered_order_ids(request)
    return request.user.is_authenticated and request.user.pk == order.user_id


def order_owner_required(
    view: Callable[[HttpRequest, Order], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Decorate a view so that it gets the visitor's own order. If the order is a member's, the visitor first has to sign in.

    The view raises Http404 if the order is another person's or does not exist.
    """

    @wraps(view)
    def checked(request: HttpRequest, number: str) -> HttpResponse:
        order = get_existing_order(number)
        return view(request, order) if is_own_order(request, order) else _refuse(request, order)

    return checked


def order_with_items_required(
    view: Callable[[HttpRequest, Order, PendingResult], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Decorate a view as `order_owner_required` does. It also gets the pending read of the items, which takes no round of its own."""

    @wraps(view)
    def checked(request: HttpRequest, number: str) -> HttpResponse:
        order, items = _read_order(number, queries.prefetch_items)
        if is_own_order(request, order):
            return view(request, order, items)
        return _refuse(request, order)

    return checked


def _refuse(request: HttpRequest, order: Order) -> HttpResponse:
    """Return the answer to a visitor who may not see the order now. Raises Http404 for another person's order."""
    if order.order_id not in list_remembered_order_ids(request):
        raise Http404("no such order")
    if not request.user.is_authenticated:
        return redirect_to_login_page(request)
    messages.info(
        request, _("This order belongs to another account. Sign in to that account to see it.")
    )
    return redirect("orders:lookup")


def remember_order(request: HttpRequest, response: HttpResponse, order_id: UUID) -> None:
    """Add an order to the cookie that opens orders in this browser."""
    known = {order_id: int(current_time().timestamp())} | {
        each: at for each, at in _remembered_orders(request).items() if each != order_id
    }
    value = make_order_cookie(dict(list(known.items())[:MAX_REMEMBERED_ORDERS]))
    set_cookie(response, settings.ORDER_COOKIE_NAME, value, settings.ORDER_LINK_SECONDS)


def make_order_cookie(remembered: dict[UUID, int]) -> str:
    """Return the value of the cookie for these orders, keyed by id, latest first; times are in seconds since 1970."""
    return signing.dumps(
        [[each.hex, at] for each, at in remembered.items()], salt=_SALT, compress=True
    )


def remember_guest_order(request: HttpRequest, response: HttpResponse, order: Order) -> None:
    """Let this browser open a guest's order; a member's order needs the member's session."""
    if order.user_id is None:
        remember_order(request, response, order.order_id)


def list_remembered_order_ids(request: HttpRequest) -> list[UUID]:
    """Return the ids of the orders that this browser remembers, latest first."""
    return list(_remembered_orders(request))


def _remembered_orders(request: HttpRequest) -> dict[UUID, int]:
    oldest = current_time().timestamp() - settings.ORDER_LINK_SECONDS
    try:
        found = signing.loads(request.COOKIES.get(settings.ORDER_COOKIE_NAME, ""), salt=_SALT)
        return {UUID(hex=each): at for each, at in found if at > oldest}
    except (signing.BadSignature, ValueError, TypeError):
        return {}
