"""The forms of a filter and of a colour."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import choice_errors, short_input
from adminpanel.settings.fields import count_field
from adminpanel.settings.forms import SettingForm
from catalogue.colour_settings import COLOURS, ColourSetting
from catalogue.colours import FAMILY_LABELS, is_hex
from catalogue.filter_settings import FILTERS, KIND_LABELS, FilterName
from catalogue.rules import MAX_LABEL_LENGTH


class FilterForm(SettingForm[FilterName]):
    """The form of an option or a detail as a filter. `filter_kind` is the filter's `kind`."""

    kind, entity_class = FILTERS, FilterName
    template = "adminpanel/catalogue/filter.html"
    name = forms.CharField(label=gettext_lazy("Name"), max_length=MAX_LABEL_LENGTH)
    filter_kind = forms.ChoiceField(
        label=gettext_lazy("Shoppers filter by"),
        choices=list(KIND_LABELS.items()),
        error_messages=choice_errors(gettext_lazy("Choose a type of filter")),
    )
    position = count_field(
        gettext_lazy("Position"),
        gettext_lazy("The filter with the lowest number comes first."),
        most=99,
    )

    def get_initial_values(self, entity: FilterName) -> dict[str, Any]:
        return super().get_initial_values(entity) | {"filter_kind": entity.kind}

    def get_values(self) -> dict[str, Any]:
        return super().get_values() | {"kind": self.cleaned_data["filter_kind"]}


class ColourForm(SettingForm[ColourSetting]):
    """The form of a colour. Both fields may be empty: then the shop goes by the name."""

    kind, entity_class = COLOURS, ColourSetting
    template = "adminpanel/catalogue/colour.html"
    hex = forms.CharField(
        label=gettext_lazy("Hex"),
        required=False,
        max_length=20,
        help_text=gettext_lazy(
            "Such as #1f2a4d. Without one, the family is derived from the name."
        ),
        widget=short_input(spellcheck="false", autocapitalize="none"),
    )
    family = forms.ChoiceField(
        label=gettext_lazy("Family"),
        required=False,
        choices=[("", gettext_lazy("Family of the hex")), *FAMILY_LABELS.items()],
    )

    def clean_hex(self) -> str:
        """Return six digits in lower case. Three digits are the short form of six."""
        digits = str(self.cleaned_data["hex"]).strip().removeprefix("#").lower()
        if len(digits) == 3:
            digits = "".join(2 * digit for digit in digits)
        if digits and not is_hex(digits):
            raise forms.ValidationError(_("Enter six hexadecimal digits, such as #1f2a4d"))
        return digits
