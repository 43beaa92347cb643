"""The form that filters the list of products."""

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import category_choices
from adminpanel.catalogue.labels import AVAILABILITY_LABELS, SORT_LABELS, STATUS_LABELS
from adminpanel.forms import text_input
from catalogue.search_index import SearchIndexMissing
from catalogue.staff_search import (
    STAFF_DEEPEST,
    STAFF_PAGE_LENGTH,
    StaffFilters,
    list_product_ids_for_staff,
)
from web.forms import FilterForm
from web.types import StrOrPromise


@dataclass(frozen=True)
class ProductSelection:
    """The validated filters and sort order of the list of products."""

    query: str
    filters: StaffFilters
    sort: str
    page: int

    @property
    def offset(self) -> int:
        return (self.page - 1) * STAFF_PAGE_LENGTH


class ProductFilterForm(FilterForm):
    """The form that filters and sorts the list of products."""

    PLACES = frozenset({"sort", "page"})

    q = forms.CharField(
        label=gettext_lazy("Name, SKU or brand"),
        required=False,
        max_length=100,
        widget=text_input(type="search", placeholder=gettext_lazy("Name, SKU or brand")),
    )
    status = forms.ChoiceField(
        label=gettext_lazy("Status"),
        required=False,
        choices=[("", gettext_lazy("Any")), *STATUS_LABELS.items()],
    )
    category = forms.ChoiceField(label=gettext_lazy("Category"), required=False)
    stock = forms.ChoiceField(
        label=gettext_lazy("Stock"),
        required=False,
        choices=[("", gettext_lazy("Any")), *AVAILABILITY_LABELS.items()],
    )
    brand = forms.CharField(label=gettext_lazy("Brand"), required=False, max_length=100)
    sort = forms.ChoiceField(
        label=gettext_lazy("Sort by"), required=False, choices=list(SORT_LABELS.items())
    )
    reduced = forms.BooleanField(label=gettext_lazy("On sale"), required=False)
    bare = forms.BooleanField(label=gettext_lazy("Without a picture"), required=False)
    no_alt = forms.BooleanField(label=gettext_lazy("Alt text to confirm"), required=False)
    page = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=STAFF_DEEPEST // STAFF_PAGE_LENGTH,
        widget=forms.HiddenInput,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="filter-%s", **kwargs)
        category = cast(forms.ChoiceField, self.fields["category"])
        category.choices = [("", _("Any")), *category_choices()]

    def parse_selection(self) -> ProductSelection:
        """Return the validated filters and sort order. Do not call this if the form `is_refused`."""
        self.is_valid()
        clean = self.cleaned_data
        category = clean.get("category")
        return ProductSelection(
            clean.get("q", ""),
            StaffFilters(
                status=clean.get("status", ""),
                category_id=UUID(category) if category else None,
                brand=clean.get("brand", ""),
                availability=clean.get("stock", ""),
                without_picture=clean.get("bare", False),
                without_alt=clean.get("no_alt", False),
                reduced=clean.get("reduced", False),
            ),
            clean.get("sort") or "changed",
            clean.get("page") or 1,
        )

    def list_tabs(self) -> list[tuple[StrOrPromise, bool, str]]:
        """Return a tab for each status: its label, whether it is current, and its query."""
        kept = {
            name: self.data[name] for name in self.fields if self.data.get(name) and name != "page"
        }
        return [
            (label, status == kept.get("status", ""), urlencode(kept | {"status": status}))
            for status, label in (("", gettext_lazy("All")), *STATUS_LABELS.items())
        ]

    def list_product_ids(self) -> tuple[list[UUID], int]:
        """Return the ids of the listed products (at most STAFF_DEEPEST), and their number. A refused form lists none."""
        if self.is_refused:
            return [], 0
        selection = self.parse_selection()
        try:
            return list_product_ids_for_staff(selection.query, selection.filters)
        except SearchIndexMissing:
            return [], 0
