"""The forms of stock: a filter for the list, a variant's threshold and shelf, a transfer."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, cast
from urllib.parse import urlencode
from uuid import uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import choice_errors, day_input, short_input, text_input
from analytics.days import shop_today
from catalogue.queries import MAX_SKU_LENGTH
from catalogue.rules import normalize_sku
from inventory.entities import ALL, LOW, OUT
from inventory.warehouses import find_warehouse_name, list_open_warehouses, list_warehouses
from web.forms import FilterForm, Form

# The largest number of units that a form accepts.
MAX_UNITS = 1_000_000
MAX_PLACE_LENGTH = 20
LIST_LABELS = {
    ALL: gettext_lazy("All"),
    LOW: gettext_lazy("Low"),
    OUT: gettext_lazy("Out of stock"),
}


def units_field(label: Any, **options: Any) -> forms.IntegerField:
    """Return a field for a number of units."""
    least = options.get("min_value", 0)
    text = (
        gettext_lazy("Enter a whole number from 1 to 1,000,000")
        if least
        else gettext_lazy("Enter a whole number from 0 to 1,000,000")
    )
    return forms.IntegerField(
        label=label,
        max_value=MAX_UNITS,
        widget=short_input("input--tiny", inputmode="numeric"),
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), text),
        **{"min_value": 0} | options,
    )


@dataclass(frozen=True)
class StockSelection:
    """The choices for the stock list: the warehouse, the kind of list, the beginning of the SKU, and the page token."""

    warehouse: str
    show: str = ALL
    q: str = ""
    after: str = ""

    def to_query(self, **other: str) -> str:
        """Return the query of the list's address, with some of its fields replaced."""
        fields = asdict(self) | other
        return urlencode({name: value for name, value in fields.items() if value})


class StockListForm(FilterForm):
    """The form that filters the stock list. The default is all stock of the first warehouse."""

    PLACES = frozenset({"after"})

    warehouse = forms.ChoiceField(
        choices=lambda: [(each, find_warehouse_name(each)) for each in list_warehouses()],
        required=False,
    )
    show = forms.ChoiceField(choices=list(LIST_LABELS.items()), required=False)
    q = forms.CharField(
        label=gettext_lazy("SKU starts with"),
        required=False,
        max_length=MAX_SKU_LENGTH,
        widget=text_input(
            type="search", spellcheck="false", placeholder=gettext_lazy("SKU starts with")
        ),
    )
    after = forms.CharField(required=False, max_length=500)

    def parse_selection(self) -> StockSelection:
        """Return the selection. Do not call this if the form `is_refused`."""
        self.is_valid()
        clean = self.cleaned_data
        return StockSelection(
            clean.get("warehouse") or list_warehouses()[0],
            clean.get("show") or ALL,
            normalize_sku(clean.get("q", "")),
            clean.get("after", ""),
        )


class ThresholdForm(Form):
    """The form of a threshold: at this number of units, a variant is low in a warehouse. `seen` is the shown threshold."""

    threshold = units_field(gettext_lazy("Low at"))
    # The database column has the same bounds, because a command can set any value.
    seen = forms.IntegerField(
        min_value=-(2**31), max_value=2**31 - 1, widget=forms.HiddenInput, required=False
    )

    def __init__(
        self, warehouse_id: str, seen: int | None, data: Mapping[str, Any] | None = None
    ) -> None:
        self.warehouse_id = warehouse_id
        initial = {"threshold": seen or 0, "seen": seen}
        super().__init__(data, initial=initial, auto_id=f"{warehouse_id}-%s")


class PlaceForm(Form):
    """The form of a variant's place in a warehouse, such as a shelf. `seen_place` is the place that the page showed."""

    place = forms.CharField(
        label=gettext_lazy("Location"),
        required=False,
        max_length=MAX_PLACE_LENGTH,
        widget=short_input(spellcheck="false"),
    )
    seen_place = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, warehouse_id: str, seen: str, data: Mapping[str, Any] | None = None) -> None:
        self.warehouse_id = warehouse_id
        initial = {"place": seen, "seen_place": seen}
        super().__init__(data, initial=initial, auto_id=f"{warehouse_id}-%s")


class StockTransferForm(Form):
    """The form that sends units to another warehouse. `key` is unique to the page, so the units are sent only once."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    source = forms.ChoiceField(
        label=gettext_lazy("From"), error_messages=choice_errors(gettext_lazy("Choose a warehouse"))
    )
    destination = forms.ChoiceField(
        label=gettext_lazy("To"), error_messages=choice_errors(gettext_lazy("Choose a warehouse"))
    )
    units = units_field(gettext_lazy("Units"), min_value=1)
    reason = forms.CharField(
        label=gettext_lazy("Note"), required=False, max_length=200, widget=text_input()
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        sources = list_warehouses()
        # A closed warehouse cannot receive units, but it can send its own to another warehouse.
        destinations = [each.key for each in list_open_warehouses()]
        initial = {"key": uuid4(), "source": sources[0], "destination": destinations[-1]}
        super().__init__(data, initial=initial)
        for name, keys in (("source", sources), ("destination", destinations)):
            choices = [(each, find_warehouse_name(each)) for each in keys]
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    def clean(self) -> dict[str, Any]:
        """Require that the two warehouses are different."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("source") and clean.get("source") == clean.get("destination"):
            self.add_error("destination", _("Choose another warehouse than the one they come from"))
        return clean


class StockValueForm(FilterForm):
    """The form that chooses a day. The stock value at its end, or at that of the latest counted day before it, is shown."""

    day = forms.DateField(label=gettext_lazy("End of day"), required=False, widget=day_input())

    def clean_day(self) -> date:
        """Return the day, or today if none is chosen. Refuse a day in the future."""
        day: date = self.cleaned_data["day"] or shop_today()
        if day > shop_today():
            raise forms.ValidationError(_("Enter a day that is not in the future"))
        return day

    def parse_day(self) -> date:
        """Return the chosen day; today if it is refused."""
        self.is_valid()
        day: date = self.cleaned_data.get("day", shop_today())
        return day
