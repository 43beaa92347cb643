"""The page of an order as the staff see it, and how a submit is answered by it."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, has_permission, note_changes
from adminpanel.orders.forms import NoteForm, TagForm, TransitionForm
from adminpanel.orders.fulfilment_forms import AnyForm, PackForm, build_order_forms
from adminpanel.orders.history import describe_submitted_event, staff_history
from adminpanel.orders.labels import (
    COLUMN_TONES,
    actor_label,
    attempt_label,
    event_label,
    fulfilment_label,
    payment_label,
    payment_tone,
)
from adminpanel.orders.panels import parcel_panels, return_panels
from adminpanel.orders.queries import OrderPage, address_lines, get_order_page, manual_refunds
from adminpanel.orders.refund_permission import may_refund
from adminpanel.orders.viewers import list_other_viewers
from adminpanel.templatetags.ages import ago
from orders.lifecycle import balance, states
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.numbers import normalize_order_number
from orders.presentation import delivery_estimate, last_event_id
from orders.queries import get_order_by_number
from orders.submits import find_submitted_event, handle_once
from web.rendering import render_or_redirect, render_page

# What the audit log calls a look at an order, or at what was mailed about it.
ORDER_LOOK = "order_looked_at"


def get_order_or_404(number: str) -> Order:
    """Return the order with this number, however it was typed. Raises Http404."""
    found = get_order_by_number(normalize_order_number(number))
    if found is None:
        raise Http404(f"no order {number!r}")
    return found


def render_conflict(
    request: HttpRequest,
    error: OrderChanged | TransitionRefused,
    *,
    note: str = "",
    typed: Sequence[tuple[str, str]] = (),
) -> HttpResponse:
    """Explain what another user has done, show the order as it is now, and keep what was typed.

    `note` stays in its field; `typed` (by label) is what was typed elsewhere.
    """
    current = error.order
    happened = [event for event in current.events if event.kind != "note"]
    # What a user did, not what followed from it by itself: the money, the mail.
    last = next(
        (event for event in happened if event.actor != "system"), happened[0] if happened else None
    )
    who = actor_label(last) if last else ""
    words = (
        _("%(who)s changed it %(when)s: %(what)s.")
        % {
            "who": f"{who[:1].upper()}{who[1:]}",
            "when": ago(last.at),
            "what": event_label(current, last).lower(),
        }
        if last
        else ""
    )
    refused = _describe_impossible(request, error)
    if note and not states.allowed_transitions(
        current
    ):  # no button is left, and so no field for it
        note, typed = "", [*typed, (_("Note on this step"), note)]
    fresh = TransitionForm(initial={"version": current.version, "note": note})
    context: dict[str, Any] = {
        "conflict": words,
        "refused": refused,
        "kept_note": note,
        "typed": typed,
    }
    return render_order_page(
        request, get_order_page(current), move_form=fresh, status=409, **context
    )


def _describe_impossible(request: HttpRequest, error: OrderChanged | TransitionRefused) -> str:
    """Return why what was wanted is not possible, '' where another click may do it: the page was only old."""
    if isinstance(error, TransitionRefused):
        return str(error)
    rule = states.TRANSITION_RULES.get(request.POST.get("event", ""))
    if rule is None or rule.is_allowed(error.order):
        return ""
    return str(TransitionRefused(error.order, rule.kind))


def answer_submit(
    request: HttpRequest, changed: Order, before: Order | None = None
) -> HttpResponse:
    """Answer a submit that has changed an order: say what it has done, have the audit log say so, and show the order.

    A submit that is answered once more has no `before`: its first one is in the log.
    """
    if before:
        note_changes(request, _audited(before), _audited(changed), personal=["delivery_address"])
    if event := find_submitted_event(request, changed):
        text = _("Order %(number)s: %(what)s.")
        what = describe_submitted_event(changed, event)
        messages.success(request, text % {"number": changed.number, "what": what})
    return render_or_redirect(
        request,
        reverse("adminpanel:order", args=[changed.number]),
        "adminpanel/orders/order.html",
        lambda: _context(request, get_order_page(changed)),
        part="order",
    )


def _audited(order: Order) -> dict[str, object]:
    """Return what the audit log compares of an order, before and after an act of the staff."""
    return {
        "status": order.state,
        "payment": order.payment,
        "fulfilment": order.fulfilment,
        "total": order.total,
        "received": order.captured,
        "refunds": ", ".join(str(each.amount) for each in order.refunds) or "none",
        "refunded": order.refunded,
        "items": ", ".join(f"{line}: {units}" for line, units in sorted(order.quantities.items())),
        "parcels": ", ".join(f"{each.parcel_id}: {each.state}" for each in order.parcels())
        or "none",
        "returns": ", ".join(f"{each.return_id}: {each.state}" for each in order.returns) or "none",
        "delivery_address": order.delivery_address,
        "tags": ", ".join(order.tags) or "none",
    }


def order_submit(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Give a view the order with a number, and have it do the work of a form once, however often it is sent. It raises Http404."""
    handled = handle_once(answer_submit)(view)

    @wraps(view)
    def submitted(request: HttpRequest, number: str, **kwargs: str) -> HttpResponse:
        return handled(request, get_order_or_404(number), **kwargs)

    return submitted


def render_order_page(
    request: HttpRequest,
    page_data: OrderPage,
    *,
    form: AnyForm | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Return an order's page; with status 422 a form of it was filled in wrongly, and shows what was typed."""
    context = _context(request, page_data, form) | more | {"has_errors": status == 422}
    return render_page(
        request, "adminpanel/orders/order.html", context, part="order", status=status
    )


def _context(
    request: HttpRequest, page_data: OrderPage, form: AnyForm | None = None
) -> dict[str, Any]:
    found = page_data.order
    delivery, billing = address_lines(found)
    moves_money = may_refund(current_member(request))
    transitions = [
        each
        for each in states.allowed_transitions(found)
        if moves_money or each.kind != "cancelled" or not balance.amount_to_give_up(found).amount
    ]
    forms = build_order_forms(found, page_data.items, money=moves_money)
    if form is not None:
        forms[form.key] = form
    return {
        "order": found,
        "customer": page_data.customer,
        "can_open_customer": has_permission(current_member(request), "adminpanel.customer"),
        # What an erased person has ordered is added to by nobody.
        "can_draft": has_permission(current_member(request), "adminpanel.draft")
        and not page_data.order.is_erased,
        "lines": found.current_lines(page_data.items) or page_data.items,
        "attempts": [(each, attempt_label(each.state)) for each in page_data.attempts],
        "events": staff_history(found),
        "transitions": transitions,
        "column_tone": COLUMN_TONES.get(found.board_column, "plain"),
        "payment_word": payment_label(found.payment),
        "payment_tone": payment_tone(found.payment),
        "fulfilment_word": fulfilment_label(found.fulfilment, is_pickup=found.is_pickup),
        "expected": delivery_estimate(found),
        "delivery_lines": delivery,
        "billing_lines": billing,
        "move_form": TransitionForm(initial={"version": found.version}),
        "note_form": NoteForm(initial={"seen": last_event_id(found)}),
        "known_tags": [tag for tag in page_data.known_tags if tag not in found.tags],
        "mails": page_data.mails,
        "reads_mails": has_permission(current_member(request), "adminpanel.order_mail"),
        "viewers": list_other_viewers(found.number, page_data.viewers, current_member(request)),
        "tag_form": TagForm(initial={"seen": last_event_id(found)}),
        "wrong": form,
        "packs": [each for each in forms.values() if isinstance(each, PackForm)],
        "parcels": parcel_panels(found, page_data.items, forms),
        "returns": return_panels(found, page_data.items, forms),
        "refund_form": forms.get("refund"),
        "lines_form": forms.get("lines"),
        "address_form": forms.get("address"),
        "received_form": forms.get("received"),
        "by_hand": manual_refunds(found) if moves_money else (),
    }
