"""The base of all forms of settings, and the forms of warehouses, terms and rules for reviews."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Self, TypeVar, cast
from uuid import uuid4

from django import forms
from django.utils.text import slugify
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.addresses import COUNTRIES
from adminpanel.forms import split_lines
from adminpanel.settings.fields import count_field, day_field
from inventory.warehouses import WAREHOUSE, Warehouse
from mail.forms import email_field
from moderation.rules import MAX_WORD, MAX_WORDS, REVIEW_RULES, ReviewRules
from shop_settings.kinds import SettingKind
from shop_settings.terms import TERMS, Terms
from web.forms import EntityForm
from web.types import StrOrPromise

T = TypeVar("T")


class SettingForm(EntityForm[T]):
    """The base of the forms of settings. `version` is the fingerprint that the page showed, or '' for a new setting."""

    # The page makes the key of a new setting. So a form that is sent twice adds only one.
    OWN_FIELDS = frozenset({"key"})
    kind: SettingKind[T]
    # The field of the setting that contains its key, or "" if it has none.
    key_field = "key"
    template: str
    saved_text: StrOrPromise = gettext_lazy("Saved. Shoppers see it within seconds.")
    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)

    def __init__(self, setting: T | None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data, initial={"version": self.kind.fingerprint(setting)})

    def renew(self, setting: T) -> Self:
        """Return this form for another state of its setting, without input."""
        return type(self)(setting)

    def build_setting(self, key: str) -> T:
        """Return the setting that the valid form describes."""
        return self.build(**({self.key_field: key} if self.key_field else {}))

    def describe(self) -> dict[str, str]:
        """Return the setting's values in words, keyed by label."""
        return {
            str(field.label): _describe_value(field.value(), field.field)
            for field in self.visible_fields()
        }


def _describe_value(value: Any, field: forms.Field) -> str:
    if isinstance(field, forms.BooleanField):
        return _("Yes") if value in (True, "on", "True", "true") else _("No")
    if isinstance(field, forms.MultipleChoiceField):
        labels = dict(cast(Any, field.choices))
        return ", ".join(sorted(str(labels.get(each, each)) for each in value or ()))
    return "" if value is None else str(value)


class LinesForm(SettingForm[T]):
    """The base of forms with several lines. Each column's field is named `<column>_<number>`. An emptied line is removed."""

    columns: tuple[str, ...]
    max_lines: int
    spare_lines = 1

    def __init__(self, setting: T, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        # All submitted lines get fields, even if the saved setting has fewer lines now.
        first = self.columns[0]
        sent = [line + 1 for line in range(self.max_lines) if data and f"{first}_{line}" in data]
        saved = len(self.list_lines(setting))
        self.numbers = range(max(min(saved + self.spare_lines, self.max_lines), *sent, 0))
        for number in self.numbers:
            for column in self.columns:
                self.fields[f"{column}_{number}"] = self.make_field(column, number + 1)

    def list_lines(self, entity: T) -> list[list[Any]]:
        """Return the lines of a saved setting, each with the values of the columns."""
        raise NotImplementedError

    def make_field(self, column: str, number: int) -> forms.Field:
        """Return the field for a column in a line. The first line has the number 1."""
        raise NotImplementedError

    def get_initial_values(self, entity: T) -> dict[str, Any]:
        return super().get_initial_values(entity) | {
            f"{column}_{number}": value
            for number, values in enumerate(self.list_lines(entity))
            for column, value in zip(self.columns, values, strict=True)
        }

    @property
    def lines(self) -> list[list[forms.BoundField]]:
        """The fields of the form, grouped by line."""
        return [[self[f"{column}_{number}"] for column in self.columns] for number in self.numbers]

    def list_typed_lines(self) -> list[list[Any]]:
        """Return the values in the lines of the valid form. Empty lines are left out."""
        lines = [[self.cleaned_data[field.name] for field in line] for line in self.lines]
        return [line for line in lines if line[0] is not None]

    def clean(self) -> dict[str, Any]:
        """Require that all fields of a line are filled in, or none."""
        clean = cast(dict[str, Any], super().clean())
        for line in self.lines:
            names = [field.name for field in line]
            empty = [name for name in names if clean.get(name) is None and name not in self.errors]
            if len(empty) < len(names):
                for name in empty:
                    self.add_error(name, _("Fill in the whole line, or clear all of it"))
        return clean


class WarehouseForm(SettingForm[Warehouse]):
    """The form of a warehouse. The warehouse's key is derived from its first name."""

    kind, entity_class = WAREHOUSE, Warehouse
    template = "adminpanel/settings/warehouse.html"
    name = forms.CharField(label=gettext_lazy("Name"), max_length=40)
    country = forms.ChoiceField(
        label=gettext_lazy("Country"),
        choices=list(COUNTRIES.items()),
        error_messages={"invalid_choice": gettext_lazy("Choose a country")},
    )
    position = count_field(
        gettext_lazy("Priority"),
        gettext_lazy(
            "Orders ship in as few parcels as possible. If several warehouses qualify, the lowest number ships."
        ),
        most=99,
    )
    is_open = forms.BooleanField(
        label=gettext_lazy("Open"),
        required=False,
        initial=True,
        help_text=gettext_lazy("A closed warehouse gets no new stock."),
    )

    def clean_name(self) -> str:
        """Require a name from which a key can be derived."""
        name = str(self.cleaned_data["name"])
        if not slugify(name):
            raise forms.ValidationError(_("Enter a name with letters or digits"))
        return name


class TermsForm(SettingForm[Terms]):
    """The form of the shop's terms, which are valid from a given day on."""

    kind, entity_class = TERMS, Terms
    template = "adminpanel/settings/terms_detail.html"
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    valid_from = day_field(
        gettext_lazy("Valid from"),
        gettext_lazy("Valid until later terms start. The first terms have no start day."),
    )
    seller_name = forms.CharField(label=gettext_lazy("Seller"), max_length=100)
    seller_address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=400,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy(
            "Shown on invoices and used for returns: street, postcode and town, country, each on its own line."
        ),
    )
    vat_id = forms.CharField(label=gettext_lazy("VAT number"), max_length=30)
    email = email_field()
    return_days = count_field(
        gettext_lazy("Days to return"),
        gettext_lazy("Days after arrival in which an item can be returned."),
        most=3650,
    )
    withdrawal_days = count_field(
        gettext_lazy("Days to withdraw"),
        gettext_lazy("At least 14 by law, counted from the arrival of the last item."),
        least=14,
        most=3650,
    )
    refund_code_above = count_field(
        gettext_lazy("Refund limit without a code"),
        gettext_lazy(
            "In euros: in total for an order, for a bulk edit, and for one member of staff within an hour."
        ),
        most=1_000_000,
    )
    unpaid_units_of_mailbox = count_field(
        gettext_lazy("Unpaid units per email address"),
        gettext_lazy("Limit of units on orders that aren’t paid yet. 0 means no limit."),
        most=1_000_000,
    )
    unpaid_units_of_network = count_field(
        gettext_lazy("Unpaid units per network"), gettext_lazy("0 means no limit."), most=1_000_000
    )

    def __init__(self, setting: Terms | None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        self.fields["email"].help_text = _(
            "Shown on the help page. Shoppers’ emails go to this address."
        )

    def get_initial_values(self, entity: Terms) -> dict[str, Any]:
        address = "\n".join(entity.seller_address)
        return super().get_initial_values(entity) | {"seller_address": address}

    def clean_valid_from(self) -> date | None:
        """Return the day. Raises ValidationError if it is a new day in the past, because past orders keep their terms."""
        day: date | None = self.cleaned_data["valid_from"]
        known = self.entity.valid_from if self.entity else None
        if day and day != known and day < localdate():
            raise forms.ValidationError(_("Enter today or a later day"))
        return day

    def clean_seller_address(self) -> tuple[str, ...]:
        return tuple(split_lines(self.cleaned_data["seller_address"]))


class ReviewRulesForm(SettingForm[ReviewRules]):
    """The form of the rules for reviews: which words hold a review back, texts of erased writers, mailed requests."""

    kind, entity_class, key_field = REVIEW_RULES, ReviewRules, ""
    template = "adminpanel/settings/review_rules.html"
    words = forms.CharField(
        label=gettext_lazy("Words that hold a review for moderation"),
        help_text=gettext_lazy("One per line."),
        required=False,
        max_length=MAX_WORDS * (MAX_WORD + 1),
        widget=forms.Textarea({"rows": 10}),
    )
    keeps_erased_texts = forms.BooleanField(
        label=gettext_lazy("Keep a review’s text when its writer’s account is deleted"),
        required=False,
    )
    asks_buyers = forms.BooleanField(
        label=gettext_lazy("Ask buyers for a review by email"),
        help_text=gettext_lazy("Sent once, two weeks after an order has arrived."),
        required=False,
    )

    def get_initial_values(self, entity: ReviewRules) -> dict[str, Any]:
        return super().get_initial_values(entity) | {"words": "\n".join(entity.words)}

    def clean_words(self) -> tuple[str, ...]:
        """Return the words without repetitions."""
        return tuple(dict.fromkeys(split_lines(self.cleaned_data["words"])))
