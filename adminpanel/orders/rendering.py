"""Draws an order's page. The page can contain an invalid form, or a conflict with somebody else's change."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.access import current_member, has_permission
from accounts.models import User
from adminpanel.orders.available_forms import AnyForm, build_order_forms
from adminpanel.orders.forms import NoteForm, TagForm, TransitionForm
from adminpanel.orders.history import group_history
from adminpanel.orders.labels import actor_label, event_label
from adminpanel.orders.mail_notices import make_mail_notice
from adminpanel.orders.order_page import OrderPage, address_lines, get_order_page, manual_refunds
from adminpanel.orders.panels import parcel_panels, return_panels
from adminpanel.orders.parcel_forms import PackForm
from adminpanel.orders.refund_permission import may_refund
from adminpanel.other_viewers import list_other_viewers
from adminpanel.templatetags.ages import ago
from orders.carriers import CARRIERS
from orders.lifecycle import balance, states
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from orders.presentation import delivery_estimate, last_event_id
from web.rendering import render_page


def render_conflict(
    request: HttpRequest,
    error: OrderChanged | TransitionRefused,
    *,
    note: str = "",
    typed: Sequence[tuple[str, str]] = (),
) -> HttpResponse:
    """Return the order's present page (409) with a conflict: somebody else's change, and the typed texts.

    `note` stays in its field. `typed` are the other typed texts, with their labels.
    """
    current = error.order
    happened = [event for event in current.events if event.kind != "note"]
    # A person's act is shown rather than its automatic consequences.
    last = next(
        (event for event in happened if event.actor != "system"), happened[0] if happened else None
    )
    words = ""
    if last:
        who = actor_label(last)
        words = _("%(who)s changed it %(when)s: %(what)s.") % {
            "who": f"{who[:1].upper()}{who[1:]}",
            "when": ago(last.at),
            "what": event_label(current, last).lower(),
        }
    # If the order allows no transitions, the page has no field for a note.
    if note and not states.allowed_transitions(current):
        note, typed = "", [*typed, (_("Note on this step"), note)]
    return render_order_page(
        request,
        get_order_page(current),
        status=409,
        move_form=TransitionForm(initial={"version": current.version, "note": note}),
        conflict=words,
        refused=_describe_impossible(request, error),
        kept_note=note,
        typed=typed,
    )


def _describe_impossible(request: HttpRequest, error: OrderChanged | TransitionRefused) -> str:
    """Return the reason why the act is impossible, or '' if only the page was stale."""
    if isinstance(error, TransitionRefused):
        return str(error)
    rule = states.TRANSITION_RULES.get(request.POST.get("event", ""))
    if rule is None or rule.is_allowed(error.order):
        return ""
    return str(TransitionRefused(error.order, rule.kind))


def render_order_page(
    request: HttpRequest,
    page_data: OrderPage,
    *,
    form: AnyForm | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Return an order's page. With status 422 it shows the errors of an invalid form."""
    context = order_page_context(request, page_data, form) | more | {"has_errors": status == 422}
    return render_page(
        request, "adminpanel/orders/order.html", context, part="order", status=status
    )


def order_page_context(
    request: HttpRequest, page_data: OrderPage, form: AnyForm | None = None
) -> dict[str, Any]:
    """Return the template context of an order's page. `form` replaces the page's form with the same name."""
    found = page_data.order
    delivery, billing = address_lines(found)
    moves_money = may_refund(current_member(request))
    forms = build_order_forms(found, page_data.items, money=moves_money)
    if form is not None:
        forms[form.key] = form
    member = page_data.customer if found.user_id else None
    for each in forms.values():
        each.mail_notice = make_mail_notice(found, member, each.mail_kinds)
    return {
        "order": found,
        "customer": page_data.customer,
        "can_open_customer": has_permission(current_member(request), "adminpanel.customer"),
        # Nothing can be added to an order whose personal data are erased.
        "can_draft": has_permission(current_member(request), "adminpanel.draft")
        and not page_data.order.is_erased,
        "lines": found.current_lines(page_data.items) or page_data.items,
        "attempts": [
            (each, staff_label("payment_attempt", each.state)) for each in page_data.attempts
        ],
        "history": group_history(found),
        "carriers": CARRIERS,
        **_list_steps(found, member, forms, moves_money=moves_money),
        "expected": delivery_estimate(found),
        "delivery_lines": delivery,
        "billing_lines": billing,
        "move_form": TransitionForm(initial={"version": found.version}),
        "note_form": NoteForm(initial={"seen": last_event_id(found)}),
        "known_tags": [tag for tag in page_data.known_tags if tag not in found.tags],
        "mails": page_data.mails,
        "reads_messages": has_permission(current_member(request), "adminpanel.conversation"),
        "conversations": page_data.conversations,
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


def _list_steps(
    order: Order, member: User | None, forms: Mapping[str, AnyForm], *, moves_money: bool
) -> dict[str, Any]:
    """Return an order's statuses and its next steps, with what they mail, for the template context.

    `member` is the account of a member's order. A step that has a form of its own is no button among the others.
    """
    transitions = {
        each.kind: each
        for each in states.allowed_transitions(order)
        if each.kind not in forms
        and (moves_money or each.kind != "cancelled" or not balance.amount_to_give_up(order).amount)
    }
    labels = {kind: each.label for kind, each in transitions.items()}
    return {
        "column_tone": ORDER_LABELS["column"][order.board_column].tone,
        "payment_word": staff_label("payment", order.payment),
        "payment_tone": ORDER_LABELS["payment"][order.payment].tone,
        "fulfilment_word": staff_label("status", order.fulfilment, is_pickup=order.is_pickup),
        "transitions": list(transitions.values()),
        "ship_form": forms.get("shipped"),
        "move_notice": make_mail_notice(order, member, labels),
        "refund_notice": make_mail_notice(order, member, {"refunded": ""}),
    }
