"""Who has an order's page open."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.orders.viewers import list_other_viewers
from orders.numbers import is_order_number, normalize_order_number
from orders.viewers import forget_viewer, prefetch_viewers, record_viewer, viewers_from_rows
from web.rendering import render_page


@staff_required(ORDER_STAFF)
@require_safe
def list_order_viewers(request: HttpRequest, number: str) -> HttpResponse:
    """Say who else is on an order, and note that this one is, or has `left`. A page that shows it already gets nothing new.

    The order itself is not read: every few seconds that would cost more than all the rest.
    """
    viewer = current_member(request)
    if not is_order_number(number) or normalize_order_number(number) != number:
        raise Http404(f"no order {number!r}")
    if "left" in request.GET:
        forget_viewer(number, viewer)
        return HttpResponse(status=204)
    if "X-Refreshes-Itself" not in request.headers:
        return redirect("adminpanel:order", number)
    viewing, others = record_viewer(number, viewer), prefetch_viewers(number)
    viewers = list_other_viewers(number, viewers_from_rows(others.rows()), viewer)
    viewing.rows()
    if request.GET.get("seen") == viewers.fingerprint:
        return HttpResponse(status=204)
    return render_page(request, "adminpanel/orders/_viewers.html", {"viewers": viewers})
