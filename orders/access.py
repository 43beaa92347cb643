"""Whose an order is: a member's own, or a guest's whose browser has its cookie."""

from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse

from orders import numbers, queries
from orders.queries import Order

_SALT = "orders.cookie"
# A browser remembers so many orders, the last ones.
REMEMBERED = 20
COOKIE_SECONDS = 400 * 24 * 3600


def own_order(request: HttpRequest, number: str) -> Order:
    """Return the order with this number if it is the visitor's own. Raises Http404, the same whether it exists or not."""
    order = queries.order_by_number(numbers.tidied(number))
    if order is None or not is_own(request, order):
        raise Http404("no such order")
    return order


def is_own(request: HttpRequest, order: Order) -> bool:
    """Tell whether the visitor may see the order."""
    if order.order_id in remembered(request):
        return True
    return order.user_id is not None and request.user.is_authenticated and request.user.pk == order.user_id


def remember(request: HttpRequest, response: HttpResponse, order_id: UUID) -> None:
    """Set the cookie that opens this order's page for this browser, beside those of earlier ones."""
    kept = [order_id, *(each for each in remembered(request) if each != order_id)][:REMEMBERED]
    response.set_cookie(
        settings.ORDER_COOKIE_NAME,
        signing.dumps([each.hex for each in kept], salt=_SALT, compress=True),
        max_age=COOKIE_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def remembered(request: HttpRequest) -> list[UUID]:
    """Return the orders that this browser may open without a session, the last one first."""
    try:
        found = signing.loads(request.COOKIES.get(settings.ORDER_COOKIE_NAME, ""), salt=_SALT)
        return [UUID(hex=each) for each in found]
    except (signing.BadSignature, ValueError, TypeError):
        return []
