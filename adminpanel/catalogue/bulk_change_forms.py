"""The forms of bulk changes of products: the selection of products, and a form for each kind of change."""

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import CategoryField, category_choices
from adminpanel.catalogue.labels import STATUS_LABELS
from adminpanel.forms import choice_errors, short_input
from adminpanel.parameters import parse_id
from catalogue.bulk_acts import BulkAct
from catalogue.rules import MAX_PRICE
from catalogue.staff_search import STAFF_PAGE_LENGTH
from web.forms import Form

# A form sends its selection as the filters of the product list, or as the ids of the ticked products. These ids are
# joined in one field, because the audit log leaves out fields that are sent twice.
FILTER_FIELDS = ("q", "status", "category", "stock", "brand", "reduced", "bare", "no_alt")
TICKED, JOINED = "product", "products"


def list_selection_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the submitted selection of products as hidden fields."""
    if data.get("all"):
        return [("all", "1"), *list_filter_fields(data)]
    return [(JOINED, ",".join(str(each) for each in list_ticked_ids(data)))]


def list_filter_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the filters of the product list that are set in a form."""
    return [(name, str(data[name])) for name in FILTER_FIELDS if data.get(name)]


def list_ticked_ids(data: QueryDict) -> list[UUID]:
    """Return the ids of the ticked products, at most as many as a page lists. Texts that are no ids are left out."""
    sent = [*data.getlist(TICKED), *data.get(JOINED, "").split(",")]
    found = dict.fromkeys(parse_id(text) for text in sent[:STAFF_PAGE_LENGTH])
    return [each for each in found if each]


class BulkActForm(Form):
    """The base of the forms for the kinds of bulk change (acts). The button of a form sends the name of its act."""

    act = ""

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id=f"{self.act}-%s")

    def build_act(self) -> BulkAct:
        """Return the act that the valid form describes."""
        raise NotImplementedError

    def list_act_fields(self) -> list[tuple[str, str]]:
        """Return the submitted fields that describe the act, for hidden fields and addresses."""
        sent = ((name, str(self.data.get(name, ""))) for name in self.fields)
        return [("act", self.act), *((name, value) for name, value in sent if value)]


class PriceActForm(BulkActForm):
    """The form that lowers or raises the prices of products."""

    act = "price"
    direction = forms.ChoiceField(
        label=gettext_lazy("Price change"),
        choices=[("down", gettext_lazy("Lower")), ("up", gettext_lazy("Raise"))],
    )
    by = forms.DecimalField(
        label=gettext_lazy("Amount"),
        min_value=Decimal("0.01"),
        max_value=Decimal(MAX_PRICE),
        decimal_places=2,
        widget=short_input(inputmode="decimal"),
        error_messages={
            "required": gettext_lazy("Enter an amount"),
            "invalid": gettext_lazy("Enter a number, such as 10"),
            "min_value": gettext_lazy("Enter a number above 0"),
            "max_value": gettext_lazy("Enter a number of %(limit_value)s at most"),
            "max_decimal_places": gettext_lazy("Enter at most two decimal places"),
        },
    )
    unit = forms.ChoiceField(
        label=gettext_lazy("Unit"),
        choices=[("percent", gettext_lazy("per cent")), ("amount", gettext_lazy("an amount"))],
    )
    ending = forms.ChoiceField(
        label=gettext_lazy("Rounding"),
        choices=[
            ("cent", gettext_lazy("to a cent")),
            ("90", gettext_lazy("to end in .90")),
            ("99", gettext_lazy("to end in .99")),
        ],
    )
    cross_out = forms.BooleanField(
        label=gettext_lazy("Cross out the former price, as high as the law allows"), required=False
    )

    def clean(self) -> dict[str, Any]:
        """Require a reduction below 100 per cent."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        is_lowered = (clean.get("direction"), clean.get("unit")) == ("down", "percent")
        if is_lowered and clean.get("by", 0) >= 100:
            self.add_error("by", _("Lower prices by less than 100 per cent"))
        return clean

    def build_act(self) -> BulkAct:
        clean = self.cleaned_data
        is_lowered = clean["direction"] == "down"
        return BulkAct(
            clean["unit"],
            by=str(-clean["by"] if is_lowered else clean["by"]),
            ending="" if clean["ending"] == "cent" else clean["ending"],
            cross_out=clean["cross_out"] and is_lowered,
        )


class CategoryActForm(BulkActForm):
    """The form that adds products to a category, or makes it their main category."""

    act = "category"
    category_id = CategoryField(label=gettext_lazy("Category"))
    place = forms.ChoiceField(
        label=gettext_lazy("Action"),
        choices=[
            ("category", gettext_lazy("Add them to it")),
            ("main_category", gettext_lazy("Make it their main category")),
        ],
    )

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        category = cast(forms.ChoiceField, self.fields["category_id"])
        category.choices = [("", _("Choose a category")), *category_choices()]

    def build_act(self) -> BulkAct:
        clean = self.cleaned_data
        return BulkAct(clean["place"], category_id=clean["category_id"])


class StatusActForm(BulkActForm):
    """The form that makes products drafts, active or archived."""

    act = "status"
    new_status = forms.ChoiceField(
        label=gettext_lazy("New status"), choices=list(STATUS_LABELS.items())
    )

    def build_act(self) -> BulkAct:
        return BulkAct("status", status=self.cleaned_data["new_status"])


class FeaturedActForm(BulkActForm):
    """The form that puts products on the front page, or removes them from it."""

    act = "featured"
    featured = forms.ChoiceField(
        label=gettext_lazy("Show them on the front page"),
        error_messages=choice_errors(gettext_lazy("Choose yes or no")),
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))],
    )

    def build_act(self) -> BulkAct:
        return BulkAct("featured", featured=self.cleaned_data["featured"] == "yes")


ACT_FORMS: dict[str, type[BulkActForm]] = {
    form.act: form for form in (PriceActForm, CategoryActForm, StatusActForm, FeaturedActForm)
}
