"""Bulk changes of orders: pages that preview, apply and list them."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, note_changes, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.bulk_change_pages import (
    RESULT_LABELS,
    RESULT_TONES,
    change_context,
    fingerprint_selection,
    list_change_lines,
    parse_change_id,
    run_if_small,
)
from adminpanel.orders.bulk_change_forms import (
    ACT_FORMS,
    MAIL_LABELS,
    OrderActForm,
    name_number_field,
)
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.refund_permission import confirm_refund, may_refund, refund_limit
from adminpanel.orders.selection import list_selected_orders, list_selection_fields
from adminpanel.parameters import cut_page, found_or_404
from cassandra_db import current_time
from jobs.bulk_changes import MAX_ITEMS, PAGE_LENGTH
from orders import bulk_changes, queries
from orders.bulk_acts import OrderAct
from orders.carriers import CARRIERS
from orders.operations.mail_texts import MAILED_EVENTS
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF, lists=("order",))
@get_or_post
def order_changes_new(request: HttpRequest) -> HttpResponse:
    """Choose a kind of change for the selected orders, or run the change that was previewed."""
    data = request.POST if request.method == "POST" else request.GET
    ids, total = list_selected_orders(data)
    if refused := _refuse_selection(request, total):
        return refused
    if request.method != "POST":
        # The board's buttons name an act. One whose form needs no more is previewed at once.
        asked = _build_form(request, data, ids)
        if asked and asked.is_valid():
            return _preview_page(request, data, asked, ids)
        return _choice_page(request, data, None, ids)
    now = current_time()
    change_id = parse_change_id(data.get("change_id", ""), now)
    if change_id and bulk_changes.STORE.get_change(change_id):
        return redirect("adminpanel:order_change", change_id=change_id)
    form = _build_form(request, data, ids)
    if form is None or not form.is_valid():
        return _refused_page(request, data, form, ids)
    if change_id is None or data.get("seen") != _fingerprint(form, ids):
        return _preview_page(request, data, form, ids, is_stale=True)
    act = _build_act(request, form, now)
    if not _has_usable_numbers(act, form, ids, now):
        return _preview_page(request, data, form, ids)
    refundable: Mapping[UUID, int] = {}
    if act.kind == "cancelled" and act.refunds_until:
        given_back = bulk_changes.sum_cancellations(ids, refund_limit())
        if not confirm_refund(request, form, given_back.amount, given_back.in_all):
            return _preview_page(request, data, form, ids)
        refundable = given_back.by_order
    started_by = current_member(request).user_id
    change = bulk_changes.start_change(
        change_id, act, ids, form.tracking_by_order, started_by, now, refundable
    )
    note_changes(request, {}, {"act": describe_act(act), "orders": str(change.total)})
    run_if_small(change, bulk_changes.run_change)
    return redirect("adminpanel:order_change", change_id=change.change_id)


# This view takes a POST, though it changes nothing, because the tracking numbers would not fit in an address.
@staff_required(ORDER_STAFF, lists=("order",))
@post_only("adminpanel:board")
def order_changes_preview(request: HttpRequest) -> HttpResponse:
    """Preview a bulk change of the selected orders."""
    ids, total = list_selected_orders(request.POST)
    if refused := _refuse_selection(request, total):
        return refused
    form = _build_form(request, request.POST, ids)
    if form is None or not form.is_valid():
        return _refused_page(request, request.POST, form, ids)
    return _preview_page(request, request.POST, form, ids)


def _refused_page(
    request: HttpRequest, data: QueryDict, form: OrderActForm | None, ids: list[UUID]
) -> HttpResponse:
    """Return the page that has the fields of an invalid form (422)."""
    if form and form.preview_fields:
        return _preview_page(request, data, form, ids)
    return _choice_page(request, data, form, ids)


def _has_usable_numbers(act: OrderAct, form: OrderActForm, ids: list[UUID], now: datetime) -> bool:
    """Return whether the orders take the numbers in their own fields. If not, the fields have errors."""
    numbers = form.tracking_by_order if len(ids) <= PAGE_LENGTH else {}
    for line in bulk_changes.preview_act(act, list(numbers), numbers, now):
        if line.reason:
            form.add_error(name_number_field(line.order.order_id), line.reason)
    return not form.errors


def _build_act(request: HttpRequest, form: OrderActForm, now: datetime) -> OrderAct:
    member = current_member(request)
    return form.build_act(staff_actor(member), now if may_refund(member) else None)


def describe_act(act: OrderAct) -> str:
    """Return a text that says what an act does to each order."""
    more = ", ".join(act.tags) or act.carrier or (MAIL_LABELS[act.mail] if act.mail else "")
    title = ACT_FORMS[act.kind].title
    return f"{title}: {more}" if more else str(title)


def _refuse_selection(request: HttpRequest, total: int) -> HttpResponse | None:
    if 0 < total <= MAX_ITEMS:
        return None
    too_many = _("Select at most %(most)d orders. Narrow the list with filters first.") % {
        "most": MAX_ITEMS
    }
    nothing = _("Select orders first, or select all of them.")
    messages.error(request, too_many if total else nothing)
    return redirect("adminpanel:board")


def _list_act_forms(request: HttpRequest) -> dict[str, type[OrderActForm]]:
    """Return the forms of the acts that the user may run, keyed by act."""
    member = current_member(request)
    return {
        act: form
        for act, form in ACT_FORMS.items()
        if not form.permission or has_permission(member, form.permission)
    }


def _build_form(request: HttpRequest, data: QueryDict, ids: list[UUID]) -> OrderActForm | None:
    chosen = _list_act_forms(request).get(data.get("act", ""))
    return chosen(data, ids) if chosen else None


def _fingerprint(form: OrderActForm, ids: list[UUID]) -> str:
    # Browsers may change the line ends of a text.
    sent = (f"{name}={text.splitlines()}" for name, text in form.list_act_fields())
    return fingerprint_selection(ids, *sent)


def _choice_page(
    request: HttpRequest, data: QueryDict, refused: OrderActForm | None, ids: list[UUID]
) -> HttpResponse:
    act_forms = {act: form() for act, form in _list_act_forms(request).items()}
    if refused:
        act_forms[refused.act] = refused
    context = {
        "form": refused,
        "sections": [(form, form.title, form.hint) for form in act_forms.values()],
        "selection": list_selection_fields(data),
        "total": len(ids),
        "carriers": CARRIERS,
    }
    status = 422 if refused else 200
    return render_page(request, "adminpanel/orders/order_changes_new.html", context, status=status)


def _preview_page(
    request: HttpRequest,
    data: QueryDict,
    form: OrderActForm,
    ids: list[UUID],
    *,
    is_stale: bool = False,
) -> HttpResponse:
    now = current_time()
    act = _build_act(request, form, now)
    page_ids, page, count = cut_page(ids, data, PAGE_LENGTH)
    lines = bulk_changes.preview_act(act, page_ids, form.tracking_by_order, now)
    context = {
        "act": describe_act(act),
        "title": form.title,
        "total": len(ids),
        "lines": [
            (
                each,
                form.tracking_by_order.get(each.order.order_id, ""),
                form.get_number_field(each.order),
            )
            for each in lines
        ],
        "mails": (act.kind == "mailed" or act.kind in MAILED_EVENTS)
        and (count > 1 or any(each.is_changed for each in lines)),
        "carriers": CARRIERS,
        "changed_count": sum(each.is_changed for each in lines),
        "refused_count": sum(bool(each.reason) for each in lines),
        "selection": [*list_selection_fields(data), *form.list_act_fields()],
        "back": urlencode(list_selection_fields(data)),
        "page": page,
        "page_count": count,
        "change_id": uuid_from_time(now),
        "seen": _fingerprint(form, ids),
        "is_stale": is_stale,
        "form": form,
    }
    status = 409 if is_stale else 422 if form.errors else 200
    return render_page(
        request, "adminpanel/orders/order_changes_preview.html", context, status=status
    )


@staff_required(ORDER_STAFF)
@require_safe
def order_changes(request: HttpRequest) -> HttpResponse:
    """List the latest bulk changes of orders."""
    lines = list_change_lines(bulk_changes.STORE, describe_act)
    return render_page(request, "adminpanel/orders/order_changes.html", {"lines": lines})


@staff_required(ORDER_STAFF)
@require_safe
def order_change(request: HttpRequest, change_id: UUID) -> HttpResponse:
    """Show the progress of a bulk change, and its result for each order."""
    change = found_or_404(bulk_changes.STORE.get_change(change_id), "change")
    context, rows = change_context(request, bulk_changes.STORE, change)
    waiting = {
        each.item_id: queries.prefetch_order(each.item_id) for each in rows if not each.label
    }
    found = {item_id: queries.order_from_rows(each.rows()) for item_id, each in waiting.items()}
    numbers = {item_id: order.number for item_id, order in found.items() if order}
    context |= {
        "act": describe_act(change.act),
        "lines": [
            {
                "row": row,
                "number": row.label or numbers.get(row.item_id, "…"),
                "label": RESULT_LABELS[row.result],
                "tone": RESULT_TONES.get(row.result, "plain"),
            }
            for row in rows
        ],
    }
    part = "progress" if context["is_polled"] else ""
    return render_page(request, "adminpanel/orders/order_change.html", context, part=part)
