"""Papers and tables of selected orders: pages that make them, and keep them for an hour."""

from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.code_again import confirm_by_code
from adminpanel.file_states import renew_if_old, send_file
from adminpanel.names import list_names
from adminpanel.orders.paper_forms import PaperForm
from adminpanel.orders.papers import can_be_fetched, file_id_of, list_kinds, needs_code, paper_line
from adminpanel.orders.selection import (
    MAX_SELECTED_ORDERS,
    OrderFilterForm,
    list_selected_orders,
    list_selection_fields,
)
from cassandra_db import current_time
from orders.papers.order_files import ORDER_FILES, list_order_files
from spreadsheets import operations, queries
from spreadsheets.entities import SpreadsheetTask
from web.decorators import get_or_post, post_only
from web.forms import Form
from web.rendering import render_page

# A request prints at most this many orders. The worker makes larger files, and finishes interrupted ones.
MAX_IN_REQUEST = 25


@staff_required(ORDER_STAFF)
@require_safe
def paper_list(request: HttpRequest) -> HttpResponse:
    """List the latest papers and tables."""
    now = current_time()
    tasks = queries.list_tasks(now, list_order_files(current_member(request).role))
    names = list_names({each.started_by for each in tasks})
    lines = [paper_line(each, names, now) for each in tasks]
    return render_page(request, "adminpanel/orders/papers.html", {"lines": lines})


@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF, lists=("order",))
@get_or_post
def paper_new(request: HttpRequest) -> HttpResponse:
    """Choose a paper or table of the selected orders, and start to make it. A paper that is ready at once opens."""
    member = current_member(request)
    data = request.POST if request.method == "POST" else request.GET
    now = current_time()
    ids, total = list_selected_orders(data)
    if not ids:
        messages.error(request, _("Select orders first, or select all of them."))
        return redirect("adminpanel:board")
    if request.method != "POST":
        kind_name = request.GET.get("kind") or next(iter(ORDER_FILES))
        initial = {"file_id": uuid_from_time(now), "kind": kind_name}
        return _choice_page(request, PaperForm(total, member.role, initial=initial), data)
    # The board's button for packing slips names kind and file in its address.
    form = PaperForm(total, member.role, {**request.GET.dict(), **data.dict()})
    if not form.is_valid():
        return _choice_page(request, form, data, status=422)
    kind = ORDER_FILES[form.cleaned_data["kind"]]
    if needs_code(kind, total) and not confirm_by_code(request, form):
        return _choice_page(request, form, data, status=422)
    form_id = renew_if_old(form.cleaned_data["file_id"], now)
    task = operations.start_order_file(
        file_id_of(form_id, kind.name, list_selection_fields(data)),
        kind,
        OrderFilterForm(data).build_filter() if data.get("all") and not kind.draw else ids,
        member.user_id,
        now,
    )
    note_changes(request, {}, {"file": task.file_name, "orders": total})
    if total <= MAX_IN_REQUEST and task.total and task.is_under_way:
        operations.run_task(task, MAX_IN_REQUEST)
    made = queries.get_task(task.task_id) if kind.draw else None
    # The form's id may lead to any file. Only the one that was checked above is sent; its page checks another one.
    if (
        made
        and (made.layout, made.total, made.started_by) == (kind.name, total, member.user_id)
        and can_be_fetched(made, current_time())
    ):
        return send_file(made)
    return redirect("adminpanel:paper", file_id=task.task_id)


def _choice_page(
    request: HttpRequest, form: PaperForm, data: QueryDict, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "total": form.total,
        "has_more": form.total > MAX_SELECTED_ORDERS,
        "kinds": list_kinds(
            form.total, str(form["kind"].value() or ""), current_member(request).role
        ),
        "selection": list_selection_fields(data),
    }
    return render_page(request, "adminpanel/orders/paper_new.html", context, status=status)


@staff_required(ORDER_STAFF)
@require_safe
def paper_detail(request: HttpRequest, file_id: UUID) -> HttpResponse:
    """Show the progress of a file, and the form that downloads it."""
    return _paper_page(request, _get_task(request, file_id))


def _paper_page(
    request: HttpRequest, task: SpreadsheetTask, form: Form | None = None
) -> HttpResponse:
    is_polled = "X-Refreshes-Itself" in request.headers
    context = {
        "line": paper_line(task, {}, current_time()),
        "task": task,
        "is_polled": is_polled,
        "form": form,
    }
    part = "progress" if is_polled else ""
    status = 422 if form else 200
    return render_page(request, "adminpanel/orders/paper.html", context, part=part, status=status)


def _get_task(request: HttpRequest, file_id: UUID) -> SpreadsheetTask:
    task = queries.get_task(file_id)
    if task is None or task.layout not in list_order_files(current_member(request).role):
        raise Http404("no such paper")
    return task


# This view takes a POST, though it changes nothing: the audit log records who downloads names and addresses.
@sensitive_post_parameters("code")
@staff_required(ORDER_STAFF)
@post_only("adminpanel:paper", "file_id")
def paper_file(request: HttpRequest, file_id: UUID) -> HttpResponse:
    """Send the file of a paper or table in pieces."""
    task, form = _get_task(request, file_id), Form({}, auto_id="fetch-%s")
    if not can_be_fetched(task, current_time()):
        messages.error(request, _("This document has expired. Create it again."))
        return redirect("adminpanel:paper", file_id=file_id)
    if needs_code(ORDER_FILES[task.layout], task.total) and not (
        form.is_valid() and confirm_by_code(request, form)
    ):
        return _paper_page(request, task, form)
    note_changes(request, {}, {"file": task.file_name, "orders": task.total})
    return send_file(task)
