"""The staff's form about a category."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.entities import CategoryNode, CategoryTree
from catalogue.operations import (
    MAX_CATEGORY_DESCRIPTION,
    MAX_CATEGORY_NAME,
    MAX_DEPTH,
    fingerprint_category,
)
from catalogue.rules import MAX_LENGTHS
from web.forms import Form


def list_possible_parents(tree: CategoryTree, node: CategoryNode | None) -> list[CategoryNode]:
    """Return below which categories one may stand with all that is below it."""
    own = node.subtree if node else []
    levels = max((each.depth for each in own), default=0) - node.depth + 1 if node else 1
    return [each for each in tree.nodes if each not in own and each.depth + levels <= MAX_DEPTH]


def path_text(node: CategoryNode) -> str:
    """Return a category's name with those above it."""
    return " › ".join(each.name for each in node.path)


class CategoryForm(Form):
    """What a category is, a new one or one that is there. `version` is its fingerprint as the page has shown it."""

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    category_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=MAX_CATEGORY_NAME,
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        required=False,
        max_length=MAX_LENGTHS["slug"],
        help_text=gettext_lazy(
            "The end of its page’s address. Leave it empty to have it made of the name."
        ),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    parent = forms.ChoiceField(
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
        cast(forms.ChoiceField, self.fields["parent"]).choices = [
            ("", _("Nothing: it stands at the top")),
            *(
                (str(each.category_id), path_text(each))
                for each in list_possible_parents(tree, node)
            ),
        ]

    @classmethod
    def of(cls, tree: CategoryTree, node: CategoryNode) -> CategoryForm:
        """Return the form of a category as it is."""
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
        """Make an address of the name, if none was typed. Raises ValidationError."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("name") and clean.get("slug") == "":
            slug = slugify(clean["name"])[: MAX_LENGTHS["slug"]].strip("-")
            clean["slug"] = slug or str(clean["category_id"])
        return clean

    @property
    def parent_id(self) -> UUID | None:
        """Below which category it shall stand, None at the top."""
        parent = self.cleaned_data["parent"]
        return UUID(parent) if parent else None
