"""The staff's screens: the board of orders, an order's page, and the presses on it."""

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import ORDER_STAFF, member, staff_required
from adminpanel import operations, queries
from adminpanel.forms import BoardForm, FindForm, MoveForm, NoteForm
from adminpanel.queries import OrderPage
from adminpanel.templatetags.ages import ago
from cassandra_db import BadPageToken
from orders import states
from orders.errors import MoveRefused, StaleOrder
from orders.numbers import tidied
from orders.queries import Order, order_by_number
from web.methods import get_or_post
from web.rendering import done, page


@staff_required(ORDER_STAFF)
@require_safe
def board(request: HttpRequest) -> HttpResponse:
    """Show the board. A page that shows it already as it is, and says so, gets nothing new."""
    column, after, seen = BoardForm(request.GET).chosen()
    try:
        found = queries.board(column, after, datetime.now(UTC))
    except BadPageToken:
        return redirect(f"{reverse('adminpanel:board')}?column={column}")
    if seen == found.fingerprint:
        return HttpResponse(status=204)
    return page(request, "adminpanel/board.html", {"board": found, "find": FindForm()}, part="board")


@staff_required(ORDER_STAFF)
@require_safe
def find(request: HttpRequest) -> HttpResponse:
    """Lead to the order with a number, or say on the board that there is none."""
    form = FindForm(request.GET)
    if form.is_valid():
        if found := order_by_number(form.cleaned_data["number"]):
            return redirect("adminpanel:order", found.number)
        form.add_error("number", "No order has this number. It looks like 7KQF-3M9X.")
    shown = queries.board(BoardForm(request.GET).chosen()[0], "", datetime.now(UTC))
    return page(request, "adminpanel/board.html", {"board": shown, "find": form, "form": form}, status=422)


@staff_required(ORDER_STAFF)
@require_safe
def order(request: HttpRequest, number: str) -> HttpResponse:
    """Show an order with its whole history."""
    found = _found(number)
    if found.number != number:
        return redirect("adminpanel:order", found.number)
    return _page(request, queries.whole(found))


@staff_required(ORDER_STAFF)
@get_or_post
def move(request: HttpRequest, number: str) -> HttpResponse:
    """Move an order on, if it still is what the page showed."""
    if request.method != "POST":
        return redirect("adminpanel:order", number)
    found, form = _found(number), MoveForm(request.POST)
    if not form.is_valid():
        if {"event", "version"} & form.errors.keys():
            # Nobody types these: the page is older than its buttons.
            return _conflict(request, StaleOrder(found), form)
        return _page(request, queries.whole(found), move_form=form, status=422)
    sent = form.cleaned_data
    try:
        moved = operations.order_moved(
            found,
            sent["event"],
            seen_version=sent["version"],
            actor=queries.actor(member(request)),
            note=sent["note"],
            now=datetime.now(UTC),
        )
    except (StaleOrder, MoveRefused) as error:
        return _conflict(request, error, form)
    messages.success(request, f"Order {moved.number}: {queries.EVENTS[sent['event']].lower()}.")
    return _done(request, moved)


@staff_required(ORDER_STAFF)
@get_or_post
def note(request: HttpRequest, number: str) -> HttpResponse:
    """Write a note among the staff into an order's history."""
    if request.method != "POST":
        return redirect("adminpanel:order", number)
    found, form = _found(number), NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, queries.whole(found), note_form=form, status=422)
    noted = operations.order_noted(
        found, form.cleaned_data["note"], actor=queries.actor(member(request)), now=datetime.now(UTC)
    )
    messages.success(request, f"Your note stands in the history of order {noted.number}.")
    return _done(request, noted)


def _found(number: str) -> Order:
    found = order_by_number(tidied(number))
    if found is None:
        raise Http404(f"no order {number!r}")
    return found


def _conflict(request: HttpRequest, error: StaleOrder | MoveRefused, form: MoveForm) -> HttpResponse:
    """Explain what somebody else has done, show the order as it is now, and keep the note that was typed."""
    current = error.order
    last = next((event for event in current.events if event.kind != "note"), None)
    who = queries.who(last) if last else ""
    words = (
        f"{who[:1].upper()}{who[1:]} changed it {ago(last.at)}: {queries.EVENTS[last.kind].lower()}." if last else ""
    )
    kept = form["note"].value() or ""
    fresh = MoveForm(initial={"version": current.version, "note": kept})
    conflict = {"conflict": words, "kept_note": kept}
    return _page(request, queries.whole(current), move_form=fresh, status=409, **conflict)


def _done(request: HttpRequest, changed: Order) -> HttpResponse:
    to = reverse("adminpanel:order", args=[changed.number])
    return done(request, to, "adminpanel/order.html", lambda: _context(queries.whole(changed)), part="order")


def _page(request: HttpRequest, shown: OrderPage, *, status: int = 200, **more: Any) -> HttpResponse:
    return page(
        request,
        "adminpanel/order.html",
        _context(shown) | more | {"has_errors": status == 422},
        part="order",
        status=status,
    )


def _context(shown: OrderPage) -> dict[str, Any]:
    found = shown.order
    delivery, billing = queries.address_lines(found)
    return {
        "order": found,
        "items": shown.items,
        "attempts": shown.attempts,
        "events": queries.history(found),
        "moves": states.allowed_moves(found),
        "column_tone": queries.COLUMN_TONES.get(found.column, "plain"),
        "payment_word": queries.payment_word(found.payment),
        "payment_tone": queries.payment_tone(found.payment),
        "fulfilment_word": queries.FULFILMENTS.get(found.fulfilment, found.fulfilment),
        "delivery_lines": delivery,
        "billing_lines": billing,
        "find": FindForm(),
        "move_form": MoveForm(initial={"version": found.version}),
        "note_form": NoteForm(),
    }
