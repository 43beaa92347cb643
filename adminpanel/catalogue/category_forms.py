"""The forms of a category: one for its values, and one for the order of its products."""

from typing import Any, Self, cast
from uuid import UUID, uuid4

from django import forms
from django.http import QueryDict
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import path_text
from adminpanel.catalogue.pins import PinsChanged, PinsForm
from adminpanel.forms import choice_errors, text_input
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
    """Return the categories that may become the parent of a category, which moves with all its subcategories."""
    own = node.subtree if node else []
    levels = max((each.depth for each in own), default=0) - node.depth + 1 if node else 1
    return [each for each in tree.nodes if each not in own and each.depth + levels <= MAX_DEPTH]


class CategoryOrderForm(PinsForm):
    """The form that sets the order of a category's products. `shown_rule` is the sorting rule that the page showed."""

    shown_rule = forms.CharField(widget=forms.HiddenInput, required=False, max_length=20)
    rule = forms.ChoiceField(
        label=gettext_lazy("Sort other products by"),
        choices=list(SORT_LABELS),
        error_messages=choice_errors(gettext_lazy("Choose an order")),
    )

    @classmethod
    def of(cls, order: ListOrder, data: QueryDict | None = None) -> Self:
        """Return the form with the saved order of a category, or with the submitted data."""
        form = cls(order.pinned_ids, MAX_PINNED_IN_CATEGORY, data)
        form.initial.update(rule=order.rule, shown_rule=order.rule)
        return form

    def apply_to_order(self, order: ListOrder) -> ListOrder:
        """Return an order changed as the valid form says. Raises PinsChanged."""
        rule, seen = self.cleaned_data["rule"], self.cleaned_data["shown_rule"]
        if rule == seen:
            rule = order.rule
        elif order.rule not in (seen, rule):
            raise PinsChanged
        return ListOrder(rule, self.apply_to(order.pinned_ids))

    def rebased_to(self, order: ListOrder) -> Self:
        """Return the form for the category's present order. It keeps the typed values."""
        return self.rebased(order.pinned_ids, shown_rule=order.rule)


class ParentField(forms.ChoiceField):
    """A field for a category's parent. It lists the possible parents, but accepts every category.

    If a category was moved meanwhile and cannot be the parent, the catalogue gives the reason when it saves.
    """

    category_ids: frozenset[str] = frozenset()

    def valid_value(self, value: Any) -> bool:
        """Return whether the category exists, or the value means no parent."""
        return not value or str(value) in self.category_ids


class CategoryForm(Form):
    """The form of a new or existing category. `version` is the category's fingerprint when the page was shown."""

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
            "The last part of the page’s address. Leave empty to create it from the name."
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
        help_text=gettext_lazy("One or two sentences, shown above the products."),
        widget=forms.Textarea({"rows": 3}),
    )

    def __init__(
        self, tree: CategoryTree, node: CategoryNode | None, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        parent = cast(ParentField, self.fields["parent"])
        parent.category_ids = frozenset(map(str, tree.by_id))
        parent.choices = [
            ("", _("None (top level)")),
            *(
                (str(each.category_id), path_text(each))
                for each in _list_possible_parents(tree, node)
            ),
        ]

    @classmethod
    def of(cls, tree: CategoryTree, node: CategoryNode) -> Self:
        """Return the form filled in with the values of a saved category."""
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
        """Return the description with the line ends in which it is stored."""
        return "\n".join(self.cleaned_data["description"].splitlines())

    def clean(self) -> dict[str, Any]:
        """Derive the address from the name if the address was left empty."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("name") and clean.get("slug") == "":
            slug = slugify(clean["name"])[: MAX_LENGTHS["slug"]].strip("-")
            clean["slug"] = slug or str(clean["category_id"])
        return clean

    @property
    def parent_id(self) -> UUID | None:
        """The parent's id, or None for a category at the top."""
        parent = self.cleaned_data["parent"]
        return UUID(parent) if parent else None
