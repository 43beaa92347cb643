"""The order board: lists orders in columns by their status."""

from uuid import UUID

from cassandra.util import uuid_from_time
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.early_reads import get_early_reads, starts_reads
from accounts.roles import ORDER_STAFF
from adminpanel.board.pages import (
    CHOICES,
    SORT_LABELS,
    USUAL_CHOICE,
    BoardReads,
    get_board,
    list_choice,
    parse_choice,
    parse_view,
)
from adminpanel.orders.selection import DEFAULT_COLUMN, OrderFilterForm
from cassandra_db import InvalidPageToken, current_time
from orders.lifecycle.states import BOARD_COLUMNS
from web.cookies import set_cookie
from web.decorators import post_only
from web.rendering import render_page

# The cookie with the order details that the board shows on this device.
CHOICE_COOKIE = "board-columns"
CHOICE_DAYS = 400


def _start_reads(request: HttpRequest, user_id: UUID) -> BoardReads:
    column = request.GET.get("column", "")
    status = column if column in BOARD_COLUMNS else DEFAULT_COLUMN
    return BoardReads(status, is_refresh="seen" in request.GET)


@starts_reads(_start_reads)
@staff_required(ORDER_STAFF)
@require_safe
def order_board(request: HttpRequest) -> HttpResponse:
    """Show the board. A request that sends the fingerprint of an unchanged board gets 204."""
    form, now = OrderFilterForm(request.GET), current_time()
    details = parse_choice(request.COOKIES.get(CHOICE_COOKIE, ""))
    view = parse_view(form, request.GET, details)
    try:
        found = get_board(view, now, get_early_reads(request), request.GET.get("seen", ""))
    except InvalidPageToken:
        return redirect(view.url())
    if found is None:
        return HttpResponse(status=204)
    context = {
        "board": found,
        "filter": form,
        "filters": [form[name] for name in form.fields if name != "column"],
        "sorts": SORT_LABELS.items(),
        "choice": list_choice(view.columns),
        "selection": found.selection,
        "file_id": uuid_from_time(now),
    }
    status = 422 if form.is_refused else 200
    return render_page(request, "adminpanel/board/board.html", context, part="board", status=status)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:board")
def choose_board_columns(request: HttpRequest) -> HttpResponse:
    """Save the choice of the order details that the board shows in a cookie, and return to the board."""
    view = parse_view(OrderFilterForm(request.POST), request.POST, USUAL_CHOICE)
    answer = redirect(view.url())
    chosen = ",".join(name for name in CHOICES if request.POST.get(f"show_{name}"))
    set_cookie(answer, CHOICE_COOKIE, chosen, CHOICE_DAYS * 24 * 3600)
    return answer
