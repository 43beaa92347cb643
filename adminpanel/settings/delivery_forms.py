"""The forms of delivery: one for delivery methods, one for surcharges by weight."""

from decimal import Decimal
from typing import Any, cast
from uuid import uuid4

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.addresses import COUNTRIES
from adminpanel.forms import decimal_field
from adminpanel.settings.fields import amount_field, count_field, day_field
from adminpanel.settings.forms import LinesForm, SettingForm
from pricing.delivery_settings import DELIVERY, DeliverySetting
from pricing.weight_settings import WEIGHTS, ParcelWeights, WeightBand

MAX_BANDS = 8


class DeliveryForm(SettingForm[DeliverySetting]):
    """The form of a delivery method: its countries, its price, its speed, and the time in which it is offered."""

    kind, entity_class = DELIVERY, DeliverySetting
    template = "adminpanel/settings/delivery_method.html"
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy(
            "Shown to shoppers. Methods for different countries can have the same name."
        ),
    )
    countries = forms.MultipleChoiceField(
        label=gettext_lazy("Countries"),
        choices=list(COUNTRIES.items()),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": gettext_lazy("Choose at least one country"),
            "invalid_choice": gettext_lazy("Choose only countries from this list"),
        },
    )
    is_pickup = forms.BooleanField(label=gettext_lazy("Pickup in the shop"), required=False)
    carrier = forms.CharField(
        label=gettext_lazy("Carrier"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("Leave empty for pickup."),
    )
    price = amount_field(
        gettext_lazy("Price"),
        gettext_lazy("For a parcel of up to 5 kg, in euros, tax included."),
        required=True,
    )
    free_from = amount_field(
        gettext_lazy("Free from"),
        gettext_lazy("Free from this subtotal. Leave empty for never."),
        required=False,
    )
    first_day = count_field(
        gettext_lazy("Arrives after, at the earliest"),
        gettext_lazy("In working days after the order."),
        most=60,
    )
    last_day = count_field(gettext_lazy("Arrives after, at the latest"), most=60)
    max_kg = decimal_field(
        gettext_lazy("Weight limit in kg"),
        gettext_lazy("Enter a weight from 0.1 to 10,000 kg"),
        least="0.1",
        most=10_000,
        places=3,
        hint=gettext_lazy("Not offered for heavier orders. Leave empty for no limit."),
    )
    valid_from = day_field(gettext_lazy("Offered from"), gettext_lazy("Leave empty to start now."))
    valid_until = day_field(
        gettext_lazy("Offered until"), gettext_lazy("The last day. Leave empty for no end.")
    )
    position = count_field(
        gettext_lazy("Position"),
        gettext_lazy("The method with the lowest number is shown first and preselected."),
        most=99,
    )
    is_active = forms.BooleanField(
        label=gettext_lazy("Offer it to shoppers"), required=False, initial=True
    )

    def get_initial_values(self, entity: DeliverySetting) -> dict[str, Any]:
        kilograms = None if entity.max_grams is None else Decimal(entity.max_grams) / 1000
        return super().get_initial_values(entity) | {"max_kg": kilograms}

    def clean(self) -> dict[str, Any]:
        """Require a carrier unless the method is a pickup. Require that no period ends before it begins."""
        clean = cast(dict[str, Any], super().clean())
        if not clean.get("is_pickup") and not clean.get("carrier") and "carrier" not in self.errors:
            self.add_error("carrier", _("Enter a carrier, or select pickup"))
        first, last = clean.get("first_day"), clean.get("last_day")
        if first is not None and last is not None and last < first:
            self.add_error("last_day", _("Enter at least the earliest number of days"))
        begins, ends = clean.get("valid_from"), clean.get("valid_until")
        if begins and ends and ends < begins:
            self.add_error("valid_until", _("Enter the first day or a later one"))
        return clean

    def get_values(self) -> dict[str, Any]:
        """Return the values of the delivery method. A pickup gets no carrier."""
        clean, cent = self.cleaned_data, Decimal("0.01")
        free_from, max_kg = clean["free_from"], clean["max_kg"]
        return super().get_values() | {
            "countries": tuple(sorted(clean["countries"])),
            "carrier": "" if clean["is_pickup"] else clean["carrier"],
            "price": clean["price"].quantize(cent),
            "free_from": None if free_from is None else free_from.quantize(cent),
            "max_grams": None if max_kg is None else int(max_kg * 1000),
        }

    def build_setting(self, key: str) -> DeliverySetting:
        """Return the delivery method. A new method's code is derived from its name. A method's code never changes."""
        code = self.entity.code if self.entity else slugify(self.cleaned_data["name"])[:40]
        return self.build(key=key, code=code or key[:8])


class WeightsForm(LinesForm[ParcelWeights]):
    """The form of the surcharges by weight. Each line is a weight band; the heaviest band is the maximum weight."""

    kind, entity_class, key_field = WEIGHTS, ParcelWeights, ""
    columns, max_lines = ("kg", "surcharge"), MAX_BANDS
    template = "adminpanel/settings/parcel_weights.html"

    def list_lines(self, entity: ParcelWeights) -> list[list[Any]]:
        return [
            [f"{(Decimal(band.max_grams) / 1000).normalize():f}", band.surcharge]
            for band in entity.bands
        ]

    def make_field(self, column: str, number: int) -> forms.Field:
        line = {"number": number}
        if column == "kg":
            return decimal_field(
                _("Up to kg, line %(number)d") % line,
                gettext_lazy("Enter a weight from 0.1 to 1,000 kg, such as 31.5"),
                least="0.1",
                most=1_000,
                places=3,
            )
        return amount_field(_("Costs more, line %(number)d") % line, required=False)

    def clean(self) -> dict[str, Any]:
        """Require that the lines are sorted from light to heavy."""
        clean = super().clean()
        before = Decimal(0)
        for number in self.numbers:
            kilograms = clean.get(f"kg_{number}")
            if kilograms is not None and kilograms <= before:
                self.add_error(f"kg_{number}", _("Enter the weights from light to heavy"))
            before = max(before, kilograms or Decimal(0))
        return clean

    def get_values(self) -> dict[str, Any]:
        lines = self.list_typed_lines()
        return {"bands": tuple(WeightBand(int(kg * 1000), more) for kg, more in lines)}
