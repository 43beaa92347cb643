"""The form of a country's tax rates."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import decimal_field
from adminpanel.settings.fields import day_field
from adminpanel.settings.forms import LinesForm
from pricing.tax import TAX, TAX_CLASSES, DatedRates, TaxSetting

# The audit log keeps thirty fields of a form. Each line of this form has a day, and a field for each tax class.
MAX_PERIODS = 8
TAX_CLASS_LABELS = {"standard": gettext_lazy("Standard"), "reduced": gettext_lazy("Reduced")}


class TaxForm(LinesForm[TaxSetting]):
    """The form of a country's tax rates. It has one line for each day on which the rates change."""

    kind, entity_class, key_field = TAX, TaxSetting, "country"
    columns, max_lines, spare_lines = ("from", *TAX_CLASSES), MAX_PERIODS, 2
    template = "adminpanel/settings/country_tax.html"
    is_added = forms.BooleanField(
        label=gettext_lazy("Prices are net in this country; tax is added in the cart"),
        required=False,
    )

    def list_lines(self, entity: TaxSetting) -> list[list[Any]]:
        return [
            [each.valid_from, *(f"{rate.normalize():f}" for rate in each.by_class.values())]
            for each in entity.periods
        ]

    def make_field(self, column: str, number: int) -> forms.Field:
        if column == "from":
            return day_field(_("From, line %(number)d") % {"number": number})
        line = {"number": number, "class": TAX_CLASS_LABELS[column]}
        return decimal_field(
            _("%(class)s %%, line %(number)d") % line,
            gettext_lazy("Enter a rate from 0 to 100, such as 13.5"),
            least="0",
            most=100,
            places=3,
            css_class="input--tiny",
        )

    def clean(self) -> dict[str, Any]:
        """Require that no two lines have the same day."""
        clean = super().clean()
        days: set[date] = set()
        for number in self.numbers:
            if (day := clean.get(f"from_{number}")) in days:
                self.add_error(f"from_{number}", _("Another line already starts on this day"))
            days |= {day} if day else set()
        return clean

    def get_values(self) -> dict[str, Any]:
        lines = sorted(self.list_typed_lines(), key=lambda line: line[0])
        periods = (DatedRates(day, tuple(map(Decimal.normalize, rates))) for day, *rates in lines)
        return super().get_values() | {"periods": tuple(periods)}
