"""The staff's forms about many products at once: which ones, and what is done to them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.product_forms import STATUS_LABELS, CategoryField, category_choices
from catalogue.bulk_acts import BulkAct
from catalogue.rules import MAX_PRICE
from catalogue.search import STAFF_PAGE_LENGTH
from web.forms import Form

# What stands in the address of a selection: the list's own filters, or the ticked products, which from then on are one field:
# the audit log takes none that is sent twice.
FILTER_FIELDS = ("q", "status", "category", "stock", "brand", "reduced", "bare")
TICKED, JOINED = "product", "products"


def list_selection_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the fields that say which products are selected, for hidden fields and addresses."""
    if data.get("all"):
        return [("all", "1"), *list_filter_fields(data)]
    return [(JOINED, ",".join(str(each) for each in list_ticked_ids(data)))]


def list_filter_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the list's filters that are set."""
    return [(name, str(data[name])) for name in FILTER_FIELDS if data.get(name)]


def list_ticked_ids(data: QueryDict) -> list[UUID]:
    """Return the products that are ticked, a page of the list at most. What is no id is left out."""
    sent = [*data.getlist(TICKED), *data.get(JOINED, "").split(",")]
    found = dict.fromkeys(_id(text) for text in sent[:STAFF_PAGE_LENGTH])
    return [each for each in found if each]


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


class BulkActForm(Form):
    """What is done to each of the products. `act` is the button that was used; each part of the form has one of its own."""

    act = forms.ChoiceField(
        choices=[(name, name) for name in ("price", "category", "status", "featured")]
    )
    direction = forms.ChoiceField(
        label=gettext_lazy("Prices"),
        required=False,
        choices=[("down", gettext_lazy("Lower")), ("up", gettext_lazy("Raise"))],
    )
    by = forms.DecimalField(
        label=gettext_lazy("By"),
        required=False,
        min_value=Decimal("0.01"),
        max_value=Decimal(MAX_PRICE),
        decimal_places=2,
        widget=forms.TextInput(
            {"class": "input--short", "inputmode": "decimal", "autocomplete": "off"}
        ),
        error_messages={
            "invalid": gettext_lazy("Enter a number, such as 10"),
            "min_value": gettext_lazy("Enter a number above 0"),
            "max_value": gettext_lazy("Enter a number of %(limit_value)s at most"),
            "max_decimal_places": gettext_lazy("Enter at most two decimal places"),
        },
    )
    unit = forms.ChoiceField(
        label=gettext_lazy("Unit"),
        required=False,
        choices=[
            ("percent", gettext_lazy("per cent")),
            ("amount", gettext_lazy("an amount")),
        ],
    )
    ending = forms.ChoiceField(
        label=gettext_lazy("Round"),
        required=False,
        choices=[
            ("", gettext_lazy("to a cent")),
            ("90", gettext_lazy("to end in .90")),
            ("99", gettext_lazy("to end in .99")),
        ],
    )
    cross_out = forms.BooleanField(
        label=gettext_lazy("Cross out the former price, as high as the law allows"), required=False
    )
    category_id = CategoryField(label=gettext_lazy("Category"), required=False)
    place = forms.ChoiceField(
        label=gettext_lazy("What to do"),
        required=False,
        choices=[
            ("category", gettext_lazy("Add them to it")),
            ("main_category", gettext_lazy("Make it their main category")),
        ],
    )
    new_status = forms.ChoiceField(
        label=gettext_lazy("New status"), required=False, choices=list(STATUS_LABELS.items())
    )
    featured = forms.ChoiceField(
        label=gettext_lazy("Show them on the front page"),
        required=False,
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        category = cast(forms.ChoiceField, self.fields["category_id"])
        category.choices = [("", _("Choose a category")), *category_choices()]

    def clean(self) -> dict[str, Any]:
        """See that what the act needs was entered."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if clean.get("act") == "price" and "by" not in self.errors:
            if not clean.get("by"):
                self.add_error("by", _("Enter by how much"))
            elif self._lowers_to_nothing(clean):
                self.add_error("by", _("Lower prices by less than 100 per cent"))
        if clean.get("act") == "category" and clean.get("category_id") == "":
            self.add_error("category_id", _("Choose a category"))
        return clean

    @staticmethod
    def _lowers_to_nothing(clean: dict[str, Any]) -> bool:
        is_percent = clean.get("unit") != "amount" and clean.get("direction") != "up"
        return is_percent and clean["by"] >= 100

    def build_act(self) -> BulkAct:
        """Return the act that the valid form says."""
        clean = self.cleaned_data
        if clean["act"] == "price":
            sign = "" if clean["direction"] == "up" else "-"
            return BulkAct(
                clean["unit"] or "percent",
                by=f"{sign}{clean['by']}",
                ending=clean["ending"],
                cross_out=clean["cross_out"] and bool(sign),
            )
        if clean["act"] == "category":
            return BulkAct(clean["place"] or "category", category_id=clean["category_id"])
        if clean["act"] == "status":
            return BulkAct("status", status=clean["new_status"] or "draft")
        return BulkAct("featured", featured=clean["featured"] != "no")

    def list_act_fields(self) -> list[tuple[str, str]]:
        """Return the fields of the act as they were sent, for hidden fields and addresses."""
        names = {
            "price": ("direction", "by", "unit", "ending", "cross_out"),
            "category": ("category_id", "place"),
            "status": ("new_status",),
            "featured": ("featured",),
        }[self.cleaned_data["act"]]
        sent = ((name, self.data.get(name, "")) for name in ("act", *names))
        return [(name, value) for name, value in sent if value]
