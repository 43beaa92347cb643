"""An order's page, its status, its notes and tags, and the users who have the page open."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.looks import ORDER_LOOK, prefetch_looks, record_look
from accounts.roles import ORDER_STAFF
from adminpanel.orders.forms import NoteForm, TagForm, TransitionForm
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.order_page import get_order_or_404, get_order_page
from adminpanel.orders.refund_permission import confirm_order_refund
from adminpanel.orders.rendering import render_conflict, render_order_page
from adminpanel.orders.shipping import ship_order
from adminpanel.orders.submits import answer_submit, order_submit
from adminpanel.other_viewers import list_other_viewers
from cassandra_db import current_time
from orders import operations
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TooManyTags, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.numbers import is_order_number, normalize_order_number
from orders.operations import change_tags
from orders.viewers import forget_viewer, prefetch_viewers, record_viewer, viewers_from_rows
from web.decorators import post_only
from web.rendering import render_page


@staff_required(ORDER_STAFF)
@require_safe
def order_detail(request: HttpRequest, number: str) -> HttpResponse:
    """Show an order with its history."""
    found = get_order_or_404(number)
    if found.number != number:
        return redirect("adminpanel:order", found.number)
    staff, now = current_member(request), current_time()
    viewing, looks = record_viewer(found.number, staff), prefetch_looks(staff, now)
    page_data = get_order_page(found)
    viewing.rows()
    record_look(staff, ORDER_LOOK, found.number, looks, now)
    return render_order_page(request, page_data)


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_order_status(request: HttpRequest, found: Order) -> HttpResponse:
    """Apply a transition to an order, in the version that the page showed."""
    if request.POST.get("event") == "shipped" and "tracking" in request.POST:
        return ship_order(request, found)
    form = TransitionForm(request.POST)
    if not form.is_valid():
        if {"event", "version"} & form.errors.keys():
            # Both fields of the form are hidden. If one is invalid, the page was stale.
            return render_conflict(request, OrderChanged(found), note=form["note"].value() or "")
        return render_order_page(request, get_order_page(found), move_form=form, status=422)
    sent = form.cleaned_data
    # An order that has changed since the page was shown is refused below. Nothing is refunded for it.
    is_cancelling = sent["event"] == "cancelled" and sent["version"] == found.version
    if is_cancelling and not confirm_order_refund(
        request, form, found, balance.amount_to_give_up(found)
    ):
        return render_order_page(request, get_order_page(found), move_form=form, status=422)
    try:
        if sent["version"] != found.version:
            raise OrderChanged(found)
        actor = staff_actor(current_member(request))
        transition = Transition(sent["event"], actor=actor, note=sent["note"], at=current_time())
        changed = operations.transition_order(found, transition)
    except (OrderChanged, TransitionRefused) as error:
        return render_conflict(request, error, note=form["note"].value() or "")
    return answer_submit(request, changed, before=found)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def add_staff_note(request: HttpRequest, found: Order) -> HttpResponse:
    """Add a staff note to an order's history."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_order_page(request, get_order_page(found), note_form=form, status=422)
    noted = operations.add_note(
        found,
        form.cleaned_data["note"],
        actor=staff_actor(current_member(request)),
        now=current_time(),
    )
    return answer_submit(request, noted, before=found)


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_order_tags(request: HttpRequest, found: Order) -> HttpResponse:
    """Add tags to an order, or remove one of its tags."""
    form = TagForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            changed = change_tags(
                found,
                sent["add"],
                [sent["remove"]] if sent["remove"] else [],
                actor=staff_actor(current_member(request)),
                now=current_time(),
            )
        except TooManyTags as error:
            form.add_error("add", str(error))
        except OrderChanged as error:
            typed = form["add"].value()
            return render_conflict(request, error, typed=[(_("Add tags"), typed)] if typed else ())
        else:
            return answer_submit(request, changed, before=found)
    return render_order_page(request, get_order_page(found), tag_form=form, status=422)


@staff_required(ORDER_STAFF)
@require_safe
def list_order_viewers(request: HttpRequest, number: str) -> HttpResponse:
    """Show who else has an order's page open. Record that this user has it open, or has `left`. Answer 204 if unchanged.

    This view does not read the order, because pages call it every few seconds.
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
