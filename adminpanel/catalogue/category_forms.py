"""The forms of a category: its values, and the order of its products."""

from typing import Any, Self, cast
from uuid import UUID, uuid4

from django import forms
from django.http import QueryDict
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import path_text
from adminpanel.catalogue.pins import PinsChanged, PinsForm
from adminpanel.forms import text_input
from catalogue.entities import CategoryNode, CategoryTree, ListOrder
from catalogue.operations import (
    MAX_CATEGORY_DESCRIPTION,
    MAX_CATEGORY_NAME,
    MAX_DEPTH,
    MAX_PINNED_IN_CATEGORY,
    fingerprint_category,
)
from catalogue.queries import SORT_LABELS
from catalogue.rules import MAX_LENGTHS
from web.forms import Form


def _list_possible_parents(tree: CategoryTree, node: CategoryNode | None) -> list[CategoryNode]:
    """Return the categories that can be the parent of a category with its subtree."""
    own = node.subtree if node else []
    levels = max((each.depth for each in own), default=0) - node.depth + 1 if node else 1
    return [each for each in tree.nodes if each not in own and each.depth + levels <= MAX_DEPTH]


class CategoryOrderForm(PinsForm):
    """The order of a category's products. `shown_rule` is the rule that the page showed."""

    shown_rule = forms.CharField(widget=forms.HiddenInput, required=False, max_length=20)
    rule = forms.ChoiceField(
        label=gettext_lazy("The others follow"),
        choices=list(SORT_LABELS),
        error_messages={"invalid_choice": gettext_lazy("Choose an order")},
    )

    @classmethod
    def of(cls, order: ListOrder, data: QueryDict | None = None) -> Self:
        """Return the form of a category's saved order, or of what was sent."""
        form = cls(order.pinned_ids, MAX_PINNED_IN_CATEGORY, data)
        form.initial.update(rule=order.rule, shown_rule=order.rule)
        return form

    def apply_to_order(self, order: ListOrder) -> ListOrder:
        """Return an order changed by the valid form. Raises PinsChanged."""
        rule, seen = self.cleaned_data["rule"], self.cleaned_data["shown_rule"]
        if rule == seen:
            rule = order.rule
        elif order.rule not in (seen, rule):
            raise PinsChanged
        return ListOrder(rule, self.apply_to(order.pinned_ids))

    def rebased_to(self, order: ListOrder) -> Self:
        """Return the form for the present order, with what was typed."""
        return self.rebased(order.pinned_ids, shown_rule=order.rule)


class ParentField(forms.ChoiceField):
    """The category above this one. The field lists the possible parents, but accepts every category.

    The catalogue explains why a category that was moved meanwhile is not possible.
    """

    category_ids: frozenset[str] = frozenset()

    def valid_value(self, value: Any) -> bool:
        """Return whether the category exists, or none is meant."""
        return not value or str(value) in self.category_ids


class CategoryForm(Form):
    """A new or an existing category. `version` is the fingerprint that the page showed."""

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    category_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=MAX_CATEGORY_NAME, widget=text_input()
    )
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        required=False,
        max_length=MAX_LENGTHS["slug"],
        help_text=gettext_lazy(
            "The end of its page’s address. Leave it empty to have it made of the name."
        ),
        widget=text_input(autocapitalize="none", spellcheck="false"),
    )
    parent = ParentField(
        label=gettext_lazy("Below"),
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose a category")},
    )
    description = forms.CharField(
        label=gettext_lazy("Description"),
        required=False,
        max_length=MAX_CATEGORY_DESCRIPTION,
        help_text=gettext_lazy("One or two sentences above its products."),
        widget=forms.Textarea({"rows": 3}),
    )

    def __init__(
        self, tree: CategoryTree, node: CategoryNode | None, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        parent = cast(ParentField, self.fields["parent"])
        parent.category_ids = frozenset(map(str, tree.by_id))
        parent.choices = [
            ("", _("Nothing: it stands at the top")),
            *(
                (str(each.category_id), path_text(each))
                for each in _list_possible_parents(tree, node)
            ),
        ]

    @classmethod
    def of(cls, tree: CategoryTree, node: CategoryNode) -> Self:
        """Return the form of a saved category."""
        initial = {
            "version": fingerprint_category(node),
            "category_id": node.category_id,
            "name": node.name,
            "slug": node.slug,
            "parent": str(node.parent.category_id) if node.parent else "",
            "description": node.description,
        }
        return cls(tree, node, initial=initial)

    def clean_description(self) -> str:
        """Return the text with the line ends that are stored."""
        return "\n".join(self.cleaned_data["description"].splitlines())

    def clean(self) -> dict[str, Any]:
        """Derive an empty address from the name."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("name") and clean.get("slug") == "":
            slug = slugify(clean["name"])[: MAX_LENGTHS["slug"]].strip("-")
            clean["slug"] = slug or str(clean["category_id"])
        return clean

    @property
    def parent_id(self) -> UUID | None:
        """The parent's id, or None at the top."""
        parent = self.cleaned_data["parent"]
        return UUID(parent) if parent else None
