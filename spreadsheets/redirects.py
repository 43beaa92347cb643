"""Files of redirects from addresses of a former shop, and the form of one, which staff fill in on a page, too."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import current_time
from catalogue.errors import RedirectRefused
from catalogue.old_addresses import normalize_path
from catalogue.operations.redirects import get_redirect, is_full, make_redirect, save_redirect
from spreadsheets.entities import Change, Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import RowForm, list_faults, read_forms

TOO_MANY = gettext_lazy("There are too many redirects. Remove some first.")


def _address_field(label: Any, help_text: Any) -> forms.CharField:
    return forms.CharField(
        label=label,
        max_length=500,
        help_text=help_text,
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class RedirectForm(RowForm):
    """A redirect: an address of a former shop, and the address of the shop to which it leads.

    The clean data also has the `redirect`, and as `former` the redirect that its path has now.
    """

    examples = {"old_address": "/pages/about-us", "new_address": "/help/"}
    old_address = _address_field(
        gettext_lazy("Old address"),
        gettext_lazy("In the former shop. Its host, query and capitals don’t matter."),
    )
    new_address = _address_field(
        gettext_lazy("New address"), gettext_lazy("A page of this shop, such as /c/mugs/.")
    )

    def clean(self) -> dict[str, Any]:
        """Return the clean data with the redirects. Raises CassandraUnavailable."""
        clean: dict[str, Any] = super().clean() or {}
        if self.errors:
            return clean
        try:
            redirect = make_redirect(clean["old_address"], clean["new_address"])
        except RedirectRefused as refused:
            self.add_error(refused.field, str(refused))
            return clean
        return clean | {"redirect": redirect, "former": get_redirect(redirect.path)}


def redirect_key(cells: dict[str, str]) -> str:
    """Return the key by which a line is a duplicate of another."""
    return normalize_path(cells["old_address"]) or cells["old_address"]


def plan_redirects(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of redirects. Raises CassandraUnavailable."""
    planned = [_plan(row) for row in rows]
    new = [row for row in planned if row.plan == "new"]
    if not new or not is_full(new[0].key):
        return planned
    return [
        replace(row, plan="faulty", changes=(), faults=(Fault(row.line, "", str(TOO_MANY)),))
        if row.plan == "new"
        else row
        for row in planned
    ]


def _plan(row: FileRow) -> PlannedRow:
    line, cells = row.lines[0]
    form = RedirectForm(cells)
    if faults := (*row.faults, *list_faults(line, form)):
        return PlannedRow(row.position, line, row.key, "faulty", faults=faults)
    made, former = form.cleaned_data["redirect"], form.cleaned_data["former"]
    if former and former.target == made.target:
        return PlannedRow(row.position, line, row.key, "unchanged")
    changes = (
        Change(line, "", "old_address", None, made.path),
        Change(line, "", "new_address", former.address if former else None, made.address),
    )
    plan = "changed" if former else "new"
    return PlannedRow(row.position, line, row.key, plan, changes=changes)


def apply_redirect(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Save a redirect; a repeat changes nothing. Return the result, and the reason for it.

    Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, RedirectForm)
    made, former = said["redirect"], said["former"]
    planned = row.changes[-1].before
    if former and former.target != made.target and former.address != planned:
        return "changed", _("It leads to %(address)s now.") % {"address": former.address}
    save_redirect(made, current_time())
    return "done", ""
