"""Pages about imports and exports."""

from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.audit_log import MAX_FIELDS
from accounts.looks import prefetch_looks, record_look
from adminpanel.catalogue.bulk_change_forms import list_filter_fields
from adminpanel.catalogue.product_filter import ProductFilterForm
from adminpanel.code_again import confirm_by_code
from adminpanel.file_states import renew_if_old, send_file
from adminpanel.files.forms import ExportForm, ImportForm
from adminpanel.files.mapping_forms import MAPPING_FIELD, MappingForm
from adminpanel.files.notes import describe_notes
from adminpanel.files.pages import describe_task, list_layouts, list_tallies, row_line, task_line
from adminpanel.names import list_names
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from catalogue.queries import get_category_tree
from catalogue.staff_search import STAFF_DEEPEST
from jobs.change_rows import RESULTS
from spreadsheets import entities, operations, queries
from spreadsheets.entities import FAILED, PLANS, SpreadsheetTask
from spreadsheets.files import CONTENT_TYPES, MAX_FILE_BYTES, csv_line
from spreadsheets.foreign.categories import CategoryFinder
from spreadsheets.foreign.presets import PRESETS, UNKNOWN
from spreadsheets.foreign.questions import unpack_question
from spreadsheets.foreign.values import join_path
from spreadsheets.layouts import LAYOUTS, Layout, example_lines
from web.decorators import get_or_post, post_only
from web.forms import Form
from web.rendering import render_page
from web.uploads import takes_files, upload_url

# The module spreadsheets.layouts says which layouts each of these roles may import, and which of them have exports.
EXPORT_STAFF = ("catalogue", "warehouse")
SPREADSHEET_STAFF = (*EXPORT_STAFF, "support")
# The audit log's name for looking at an import about people.
IMPORT_LOOK = "import_looked_at"


@staff_required(SPREADSHEET_STAFF)
@require_safe
def spreadsheet_list(request: HttpRequest) -> HttpResponse:
    """List the latest imports and exports."""
    allowed = {each.name for each in list_layouts(request)}
    tasks = queries.list_tasks(current_time(), allowed)
    names = list_names({each.started_by for each in tasks})
    lines = [task_line(each, names[each.started_by]) for each in tasks]
    context = {"lines": lines, "can_export": bool(list_layouts(request, exported=True))}
    return render_page(request, "adminpanel/files/spreadsheets.html", context)


@staff_required(SPREADSHEET_STAFF)
@require_safe
def spreadsheet_help(request: HttpRequest) -> HttpResponse:
    """Show the columns of each spreadsheet layout."""
    layouts = list_layouts(request)
    return render_page(request, "adminpanel/files/spreadsheet_help.html", {"layouts": layouts})


@staff_required(SPREADSHEET_STAFF)
@require_safe
def spreadsheet_example(request: HttpRequest, layout: str) -> HttpResponse:
    """Send an example file of a layout."""
    found = _get_layout(request, layout)
    content = b"".join(csv_line(each) for each in example_lines(found))
    response = HttpResponse(content, content_type=CONTENT_TYPES["csv"])
    response["Content-Disposition"] = f'attachment; filename="{found.name}-example.csv"'
    return response


def _get_layout(request: HttpRequest, name: str) -> Layout:
    for each in list_layouts(request):
        if each.name == name:
            return each
    raise Http404("no such file for this role")


def _initial(request: HttpRequest) -> dict[str, object]:
    return {"task_id": uuid_from_time(current_time()), "layout": request.GET.get("layout")}


@staff_required(SPREADSHEET_STAFF, is_about_people=False)
@takes_files(MAX_FILE_BYTES)
@get_or_post
def import_new(request: HttpRequest) -> HttpResponse:
    """Accept an uploaded file, which the worker then reads."""
    layouts = list_layouts(request)
    if request.method != "POST":
        return _import_page(request, ImportForm(layouts, initial=_initial(request)))
    form = ImportForm(layouts, request.POST, request.FILES)
    if not form.is_valid():
        return _import_page(request, form, status=422)
    clean = form.cleaned_data
    task = operations.start_import(
        renew_if_old(clean["task_id"], current_time()),
        clean["layout"],
        clean["file"],
        clean["file"].name,
        current_member(request).user_id,
        current_time(),
    )
    note_changes(request, {}, {"file": task.file_name, "layout": task.layout})
    return redirect("adminpanel:spreadsheet", task_id=task.task_id)


def _import_page(request: HttpRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "action": upload_url(request, reverse("adminpanel:import_new"))}
    return render_page(request, "adminpanel/files/import_new.html", context, status=status)


@staff_required(SPREADSHEET_STAFF)
@require_safe
def spreadsheet_detail(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Show the progress of an import or export, and the rows of an import."""
    return _render_task(request, _get_task(request, task_id))


def _render_task(
    request: HttpRequest, task: SpreadsheetTask, status: int = 200, **forms: Form
) -> HttpResponse:
    """Return an import's or export's page. One of `forms`, apply_form or fetch_form, asks for a code."""
    plan, result = _chosen(request.GET, "plan", PLANS), _chosen(request.GET, "result", RESULTS)
    links = _chosen(request.GET, "links", (FAILED,))
    chosen = {"plan": plan, "result": result, "links": links}
    text = request.GET.get("from", "")[:6]
    first = int(text) if text.isascii() and text.isdecimal() else 0
    is_polled = "X-Refreshes-Itself" in request.headers
    is_listed = not task.is_export and bool(task.counts) and not is_polled
    rows, after = queries.list_rows(task, first, **chosen) if is_listed else ([], 0)
    if is_listed:
        _note_look(request, task)
    context = {
        "form": next(iter(forms.values()), None),
        "line": task_line(task),
        "task": task,
        "is_polled": is_polled,
        "lines": [row_line(each) for each in rows],
        "is_listed": is_listed,
        "tallies": list_tallies(task, **chosen),
        "query": urlencode({name: value for name, value in chosen.items() if value}),
        "after": after,
        "to_apply": task.counts.get("new", 0) + task.counts.get("changed", 0),
        "faulty": task.counts.get("faulty", 0),
        "notes": describe_notes(task.notes),
        **forms,
    }
    part = "progress" if is_polled else ""
    page = "adminpanel/files/spreadsheet.html"
    return render_page(request, page, context, part=part, status=status)


def _note_look(request: HttpRequest, task: SpreadsheetTask) -> None:
    """Note in the audit log that somebody looks at an import about people."""
    if task.is_about_people:
        staff, now = current_member(request), current_time()
        record_look(staff, IMPORT_LOOK, str(task.task_id), prefetch_looks(staff, now), now)


def _chosen(data: QueryDict, name: str, choices: tuple[str, ...]) -> str:
    chosen = data.get(name, "")
    if chosen and chosen not in choices:
        raise Http404("no such rows")
    return chosen


def _get_task(request: HttpRequest, task_id: UUID) -> SpreadsheetTask:
    task = found_or_404(queries.get_task(task_id), "import or export")
    _get_layout(request, task.layout)
    return task


@staff_required(SPREADSHEET_STAFF, is_about_people=False, unlogged=MAPPING_FIELD)
@get_or_post
def import_columns(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Ask what becomes of the columns of a file of another shop, and of its unknown categories."""
    task = _get_task(request, task_id)
    if task.state != entities.ASKING:
        return _answered(request, task)
    question, layout = unpack_question(task.question), LAYOUTS[task.layout]
    version = str(task.changed_at)
    if request.method != "POST":
        form = MappingForm(layout, question, initial={"version": version})
        return _columns_page(request, task, form)
    form = MappingForm(layout, question, request.POST)
    if request.POST.get("version") != version:
        return _answered(request, task)
    if not form.is_valid():
        return _columns_page(request, task, form, status=422)
    targets, categories, find = form.targets, form.chosen_categories, CategoryFinder({}).find
    paths = [path for path in dict.fromkeys(categories.values()) if path and not find(path)]
    if not operations.answer_question(task, targets, categories, current_time()):
        return _answered(request, found_or_404(queries.get_task(task_id), "import"))
    created = {f"category {n}": path for n, path in enumerate(paths[:MAX_FIELDS], start=1)}
    names = [name for name, to in targets.items() if to != question.targets[name]][:MAX_FIELDS]
    before = {f"column {name}": question.targets[name] for name in names}
    after = {f"column {name}": targets[name] for name in names}
    note_changes(request, before, {"file": task.file_name, **created, **after})
    return redirect("adminpanel:spreadsheet", task_id=task_id)


def _answered(request: HttpRequest, task: SpreadsheetTask) -> HttpResponse:
    """Return the answer to a form whose question somebody else has answered, and to a page of an old question."""
    if request.method != "POST":
        return redirect("adminpanel:spreadsheet", task_id=task.task_id)
    messages.error(request, _("The columns of this file have been matched already."))
    return _render_task(request, task, status=409)


def _columns_page(
    request: HttpRequest, task: SpreadsheetTask, form: MappingForm, status: int = 200
) -> HttpResponse:
    preset = PRESETS.get(unpack_question(task.question).preset, UNKNOWN)
    nodes = get_category_tree().nodes if form.categories() else []
    context = {
        "form": form,
        "task": task,
        "shop": preset.label,
        "paths": [join_path(each.name for each in node.path) for node in nodes],
        # A file can have more columns than an unsigned form may have fields.
        "action": upload_url(request, reverse("adminpanel:import_columns", args=[task.task_id])),
    }
    return render_page(request, "adminpanel/files/import_columns.html", context, status=status)


# This view takes a POST, though it changes nothing: the audit log records who downloads names and addresses.
@sensitive_post_parameters("code")
@staff_required(SPREADSHEET_STAFF)
@post_only("adminpanel:spreadsheet", "task_id")
def faulty_rows(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Send the faulty rows of an import as a file. An import about people asks for a second-factor code."""
    task, form = _get_task(request, task_id), Form({}, auto_id="fetch-%s")
    if not task.counts.get("faulty"):
        raise Http404("no such rows")
    if task.is_about_people and not (form.is_valid() and confirm_by_code(request, form)):
        return _render_task(request, task, fetch_form=form, status=422)
    note_changes(request, {}, {"file": task.file_name})
    response = StreamingHttpResponse(
        operations.iterate_faulty_rows(task), content_type=CONTENT_TYPES["csv"]
    )
    name = f"{task.layout}-errors-{task.started_at:%Y-%m-%d-%H%M}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return cast(HttpResponse, response)  # Django's two response classes share no type


@sensitive_post_parameters("code")
@staff_required(SPREADSHEET_STAFF)
@post_only("adminpanel:spreadsheet", "task_id")
def import_apply(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Let the worker apply an import that it has checked. An import about people asks for a second-factor code."""
    task, form = _get_task(request, task_id), Form({}, auto_id="apply-%s")
    if task.is_about_people and not (form.is_valid() and confirm_by_code(request, form)):
        return _render_task(request, task, apply_form=form, status=422)
    if not task.is_export and operations.start_applying(task, current_time()):
        note_changes(request, {}, {"file": task.file_name, "import": describe_task(task)})
    else:
        messages.error(request, _("This file cannot be applied."))
    return redirect("adminpanel:spreadsheet", task_id=task_id)


@staff_required(EXPORT_STAFF, is_about_people=False)
@get_or_post
def export_new(request: HttpRequest) -> HttpResponse:
    """Choose an export, which the worker then writes."""
    layouts = list_layouts(request, exported=True)
    data = request.POST if request.method == "POST" else request.GET
    selection = list_filter_fields(data)
    if request.method != "POST":
        return _export_page(request, ExportForm(layouts, initial=_initial(request)), selection)
    form = ExportForm(layouts, request.POST)
    if not form.is_valid():
        return _export_page(request, form, selection, status=422)
    ids = None
    if selection:
        ids, total = ProductFilterForm(data).list_product_ids()
        if not ids or total > STAFF_DEEPEST:
            said = _("No product, or more than %(most)d, matches the filter. Change the filter.")
            form.add_error(None, said % {"most": STAFF_DEEPEST})
            return _export_page(request, form, selection, status=422)
    clean = form.cleaned_data
    task = operations.start_export(
        renew_if_old(clean["task_id"], current_time()),
        clean["layout"],
        clean["format"],
        ids,
        current_member(request).user_id,
        current_time(),
    )
    note_changes(request, {}, {"file": task.file_name})
    return redirect("adminpanel:spreadsheet", task_id=task.task_id)


def _export_page(
    request: HttpRequest, form: ExportForm, selection: list[tuple[str, str]], status: int = 200
) -> HttpResponse:
    context = {"form": form, "selection": selection}
    return render_page(request, "adminpanel/files/export_new.html", context, status=status)


@staff_required(EXPORT_STAFF)
@require_safe
def export_file(request: HttpRequest, task_id: UUID) -> HttpResponse:
    """Send the file of a finished export."""
    task = _get_task(request, task_id)
    if task.state != entities.WRITTEN:
        raise Http404("no such file (any more)")
    return send_file(task)


assert {role for each in LAYOUTS.values() for role in each.roles} == set(SPREADSHEET_STAFF)
