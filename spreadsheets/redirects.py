"""Files of redirects from addresses of a former shop, and the form of one, which staff fill in on a page, too."""

from collections.abc import Sequence
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
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import Decision, RowForm, Values, plan_forms, read_forms
from web.types import StrOrPromise

TOO_MANY = gettext_lazy("There are too many redirects. Remove some first.")


def _address_field(label: StrOrPromise, help_text: StrOrPromise) -> forms.CharField:
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
    has_room = not is_full(rows[0].key)

    def decide(row: FileRow, values: Sequence[Values], _found: object) -> Decision:
        made, former = values[0]["redirect"], values[0]["former"]
        if former:
            return "unchanged" if former.target == made.target else "changed", former.address
        return ("new", "") if has_room else [Fault(row.line, "old_address", str(TOO_MANY))]

    return plan_forms(rows, RedirectForm, tuple, decide)


def apply_redirect(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Save a redirect; a repeat changes nothing. The label of its row is its address when the file was read.

    Return the result, and the reason for it. Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, RedirectForm)
    made, former = said["redirect"], said["former"]
    if former and former.target != made.target and former.address != row.label:
        return "changed", _("It leads to %(address)s now.") % {"address": former.address}
    save_redirect(made, current_time())
    return "done", ""
