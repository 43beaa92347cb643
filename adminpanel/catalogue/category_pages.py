"""The pages of categories: the rows of the tree; values and changes of a category in words."""

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from adminpanel.catalogue.category_forms import CategoryForm
from adminpanel.catalogue.fields import path_text
from adminpanel.catalogue.pins import describe_pins
from catalogue.entities import CategoryNode, CategoryTree, ListOrder
from catalogue.operations import MAX_DEPTH
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import count_products_in


@dataclass(frozen=True)
class CategoryLine:
    """A category's row in the list. `product_count` is None if there is no search index."""

    node: CategoryNode
    product_count: int | None

    @property
    def can_have_more_below(self) -> bool:
        return self.node.depth < MAX_DEPTH


def list_category_lines(tree: CategoryTree) -> list[CategoryLine]:
    """Return the rows of all categories, in the order of the tree."""
    counts = count_products(tree.nodes)
    return [CategoryLine(node, counts.get(node.category_id)) for node in tree.nodes]


def count_products(nodes: list[CategoryNode]) -> dict[UUID, int]:
    """Return the number of products per category id, including its subcategories; {} without a search index."""
    try:
        return count_products_in(nodes)
    except SearchIndexMissing:
        return {}


def describe_category(
    name: str, slug: str, parent: CategoryNode | None, description: str
) -> dict[str, str]:
    """Return the values of a category, keyed by the labels of its form."""
    labels = {name: str(field.label) for name, field in CategoryForm.base_fields.items()}
    return {
        labels["name"]: name,
        labels["slug"]: slug,
        labels["parent"]: path_text(parent) if parent else "",
        labels["description"]: description,
    }


def describe_node(node: CategoryNode) -> dict[str, str]:
    """Return the values of a saved category, keyed by the labels of its form."""
    return describe_category(node.name, node.slug, node.parent, node.description)


def describe_order(order: ListOrder) -> dict[str, str]:
    """Return a description of the order of a category's products, for the audit log."""
    return {"rule": order.rule, "pinned": describe_pins(order.pinned_ids)}


def describe_consequences(node: CategoryNode, slug: str, parent: CategoryNode | None) -> list[str]:
    """Return sentences about the consequences of another address or parent for a category."""
    found = []
    if parent is not node.parent:
        found.append(_describe_move(node, parent))
        left = [each.name for each in node.ancestors if not parent or each not in parent.path]
        joined = [each.name for each in (parent.path if parent else ()) if each not in node.path]
        if left:
            found.append(_("They are removed from: %(names)s.") % {"names": ", ".join(left)})
        if joined:
            found.append(_("They are added to: %(names)s.") % {"names": ", ".join(joined)})
        found.append(_("Lists update within a few minutes."))
    if slug != node.slug:
        found.append(
            _("Its address becomes %(new)s. %(old)s redirects there.")
            % {
                "new": reverse("category", args=(slug,)),
                "old": reverse("category", args=(node.slug,)),
            }
        )
    return found


def _describe_move(node: CategoryNode, parent: CategoryNode | None) -> str:
    where = path_text(parent) if parent else _("the top")
    below = len(node.subtree) - 1
    count = count_products([node]).get(node.category_id)
    if count is None:
        return _("All its products move with it to %(where)s.") % {"where": where}
    moved = ngettext(
        "%(count)s product moves with it to %(where)s.",
        "%(count)s products move with it to %(where)s.",
        count,
    ) % {"count": count, "where": where}
    if not below:
        return moved
    others = ngettext(
        "%(below)s subcategory moves, too.", "%(below)s subcategories move, too.", below
    ) % {"below": below}
    return f"{moved} {others}"
