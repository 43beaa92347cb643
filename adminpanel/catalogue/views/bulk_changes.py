"""Bulk changes of products: pages that preview, apply, list and undo them."""

from urllib.parse import urlencode
from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.bulk_change_pages import (
    change_context,
    fingerprint_selection,
    list_change_lines,
    parse_change_id,
    run_if_small,
)
from adminpanel.catalogue.bulk_change_forms import (
    ACT_FORMS,
    BulkActForm,
    list_selection_fields,
    list_ticked_ids,
)
from adminpanel.catalogue.bulk_change_pages import describe_act, preview_line, result_lines
from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.parameters import cut_page, found_or_404
from cassandra_db import current_time
from catalogue import bulk_changes
from catalogue.bulk_changes import BulkChange, Selected
from jobs.bulk_changes import MAX_ITEMS, PAGE_LENGTH
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@staff_required(CATALOGUE_STAFF)
@get_or_post
def change_products(request: HttpRequest) -> HttpResponse:
    """Choose a kind of change for the selected products, preview the change, and run it."""
    data = request.POST if request.method == "POST" else request.GET
    ids, total = _list_selected(data)
    if not ids or total > MAX_ITEMS:
        too_many = _("Select at most %(most)d products. Narrow the list with filters first.")
        nothing = _("Select products first, or select all of them.")
        messages.error(request, too_many % {"most": MAX_ITEMS} if ids else nothing)
        return redirect("adminpanel:products")
    chosen = ACT_FORMS.get(data.get("act", ""))
    form = chosen(data) if chosen else None
    if form is None or not form.is_valid():
        return _choice_page(request, data, form, ids)
    if request.method != "POST":
        return _preview_page(request, data, form, ids)
    change_id = parse_change_id(data.get("change_id", ""), current_time())
    if change_id is None or data.get("seen") != fingerprint_selection(ids):
        # The browser may send the form twice. Redirect to the change that the first submit started.
        if change_id and bulk_changes.get_change(change_id):
            return redirect("adminpanel:bulk_change", change_id=change_id)
        return _preview_page(request, data, form, ids, is_stale=True, status=409)
    act = form.build_act()
    change = bulk_changes.start_change(
        change_id,
        act,
        [Selected(each) for each in ids],
        current_member(request).user_id,
        current_time(),
    )
    note_changes(request, {}, {"act": describe_act(act), "products": str(change.total)})
    return _answer_started(request, change)


def _list_selected(data: QueryDict) -> tuple[list[UUID], int]:
    if not data.get("all"):
        ids = list_ticked_ids(data)
        return ids, len(ids)
    return ProductFilterForm(data).list_product_ids()


def _answer_started(request: HttpRequest, change: BulkChange) -> HttpResponse:
    run_if_small(change, bulk_changes.run_change)
    return redirect("adminpanel:bulk_change", change_id=change.change_id)


def _choice_page(
    request: HttpRequest, data: QueryDict, refused: BulkActForm | None, ids: list[UUID]
) -> HttpResponse:
    act_forms = {act: form() for act, form in ACT_FORMS.items()}
    if refused:
        act_forms[refused.act] = refused
    context = {
        "form": refused,
        "forms": act_forms,
        "selection": list_selection_fields(data),
        "total": len(ids),
    }
    status = 422 if refused else 200
    return render_page(request, "adminpanel/catalogue/bulk_change_new.html", context, status=status)


def _preview_page(
    request: HttpRequest,
    data: QueryDict,
    form: BulkActForm,
    ids: list[UUID],
    *,
    is_stale: bool = False,
    status: int = 200,
) -> HttpResponse:
    act, now = form.build_act(), current_time()
    page_ids, page, count = cut_page(ids, data, PAGE_LENGTH)
    lines = [preview_line(each, act) for each in bulk_changes.preview_act(act, page_ids, now)]
    fields = [*list_selection_fields(data), *form.list_act_fields()]
    context = {
        "act": describe_act(act),
        "is_about_prices": act.is_about_prices,
        "total": len(ids),
        "lines": lines,
        "changed_count": sum(each.is_changed for each in lines),
        "refused_count": sum(bool(each.reason) for each in lines),
        "fields": fields,
        "query": urlencode(fields),
        "back": urlencode(list_selection_fields(data)),
        "page": page,
        "page_count": count,
        "change_id": uuid_from_time(now),
        "seen": fingerprint_selection(ids),
        "is_stale": is_stale,
    }
    return render_page(request, "adminpanel/catalogue/bulk_preview.html", context, status=status)


@staff_required(CATALOGUE_STAFF)
@require_safe
def change_list(request: HttpRequest) -> HttpResponse:
    """List the latest bulk changes of products."""
    lines = list_change_lines(bulk_changes.STORE, describe_act)
    return render_page(request, "adminpanel/catalogue/bulk_changes.html", {"lines": lines})


@staff_required(CATALOGUE_STAFF)
@require_safe
def change_detail(request: HttpRequest, change_id: UUID) -> HttpResponse:
    """Show the progress of a bulk change, and its result for each product."""
    change = found_or_404(bulk_changes.get_change(change_id), "change")
    context, rows = change_context(request, bulk_changes.STORE, change)
    undo = bulk_changes.get_change(change.undo_id)
    has_done = bool(change.finished_at and change.counts and change.counts.get("done"))
    context |= {
        "act": describe_act(change.act),
        "lines": result_lines(rows),
        "undo": undo,
        "can_undo": not undo and has_done,
    }
    part = "progress" if context["is_polled"] else ""
    return render_page(request, "adminpanel/catalogue/bulk_change.html", context, part=part)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:bulk_change", "change_id")
def undo_change(request: HttpRequest, change_id: UUID) -> HttpResponse:
    """Undo a bulk change. Products that were changed again since then stay as they are."""
    change = found_or_404(bulk_changes.get_change(change_id), "change")
    undo = None
    if change.finished_at:
        undo = bulk_changes.start_undo(change, current_member(request).user_id, current_time())
    if undo is None:
        messages.error(request, _("There is nothing to undo."))
        return redirect("adminpanel:bulk_change", change_id=change_id)
    note_changes(request, {}, {"act": describe_act(change.act), "products": str(undo.total)})
    return _answer_started(request, undo)
