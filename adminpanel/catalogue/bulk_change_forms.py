"""The forms of bulk changes of products: the selection, and a form for each act."""

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import CategoryField, category_choices
from adminpanel.catalogue.labels import STATUS_LABELS
from adminpanel.forms import short_input
from adminpanel.parameters import parse_id
from catalogue.bulk_acts import BulkAct
from catalogue.rules import MAX_PRICE
from catalogue.staff_search import STAFF_PAGE_LENGTH
from web.forms import Form

# A selection is sent as the list's filters or as the ticked products. The ticked ids are joined in one field,
# because the audit log keeps no field that is sent twice.
FILTER_FIELDS = ("q", "status", "category", "stock", "brand", "reduced", "bare")
TICKED, JOINED = "product", "products"


def list_selection_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the selection as hidden fields."""
    if data.get("all"):
        return [("all", "1"), *list_filter_fields(data)]
    return [(JOINED, ",".join(str(each) for each in list_ticked_ids(data)))]


def list_filter_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the list's filters that are set."""
    return [(name, str(data[name])) for name in FILTER_FIELDS if data.get(name)]


def list_ticked_ids(data: QueryDict) -> list[UUID]:
    """Return the ticked products, at most a page of the list. Texts that are no ids are left out."""
    sent = [*data.getlist(TICKED), *data.get(JOINED, "").split(",")]
    found = dict.fromkeys(parse_id(text) for text in sent[:STAFF_PAGE_LENGTH])
    return [each for each in found if each]


class BulkActForm(Form):
    """An act on each product. Each act has its own form, which its button names."""

    act = ""

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id=f"{self.act}-%s")

    def build_act(self) -> BulkAct:
        """Return the act of the valid form."""
        raise NotImplementedError

    def list_act_fields(self) -> list[tuple[str, str]]:
        """Return the submitted fields of the act, for hidden fields and addresses."""
        sent = ((name, str(self.data.get(name, ""))) for name in self.fields)
        return [("act", self.act), *((name, value) for name, value in sent if value)]


class PriceActForm(BulkActForm):
    """Lowers or raises prices."""

    act = "price"
    direction = forms.ChoiceField(
        label=gettext_lazy("Prices"),
        choices=[("down", gettext_lazy("Lower")), ("up", gettext_lazy("Raise"))],
    )
    by = forms.DecimalField(
        label=gettext_lazy("By"),
        min_value=Decimal("0.01"),
        max_value=Decimal(MAX_PRICE),
        decimal_places=2,
        widget=short_input(inputmode="decimal"),
        error_messages={
            "required": gettext_lazy("Enter by how much"),
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
        label=gettext_lazy("Round"),
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
    """Adds products to a category, or makes it their main one."""

    act = "category"
    category_id = CategoryField(label=gettext_lazy("Category"))
    place = forms.ChoiceField(
        label=gettext_lazy("What to do"),
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
    """Makes products drafts, active or archived."""

    act = "status"
    new_status = forms.ChoiceField(
        label=gettext_lazy("New status"), choices=list(STATUS_LABELS.items())
    )

    def build_act(self) -> BulkAct:
        return BulkAct("status", status=self.cleaned_data["new_status"])


class FeaturedActForm(BulkActForm):
    """Puts products on the front page, or takes them off."""

    act = "featured"
    featured = forms.ChoiceField(
        label=gettext_lazy("Show them on the front page"),
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))],
    )

    def build_act(self) -> BulkAct:
        return BulkAct("featured", featured=self.cleaned_data["featured"] == "yes")


ACT_FORMS: dict[str, type[BulkActForm]] = {
    form.act: form for form in (PriceActForm, CategoryActForm, StatusActForm, FeaturedActForm)
}
