"""The page of a member's orders in the merchant's former shop."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from past_orders.queries import list_past_orders, prefetch_owned
from web.rendering import render_page

PAGE_LENGTH = 20


@require_safe
@member_required
def past_order_list(request: HttpRequest) -> HttpResponse:
    """List the member's past orders, newest first, with their lines."""
    rows = prefetch_owned(current_member(request).user_id.hex).rows()
    page = Paginator(rows, PAGE_LENGTH).get_page(request.GET.get("page"))
    context = {"page": page, "orders": list_past_orders(page)}
    return render_page(request, "past_orders/list.html", context)
