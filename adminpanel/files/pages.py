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
from spreadsheets.entities import Change, Fault, PlannedRow, SpreadsheetTask
from spreadsheets.layouts import LAYOUTS, Layout

PLAN_LABELS = {
    "faulty": gettext_lazy("With errors"),
    "changed": gettext_lazy("With changes"),
    "new": gettext_lazy("New"),
    "unchanged": gettext_lazy("No change"),
}
PLAN_TONES = {"faulty": "warn", "changed": "calm", "new": "good", "unchanged": "plain"}
# An import's row shows only its first changes, because a product can have two hundred variants.
MAX_SHOWN = 12
MAX_SHOWN_TEXT = 80


def list_layouts(request: HttpRequest) -> list[Layout]:
    """Return the spreadsheet layouts that the user's role may import or export."""
    role = current_member(request).role
    return [each for each in LAYOUTS.values() if is_allowed(role, each.roles)]


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
    """A row of an import: its planned changes or its errors, and its result."""

    row: PlannedRow
    label: str
    tone: str
    changes: Sequence[Change]
    faults: Sequence[Fault]
    more_count: int


def row_line(row: PlannedRow) -> RowLine:
    """Return the line for a row of an import, in words."""
    if row.result:
        label, tone = RESULT_LABELS[row.result], RESULT_TONES.get(row.result, "plain")
    else:
        label, tone = PLAN_LABELS[row.plan], PLAN_TONES[row.plan]
    changes, faults = map(_shorten, row.changes[:MAX_SHOWN]), row.faults[:MAX_SHOWN]
    more = max(0, len(row.changes) - MAX_SHOWN) + max(0, len(row.faults) - MAX_SHOWN)
    return RowLine(row, str(label), tone, list(changes), faults, more)


def _shorten(change: Change) -> Change:
    before = None if change.before is None else _cut(change.before)
    return Change(change.line, change.sku, change.column, before, _cut(change.after))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_TEXT else f"{text[:MAX_SHOWN_TEXT]}…"


@dataclass(frozen=True)
class Tally:
    """The number of an import's rows that have a plan or a result, and the query that lists these rows."""

    label: str
    count: int
    query: str
    is_chosen: bool


def list_tallies(task: SpreadsheetTask, plan: str, result: str) -> list[Tally]:
    """Return the numbers of an import's rows: for each plan, for each result, and for all rows."""
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
    whole = Tally(_("All"), sum(task.counts.values()), "", not (plan or result))
    return [whole, *plans, *results]
