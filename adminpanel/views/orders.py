"""The board of orders, an order's page, and the submits on it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel import operations, queries
from adminpanel.forms import BoardForm, FindOrderForm, NoteForm, TransitionForm
from adminpanel.low_stock import PendingLowStock
from adminpanel.order_pages import (
    answer_submit,
    get_order_or_404,
    order_submit,
    render_conflict,
    render_order_page,
)
from cassandra_db import (
    InvalidPageToken,
    current_time,
)
from orders.entities import Order
from orders.errors import OrderChanged, TransitionRefused
from orders.operations import add_note
from orders.queries import get_order_by_number
from orders.viewers import record_viewer
from web.decorators import post_only
from web.rendering import render_page


@staff_required(ORDER_STAFF)
@require_safe
def order_board(request: HttpRequest) -> HttpResponse:
    """Show the board. A page that shows it already as it is, and says so, gets nothing new."""
    column, after, fingerprint = BoardForm(request.GET).parse_selection()
    low_stock = PendingLowStock(request)
    try:
        found = queries.get_board(column, after, current_time())
    except InvalidPageToken:
        return redirect(f"{reverse('adminpanel:board')}?column={column}")
    if fingerprint == found.fingerprint:
        return HttpResponse(status=204)
    context = {"board": found, "low_stock": low_stock}
    return render_page(request, "adminpanel/board.html", context, part="board")


@staff_required(ORDER_STAFF)
@require_safe
def find_order(request: HttpRequest) -> HttpResponse:
    """Lead to the order with a number, or say on the board that there is none."""
    form = FindOrderForm(request.GET)
    if form.is_valid():
        if found := get_order_by_number(form.cleaned_data["number"]):
            return redirect("adminpanel:order", found.number)
        form.add_error("number", _("No order has this number. Enter it like 7KQF-3M9X."))
    board = queries.get_board(BoardForm(request.GET).parse_selection()[0], "", current_time())
    return render_page(
        request, "adminpanel/board.html", {"board": board, "find": form, "form": form}, status=422
    )


@staff_required(ORDER_STAFF)
@require_safe
def order_detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show an order with its whole history."""
    found = get_order_or_404(number)
    if found.number != number:
        return redirect("adminpanel:order", found.number)
    viewing = record_viewer(found.number, current_member(request))
    page_data = queries.get_order_page(found)
    viewing.rows()
    return render_order_page(request, page_data)


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
