"""Files of redirects from addresses of a former shop, and the form of one, which staff fill in on a page, too."""

from collections.abc import Sequence
from uuid import UUID

from django.utils.translation import gettext_lazy

from catalogue.errors import RedirectChanged, RedirectRefused
from catalogue.menu_links import find_target_url
from catalogue.old_addresses import normalize_path
from catalogue.operations.redirects import (
    get_redirect,
    parse_new_address,
    parse_old_address,
    save_redirect,
)
from spreadsheets.entities import FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import CellField, Decision, RowForm, Values, read_forms


class RedirectForm(RowForm):
    """A redirect from the path of an address of a former shop to a target in this one."""

    examples = {"old_address": "/pages/about-us", "new_address": "/help/"}
    old_address = CellField(
        parse_old_address,
        most=500,
        required=True,
        label=gettext_lazy("Old address"),
        help_text=gettext_lazy("In the former shop. Its host, query and capitals don’t matter."),
    )
    new_address = CellField(
        parse_new_address,
        most=500,
        required=True,
        label=gettext_lazy("New address"),
        help_text=gettext_lazy("A page of this shop, such as /c/mugs/."),
    )


def redirect_key(cells: dict[str, str]) -> str:
    """Return the key by which a line is a duplicate of another."""
    return normalize_path(cells["old_address"]) or cells["old_address"]


def decide_redirect(_row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a line of a file of redirects does, with the present target's address. Raises CassandraUnavailable."""
    former = get_redirect(values[0]["old_address"])
    if not former:
        return "new", ""
    is_same = former == values[0]["new_address"]
    return "unchanged" if is_same else "changed", find_target_url(former)


def apply_redirect(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Save a redirect; a repeat changes nothing. The label of its row is its address when the file was read.

    Return the result, and the reason for it. Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, RedirectForm)
    path, target = said["old_address"], said["new_address"]
    former = get_redirect(path)
    try:
        if former not in ("", target) and (address := find_target_url(former)) != row.label:
            raise RedirectChanged(former, address)
        save_redirect(path, target, former)
    except RedirectChanged as changed:
        return "changed", str(changed)
    except RedirectRefused as refused:
        return "refused", str(refused)
    return "done", ""
