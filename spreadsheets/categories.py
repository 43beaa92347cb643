"""Files of categories: they are created parents first, before the products of another installation come."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID, uuid5

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.entities import CategoryNode
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import save_category
from catalogue.operations.categories import MAX_CATEGORY_DESCRIPTION, MAX_CATEGORY_NAME
from catalogue.queries import get_category_tree_at_quorum
from catalogue.rules import MAX_LENGTHS, SLUG
from spreadsheets.entities import FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.errors import CellRefused
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    lines_field,
    read_forms,
)


def _parse_slug(text: str) -> str:
    if not SLUG.fullmatch(text):
        raise CellRefused(
            _("Enter lower-case letters, digits and single hyphens, such as oak-stools.")
        )
    return text


class CategoryForm(RowForm):
    """A line of a file of categories."""

    examples = {"category": "mugs", "name": gettext_lazy("Mugs"), "parent": "kitchen"}
    category = CellField(
        _parse_slug,
        most=MAX_LENGTHS["slug"],
        required=True,
        help_text=gettext_lazy("The last part of its address."),
    )
    name = line_field("", MAX_CATEGORY_NAME, required=True)
    parent = line_field(
        gettext_lazy("The category above it, from the shop or a line further up."),
        MAX_LENGTHS["slug"],
    )
    description = lines_field("", MAX_CATEGORY_DESCRIPTION)


def category_lines() -> Iterator[list[str]]:
    """Yield a line for each category, parents first, in the order of the menu. Raises CassandraUnavailable."""

    def walk(nodes: Iterable[CategoryNode], parent: str) -> Iterator[list[str]]:
        for node in nodes:
            yield [node.slug, node.name, parent, node.description]
            yield from walk(node.children, node.slug)

    return walk(get_category_tree_at_quorum().roots, "")


def decide_category(_row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a line of a file of categories does. A category that exists stays as it is. Raises CassandraUnavailable."""
    node = get_category_tree_at_quorum().by_slug.get(values[0]["category"])
    return ("unchanged", node.name) if node else ("new", values[0]["name"])


def apply_category(task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Create a category, once. Return the result, and the reason for it.

    Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    (said,) = read_forms(row, CategoryForm)
    tree, slug = get_category_tree_at_quorum(), said["category"]
    parent = tree.by_slug.get(said["parent"])
    if said["parent"] and parent is None:
        text = _("There is no category with the address “%(slug)s”.")
        return "refused", text % {"slug": said["parent"]}
    try:
        if slug not in tree.by_slug:
            save_category(
                category_id=uuid5(task.task_id, slug),
                slug=slug,
                name=said["name"],
                parent_id=parent.category_id if parent else None,
                description=said["description"],
            )
    except (CategoryRefused, CategoryChanged) as refused:
        return "refused", str(refused)
    return "done", ""
