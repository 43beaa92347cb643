"""Describes imports and exports in words: their states, rows and results."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.access import current_member
from accounts.roles import is_allowed
from adminpanel.bulk_change_pages import RESULT_LABELS, RESULT_TONES
from adminpanel.file_states import STATE_LABELS
from spreadsheets.entities import (
    FAILED,
    FINISHED,
    LINKING,
    WAITING,
    Change,
    Fault,
    PlannedRow,
    SpreadsheetTask,
)
from spreadsheets.foreign.markdown import is_html
from spreadsheets.layouts import LAYOUTS, Layout

PLAN_LABELS = {
    "faulty": gettext_lazy("With errors"),
    "changed": gettext_lazy("With changes"),
    "new": gettext_lazy("New"),
    "unchanged": gettext_lazy("No change"),
}
PLAN_TONES = {"faulty": "warn", "changed": "calm", "new": "good", "unchanged": "plain"}
# The states of the pictures and products that a row names by their addresses.
LINK_LABELS = {WAITING: gettext_lazy("Pictures pending"), FAILED: gettext_lazy("Pictures missing")}
LINK_TONES = {WAITING: "calm", FAILED: "warn"}
# An import's row shows only its first changes, because a product can have two hundred variants.
MAX_SHOWN = 12
MAX_SHOWN_TEXT = 80


def list_layouts(request: HttpRequest, *, exported: bool = False) -> list[Layout]:
    """Return the spreadsheet layouts that the user's role may import, or only those that it may also export."""
    role = current_member(request).role
    return [
        each
        for each in LAYOUTS.values()
        if is_allowed(role, each.roles) and (each.lines or each.table or not exported)
    ]


@dataclass(frozen=True)
class TaskLine:
    """A row in the list of imports and exports."""

    task: SpreadsheetTask
    title: str
    who: str
    state: str
    tone: str


def task_line(task: SpreadsheetTask, who: str = "") -> TaskLine:
    """Return the list's row for an import or export."""
    state, tone = STATE_LABELS[task.state]
    return TaskLine(task, describe_task(task), who, str(state), tone)


def describe_task(task: SpreadsheetTask) -> str:
    """Return a description of an import or export in words."""
    text = _("Export: %(what)s") if task.is_export else _("Import: %(what)s")
    return text % {"what": LAYOUTS[task.layout].label}


@dataclass(frozen=True)
class RowLine:
    """A row of an import: its planned changes or its errors, its result, and the state of its pictures."""

    row: PlannedRow
    label: str
    tone: str
    changes: Sequence[Change]
    faults: Sequence[Fault]
    more_count: int
    link_label: str
    link_tone: str
    has_html: bool  # in a description, where shoppers would see it as text


def row_line(row: PlannedRow) -> RowLine:
    """Return the line for a row of an import, in words."""
    if row.result:
        label, tone = RESULT_LABELS[row.result], RESULT_TONES.get(row.result, "plain")
    else:
        label, tone = PLAN_LABELS[row.plan], PLAN_TONES[row.plan]
    all_faults = (*row.faults, *row.link_faults)
    all_changes = row.changes if row.plan != "faulty" else ()
    changes, faults = map(_shorten, all_changes[:MAX_SHOWN]), all_faults[:MAX_SHOWN]
    more = max(0, len(all_changes) - MAX_SHOWN) + max(0, len(all_faults) - MAX_SHOWN)
    links = row.links if row.result == "done" else ""
    link_label, link_tone = str(LINK_LABELS.get(links, "")), LINK_TONES.get(links, "")
    has_html = any(each.column == "description" and is_html(each.after) for each in all_changes)
    return RowLine(
        row, str(label), tone, list(changes), faults, more, link_label, link_tone, has_html
    )


def _shorten(change: Change) -> Change:
    before = None if change.before is None else _cut(change.before)
    return Change(change.line, change.sku, change.column, before, _cut(change.after))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_TEXT else f"{text[:MAX_SHOWN_TEXT]}…"


@dataclass(frozen=True)
class Tally:
    """The number of an import's rows that have a plan or a result, and the query that lists these rows.

    How many rows lack pictures is not counted: the number is None.
    """

    label: str
    count: int | None
    query: str
    is_chosen: bool


def list_tallies(task: SpreadsheetTask, plan: str, result: str, links: str) -> list[Tally]:
    """Return the numbers of an import's rows: for each plan, for each result, for pictures, and for all rows."""
    plans = [
        Tally(str(label), task.counts[name], f"plan={name}", plan == name)
        for name, label in PLAN_LABELS.items()
        if task.counts.get(name)
    ]
    results = [
        Tally(str(label), task.results[name], f"result={name}", result == name)
        for name, label in RESULT_LABELS.items()
        if name and task.results.get(name)
    ]
    pictures = []
    if task.layout == "products" and task.state in (LINKING, FINISHED):
        label = str(LINK_LABELS[FAILED])
        pictures.append(Tally(label, None, f"links={FAILED}", links == FAILED))
    whole = Tally(_("All"), sum(task.counts.values()), "", not (plan or result or links))
    return [whole, *plans, *results, *pictures]
