"""Pages of draft orders: save a draft, offer it by a payment link, or place it for the customer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.addresses import address_from_fields
from accounts.looks import ORDER_LOOK, prefetch_looks, record_look
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.customers.draft_forms import (
    DraftForm,
    DraftLine,
    parse_product_and_variant,
    parse_units,
    weigh,
)
from adminpanel.customers.draft_pages import (
    conflict_values,
    draft_units,
    find_by_sku,
    find_choices,
    list_with_orders,
    make_lines,
    quote_form,
)
from adminpanel.orders.labels import name_actor, staff_actor
from adminpanel.orders.order_page import get_order_or_404
from adminpanel.parameters import found_or_404, parse_id
from cassandra_db import current_time
from drafts import operations, queries
from drafts.entities import ACCEPTED, SENT, DraftOrder
from drafts.errors import AdditionRefused, DraftChanged, DraftOrdered
from inventory.errors import OutOfStock
from jobs.bulk_changes import is_usable_id
from jobs.months import made_at
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CheckoutAbandoned, CheckoutBusy, CheckoutUsed, CustomerRefused
from orders.numbers import normalize_order_number
from orders.queries import get_order, get_order_by_number
from payments.errors import GatewayUnavailable
from pricing.quotes import QuotedLine
from web.decorators import get_or_post, post_only
from web.rendering import render_page

DRAFT_STAFF = ("support",)
DRAFT_LOOK = "draft_looked_at"
NO_ADDRESS = address_from_fields({})
# Handles a valid form. Its arguments are the typed draft, the saved draft (if any), and the form.
Act = Callable[[DraftOrder, DraftOrder | None, DraftForm], HttpResponse]


@staff_required(DRAFT_STAFF)
@require_safe
def draft_list(request: HttpRequest) -> HttpResponse:
    """List the draft orders, the newest first."""
    before = _parse_id(request.GET.get("before", ""))
    found = queries.list_drafts(current_time(), before)
    drafts = list_with_orders(found[: queries.PAGE_LENGTH])
    context = {
        "drafts": drafts,
        "is_first": before is None,
        "next": found[queries.PAGE_LENGTH - 1].draft_id
        if len(found) > queries.PAGE_LENGTH
        else None,
    }
    return render_page(request, "adminpanel/customers/drafts.html", context)


def _parse_id(text: str) -> UUID | None:
    found = parse_id(text)
    return found if found and found.version == 1 else None


@staff_required(DRAFT_STAFF)
@require_safe
def draft_new(request: HttpRequest) -> HttpResponse:
    """Show a new, unsaved draft: an empty one, a copy of a draft, or an addition to an order."""
    staff, now = current_member(request), current_time()
    looks = prefetch_looks(staff, now)
    draft = DraftOrder(uuid_from_time(now), "", NO_ADDRESS, (), "")
    if number := request.GET.get("order", ""):
        order = get_order_or_404(number)
        record_look(staff, ORDER_LOOK, order.number, looks, now)
        draft = replace(
            draft,
            email=order.email,
            address=order.delivery_address,
            method_code=order.method.code,
            added_to=order.number,
        )
    elif (source := _parse_id(request.GET.get("copy", ""))) and (
        copied := queries.get_draft(source)
    ):
        record_look(staff, DRAFT_LOOK, str(source), looks, now)
        draft = replace(
            draft,
            email=copied.email,
            address=copied.address,
            lines=copied.lines,
            method_code=copied.method_code,
            discount=copied.discount,
            added_to=copied.added_to,
        )
    lines = make_lines(draft_units(draft))
    return _page(request, draft, None, DraftForm(draft=draft, grams=weigh(lines)), lines)


@staff_required(DRAFT_STAFF, is_about_people=True)
@get_or_post
def draft_detail(request: HttpRequest, draft_id: UUID) -> HttpResponse:
    """Show a saved draft, or save the submitted one."""
    if request.method == "POST":
        return _submit(request, draft_id, _saved(request))
    staff, now = current_member(request), current_time()
    looks, draft = prefetch_looks(staff, now), found_or_404(queries.get_draft(draft_id), "draft")
    record_look(staff, DRAFT_LOOK, str(draft_id), looks, now)
    return _saved_page(request, draft)


@staff_required(DRAFT_STAFF)
@post_only("adminpanel:draft", "draft_id")
def send_draft(request: HttpRequest, draft_id: UUID) -> HttpResponse:
    """Save a draft, and mail its customer a payment link."""

    def send(draft: DraftOrder, seen: DraftOrder | None, form: DraftForm) -> HttpResponse:
        assert form.method
        operations.send_offer(draft, seen, form.method, _actor(request), current_time())
        note_changes(request, {}, {"act": "sent", "units": draft.unit_count})
        messages.success(request, _("The offer is on its way."))
        return redirect("adminpanel:draft", draft_id)

    return _submit(request, draft_id, send, is_final=True)


@staff_required(DRAFT_STAFF)
@post_only("adminpanel:draft", "draft_id")
def order_draft(request: HttpRequest, draft_id: UUID) -> HttpResponse:
    """Save a draft, and place it as an order paid by transfer."""

    def order(draft: DraftOrder, seen: DraftOrder | None, form: DraftForm) -> HttpResponse:
        assert form.method
        placed = operations.order_draft(draft, seen, form.method, _actor(request), current_time())
        note_changes(request, {}, {"act": "ordered", "order": placed.number})
        messages.success(request, _("Order %(number)s is placed.") % {"number": placed.number})
        return redirect("adminpanel:order", placed.number)

    return _submit(request, draft_id, order, is_final=True)


@staff_required(DRAFT_STAFF)
@post_only("adminpanel:draft", "draft_id")
def delete_draft(request: HttpRequest, draft_id: UUID) -> HttpResponse:
    """Delete a draft. The payment link of its offer stops working."""
    draft = queries.get_draft(draft_id)
    if draft is None:
        return redirect("adminpanel:drafts")
    try:
        if get_seen_version(request.POST) != str(draft.version):
            raise DraftChanged(draft)
        operations.delete_draft(draft)
    except DraftOrdered:
        return redirect("adminpanel:draft", draft_id)
    except DraftChanged:
        messages.error(request, _("Nothing was deleted: someone else has changed this draft."))
        return _saved_page(request, queries.get_draft(draft_id) or draft, status=409)
    note_changes(request, {}, {"act": "deleted"})
    messages.success(request, _("The draft is deleted."))
    return redirect("adminpanel:drafts")


def _actor(request: HttpRequest) -> str:
    return staff_actor(current_member(request))


def _saved(request: HttpRequest) -> Act:
    def save(draft: DraftOrder, seen: DraftOrder | None, form: DraftForm) -> HttpResponse:
        saved = operations.save_draft(draft, seen, _actor(request), current_time())
        note_changes(request, {}, {"act": "saved", "units": draft.unit_count})
        address = reverse("adminpanel:draft", args=[saved.draft_id])
        words = request.POST.get("q", "").strip()
        if "find" in request.POST and words and not find_by_sku(words):
            return HttpResponseRedirect(f"{address}?{urlencode({'q': words[:100]})}#find-product")
        if "find" not in request.POST and "add" not in request.POST:
            messages.success(request, _("Draft saved."))
        return redirect(f"{address}#products" if "find" in request.POST else address)

    return save


def _submit(
    request: HttpRequest, draft_id: UUID, act: Act, *, is_final: bool = False
) -> HttpResponse:
    """Run `act` on the typed draft. If the saved draft is no longer the one that the page showed, show a conflict."""
    current = queries.get_draft(draft_id)
    seen_version = get_seen_version(request.POST)
    if current is None and (seen_version != "0" or not is_usable_id(draft_id, current_time())):
        raise Http404("no such draft")
    if current and (order := _find_order(current)):
        return redirect("adminpanel:order", order.number)
    lines = make_lines(_typed_units(request), current, checked=True)
    form = DraftForm(request.POST, grams=weigh(lines), is_final=is_final)
    is_wrong = not form.is_valid() or any(each.error for each in lines)
    quoted = [each.quoted for each in lines if each.quoted and each.variant and each.units]
    if is_final and not quoted and not is_wrong:
        form.add_error(None, _("Add a product first."))
        is_wrong = True
    draft = _typed_draft(draft_id, form, quoted, current)
    if is_wrong:
        return _page(request, draft, current, form, lines, status=422)
    if str(current.version if current else 0) != seen_version:
        return _conflict_page(request, draft, current, form, lines)
    try:
        return act(draft, current, form)
    except DraftChanged as changed:
        return _conflict_page(request, draft, changed.current, form, lines)
    except AdditionRefused as refused:
        form.add_error("email", str(refused))
        return _page(request, draft, current, form, lines, status=422)
    except DraftOrdered:
        return redirect("adminpanel:draft", draft_id)
    except CheckoutUsed as used:
        return redirect("adminpanel:order", used.order.number)
    except OutOfStock as short:
        listed = [
            replace(each, error=_("%(left)s left") % {"left": short.shortages[each.variant_id]})
            if each.variant_id in short.shortages
            else each
            for each in lines
        ]
        problem = _("Nothing was ordered: there isn’t enough in stock.")
    except (CheckoutBusy, CheckoutAbandoned):
        listed, problem = lines, _("The order is being placed. Try again in a few seconds.")
    except CustomerRefused:
        listed, problem = lines, _("This customer is blocked and can’t place orders.")
    except GatewayUnavailable as refused:
        listed, problem = lines, str(refused)
    # The typed draft may be saved already. The form continues from the newest saved draft.
    saved = queries.get_draft(draft_id)
    return _page(request, draft, saved, form, listed, problem=problem, status=409)


def _saved_page(request: HttpRequest, draft: DraftOrder, status: int = 200) -> HttpResponse:
    """Show the saved values of a draft."""
    lines = make_lines(draft_units(draft), draft)
    form = DraftForm(draft=draft, grams=weigh(lines))
    return _page(request, draft, draft, form, lines, status=status)


def _typed_units(request: HttpRequest) -> dict[tuple[UUID, UUID], str]:
    units = parse_units(request.POST)
    found = find_by_sku(request.POST.get("q", "")) if "find" in request.POST else None
    if (added := request.POST.get("add", "")).count(":") == 1:
        found = parse_product_and_variant(added)
    if found:
        typed = units.get(found, "0")
        units[found] = str(int(typed) + 1) if typed.isdecimal() and len(typed) < 4 else typed
    return units


def _typed_draft(
    draft_id: UUID, form: DraftForm, lines: list[QuotedLine], current: DraftOrder | None
) -> DraftOrder:
    if not form.is_valid():
        empty = DraftOrder(draft_id, "", NO_ADDRESS, tuple(lines), "")
        return replace(empty, added_to=current.added_to if current else "")
    billing = current.billing_address if current else None
    draft = form.build_draft(draft_id, lines, billing)
    if current:
        return replace(draft, added_to=current.added_to)
    if first := get_order_by_number(normalize_order_number(draft.added_to)):
        # The draft adds to an existing order. It gets that order's number and invoice address.
        is_other = first.billing_address != first.delivery_address
        return replace(
            draft,
            added_to=first.number,
            billing_address=first.billing_address if is_other else None,
        )
    return draft


def _find_order(draft: DraftOrder) -> Order | None:
    return get_order(draft.order_id) if draft.state == ACCEPTED and draft.order_id else None


def _conflict_page(
    request: HttpRequest,
    draft: DraftOrder,
    current: DraftOrder | None,
    form: DraftForm,
    lines: list[DraftLine],
) -> HttpResponse:
    if current is None:
        messages.error(request, _("Someone else has deleted this draft."))
        return redirect("adminpanel:drafts")
    fields = compare_fields(
        conflict_values(current, DraftForm(draft=current)), conflict_values(draft, form)
    )
    conflict = Conflict(
        name_actor(current.changed_by), current.changed_at, str(current.version), fields
    )
    return _page(request, draft, current, form, lines, conflict=conflict, status=409)


def _page(
    request: HttpRequest,
    draft: DraftOrder,
    saved: DraftOrder | None,
    form: DraftForm,
    lines: list[DraftLine],
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    quoted = [each.quoted for each in lines if each.quoted and each.variant and each.units]
    quoted_draft = replace(draft, lines=tuple(quoted))
    if form.is_bound and form.is_valid():
        quoted_draft = replace(
            form.build_draft(draft.draft_id, quoted, None), added_to=draft.added_to
        )
    words = request.GET.get("q", "")[:100]
    context = {
        "draft": draft,
        "saved": saved,
        "order": _find_order(saved) if saved else None,
        "begun_at": made_at(draft.draft_id),
        "changed_by": name_actor(saved.changed_by) if saved else "",
        "is_sent": saved is not None and saved.state == SENT,
        "form": form,
        "lines": lines,
        "method": form.method,
        "sums": quote_form(form, lines, quoted_draft),
        "words": words,
        "choices": find_choices(words) if words else [],
        **more,
    }
    return render_page(request, "adminpanel/customers/draft.html", context, status=status)
