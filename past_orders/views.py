"""The page of a member's orders in the merchant's former shop."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from cassandra_db import InvalidPageToken
from past_orders.queries import list_page
from web.rendering import render_page


@require_safe
@member_required
def past_order_list(request: HttpRequest) -> HttpResponse:
    """List the member's past orders, newest first, with their lines."""
    try:
        orders, token = list_page(current_member(request).user_id.hex, request.GET.get("after", ""))
    except InvalidPageToken:
        return redirect("past_orders:list")
    return render_page(request, "past_orders/list.html", {"orders": orders, "next_token": token})
