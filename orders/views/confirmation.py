"""The pages that confirm or reject an order by its mailed link."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from cassandra_db import current_time
from mail.addresses import email_key
from orders import access, links, operations, queries
from orders.expired_link import expired_link_page
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderError
from web.decorators import get_or_post, owner_only, post_only
from web.rate_limits import hit_rate_limit
from web.rendering import render_page


@get_or_post
@owner_only
def confirm_order(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page that asks whether the order is the reader's. Only its buttons change the order: mail scanners open links."""
    order_id = links.order_id_from_confirmation_token(token)
    order = queries.get_order(order_id) if order_id else None
    if order is None or order.is_erased:
        raise Http404("no such order")
    if links.is_confirmation_expired(token):
        return expired_link_page(request)
    if request.method != "POST":
        return _confirmation_page(request, token, order)
    now = current_time()
    try:
        if "reject" in request.POST:
            order = operations.reject_order(order, now)
            return _confirmation_page(request, token, order)
        order = operations.confirm_email(order, now)
    except OrderError as refused:
        order = queries.get_order(order.order_id) or order
        return _confirmation_page(request, token, order, str(refused), status=409)
    if order.is_over(now) or not order.is_email_confirmed:
        # It has ended since its confirmation, or was paid and needed none.
        return _confirmation_page(request, token, order)
    messages.success(request, _("Thank you. Your order is confirmed."))
    if order.user_id is not None:  # only the member may open it
        return redirect("orders:confirm", token)
    response = redirect("orders:detail", order.number)
    access.remember_guest_order(request, response, order)
    return response


def _confirmation_page(
    request: HttpRequest, token: str, order: Order, error: str = "", status: int = 200
) -> HttpResponse:
    """Show the order's lines and sums, but no words that the shopper typed, because the reader may be a stranger."""
    items = queries.list_items(order)
    is_over = order.is_over(current_time())
    context = {
        "token": token,
        "order": order,
        "items": order.current_lines(items) or items,
        "error": error,
        "is_over": is_over,
        "can_confirm": order.needs_email_confirmation and not is_over,
        "can_reject": order.can_be_cancelled and not order.is_email_confirmed and not is_over,
    }
    return render_page(request, "orders/confirm.html", context, status=status)


@post_only("orders:detail", "number")
@owner_only
@access.order_owner_required
def resend_confirmation_mail(request: HttpRequest, order: Order) -> HttpResponse:
    """Mail an order's confirmation link again."""
    hit_rate_limit(request, "confirmation", order.number, named=[email_key(order.email)])
    if operations.resend_confirmation_mail(order, current_time()):
        messages.success(request, _("We’ve sent the email again."))
    return redirect("orders:detail", order.number)
