"""The board of orders, an order's page, and the submits on it."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.looks import prefetch_looks, record_look
from accounts.roles import ORDER_STAFF
from adminpanel import operations, queries
from adminpanel.board import (
    CHOICES,
    SORT_LABELS,
    USUAL_CHOICE,
    Board,
    BoardView,
    get_board,
    list_choice,
    parse_choice,
    parse_view,
)
from adminpanel.forms import NoteForm, TransitionForm
from adminpanel.order_pages import (
    ORDER_LOOK,
    answer_submit,
    get_order_or_404,
    order_submit,
    render_conflict,
    render_order_page,
)
from adminpanel.order_selection import OrderFilterForm
from adminpanel.refund_permission import confirm_order_refund
from adminpanel.stock.low_stock import PendingLowStock
from cassandra_db import (
    InvalidPageToken,
    current_time,
)
from orders import balance
from orders.entities import Order
from orders.errors import OrderChanged, TransitionRefused
from orders.operations import add_note
from orders.viewers import record_viewer
from web.decorators import post_only
from web.rendering import render_page

# What of the orders somebody wants to see on the board, on this device.
CHOICE_COOKIE = "board-columns"
CHOICE_DAYS = 400


@staff_required(ORDER_STAFF)
@require_safe
def order_board(request: HttpRequest) -> HttpResponse:
    """Show the board. A page that shows it already as it is, and says so, gets nothing new."""
    low_stock = PendingLowStock(request)
    form = OrderFilterForm(request.GET)
    view = _board_view(request, form)
    try:
        found = get_board(view, current_member(request), current_time())
    except InvalidPageToken:
        return redirect(view.url())
    if request.GET.get("seen") == found.fingerprint:
        return HttpResponse(status=204)
    context = _board_context(found, form) | {"low_stock": low_stock}
    status = 422 if form.is_refused else 200
    return render_page(request, "adminpanel/board.html", context, part="board", status=status)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:board")
def choose_board_columns(request: HttpRequest) -> HttpResponse:
    """Remember on this device what of the orders somebody wants to see, and show the board they came from."""
    view = parse_view(OrderFilterForm(request.POST), request.POST, USUAL_CHOICE)
    answer = redirect(view.url())
    chosen = ",".join(name for name in CHOICES if request.POST.get(f"show_{name}"))
    answer.set_cookie(
        CHOICE_COOKIE,
        chosen,
        max_age=timedelta(days=CHOICE_DAYS),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return answer


def _board_view(request: HttpRequest, form: OrderFilterForm) -> BoardView:
    return parse_view(form, request.GET, parse_choice(request.COOKIES.get(CHOICE_COOKIE, "")))


def _board_context(board: Board, form: OrderFilterForm) -> dict[str, Any]:
    return {
        "board": board,
        "filter": form,
        "filters": [form[name] for name in form.fields if name != "column"],
        "sorts": SORT_LABELS.items(),
        "choice": list_choice(board.view.shown),
        "selection": board.selection,
    }


@staff_required(ORDER_STAFF)
@require_safe
def order_detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show an order with its whole history."""
    found = get_order_or_404(number)
    if found.number != number:
        return redirect("adminpanel:order", found.number)
    staff, now = current_member(request), current_time()
    viewing, looks = record_viewer(found.number, staff), prefetch_looks(staff, now)
    page_data = queries.get_order_page(found)
    viewing.rows()
    record_look(staff, ORDER_LOOK, found.number, looks, now)
    return render_order_page(request, page_data)


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_order_status(request: HttpRequest, found: Order) -> HttpResponse:
    """Move an order on, if it still is what the page showed."""
    form = TransitionForm(request.POST)
    if not form.is_valid():
        if {"event", "version"} & form.errors.keys():
            # Nobody types these: the page is older than its buttons.
            return render_conflict(request, OrderChanged(found), note=form["note"].value() or "")
        return render_order_page(request, queries.get_order_page(found), move_form=form, status=422)
    sent = form.cleaned_data
    # Of an order that has changed since, nothing happens below.
    is_cancelling = sent["event"] == "cancelled" and sent["version"] == found.version
    if is_cancelling and not confirm_order_refund(
        request, form, found, balance.amount_to_give_up(found)
    ):
        return render_order_page(request, queries.get_order_page(found), move_form=form, status=422)
    try:
        changed = operations.apply_staff_transition(
            found,
            sent["event"],
            seen_version=sent["version"],
            actor=queries.staff_actor(current_member(request)),
            note=sent["note"],
            now=current_time(),
        )
    except (OrderChanged, TransitionRefused) as error:
        return render_conflict(request, error, note=form["note"].value() or "")
    return answer_submit(request, changed, before=found)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def add_staff_note(request: HttpRequest, found: Order) -> HttpResponse:
    """Write a note among the staff into an order's history."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_order_page(request, queries.get_order_page(found), note_form=form, status=422)
    noted = add_note(
        found,
        form.cleaned_data["note"],
        actor=queries.staff_actor(current_member(request)),
        now=current_time(),
    )
    return answer_submit(request, noted, before=found)
