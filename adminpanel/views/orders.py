"""The board of orders, an order's page, and the presses on it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import ADMIN, MONEY_STAFF, ORDER_STAFF, member, staff_required
from adminpanel import operations, queries
from adminpanel.forms import BoardForm, FindForm, MoveForm, NoteForm
from adminpanel.order_forms import AnyForm, PackForm, forms_for
from adminpanel.queries import OrderPage
from adminpanel.templatetags.ages import ago
from cassandra_db import BadPageToken
from orders import states
from orders.entities import Order
from orders.errors import MoveRefused, StaleOrder
from orders.numbers import tidied
from orders.queries import order_by_number
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
    found = order_found(number)
    if found.number != number:
        return redirect("adminpanel:order", found.number)
    return _page(request, queries.whole(found))


@staff_required(ORDER_STAFF)
@get_or_post
def move(request: HttpRequest, number: str) -> HttpResponse:
    """Move an order on, if it still is what the page showed."""
    if request.method != "POST":
        return redirect("adminpanel:order", number)
    found, form = order_found(number), MoveForm(request.POST)
    if not form.is_valid():
        if {"event", "version"} & form.errors.keys():
            # Nobody types these: the page is older than its buttons.
            return conflict(request, StaleOrder(found), note=form["note"].value() or "")
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
        return conflict(request, error, note=form["note"].value() or "")
    messages.success(request, f"Order {moved.number}: {queries.EVENTS[sent['event']].lower()}.")
    return order_done(request, moved)


@staff_required(ORDER_STAFF)
@get_or_post
def note(request: HttpRequest, number: str) -> HttpResponse:
    """Write a note among the staff into an order's history."""
    if request.method != "POST":
        return redirect("adminpanel:order", number)
    found, form = order_found(number), NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, queries.whole(found), note_form=form, status=422)
    noted = operations.order_noted(
        found, form.cleaned_data["note"], actor=queries.actor(member(request)), now=datetime.now(UTC)
    )
    messages.success(request, f"Your note stands in the history of order {noted.number}.")
    return order_done(request, noted)


def order_found(number: str) -> Order:
    """Return the order with this number, however it was typed. Raises Http404."""
    found = order_by_number(tidied(number))
    if found is None:
        raise Http404(f"no order {number!r}")
    return found


def conflict(
    request: HttpRequest, error: StaleOrder | MoveRefused, *, note: str = "", typed: Sequence[tuple[str, str]] = ()
) -> HttpResponse:
    """Explain what somebody else has done, show the order as it is now, and keep what was typed.

    `note` stays in its field; `typed` (by label) is what was typed elsewhere.
    """
    current = error.order
    happened = [event for event in current.events if event.kind != "note"]
    # What somebody did, not what followed from it by itself: the money, the mail.
    last = next((event for event in happened if event.actor != "system"), happened[0] if happened else None)
    who = queries.who(last) if last else ""
    words = (
        f"{who[:1].upper()}{who[1:]} changed it {ago(last.at)}: {queries.event_words(last).lower()}." if last else ""
    )
    if isinstance(error, MoveRefused) and error.why:
        words = f"It cannot be done: {error.why}."
    if note and not states.allowed_moves(current):  # no button is left, and so no field for it
        note, typed = "", [*typed, ("Note on this step", note)]
    fresh = MoveForm(initial={"version": current.version, "note": note})
    told: dict[str, Any] = {"conflict": words, "kept_note": note, "typed": typed}
    return _page(request, queries.whole(current), move_form=fresh, status=409, **told)


def order_done(request: HttpRequest, changed: Order) -> HttpResponse:
    """Answer a press that has changed an order."""
    to = reverse("adminpanel:order", args=[changed.number])
    return done(request, to, "adminpanel/order.html", lambda: _context(request, queries.whole(changed)), part="order")


def order_page(request: HttpRequest, found: Order, form: AnyForm) -> HttpResponse:
    """Show an order's page with a form on it that was filled in wrongly, and what was typed."""
    return _page(request, queries.whole(found), form=form, status=422)


def _page(
    request: HttpRequest, shown: OrderPage, *, form: AnyForm | None = None, status: int = 200, **more: Any
) -> HttpResponse:
    context = _context(request, shown, form) | more | {"has_errors": status == 422}
    return page(request, "adminpanel/order.html", context, part="order", status=status)


def _context(request: HttpRequest, shown: OrderPage, form: AnyForm | None = None) -> dict[str, Any]:
    found = shown.order
    delivery, billing = queries.address_lines(found)
    moves_money = member(request).role in (*MONEY_STAFF, ADMIN)
    forms = forms_for(found, shown.items, money=moves_money)
    if form is not None:
        forms[form.key] = form
    return {
        "order": found,
        "lines": found.lines(shown.items) or shown.items,
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
        "wrong": form,
        "packs": [each for each in forms.values() if isinstance(each, PackForm)],
        "parcels": queries.parcel_boxes(found, shown.items, forms),
        "returns": queries.return_boxes(found, shown.items, forms),
        "refund_form": forms.get("refund"),
        "lines_form": forms.get("lines"),
        "door_form": forms.get("door"),
        "received_form": forms.get("received"),
        "by_hand": queries.owed_by_hand(found) if moves_money else (),
    }
