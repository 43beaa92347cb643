"""The staff's forms about what is set for the whole shop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from uuid import uuid4

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.text import slugify
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.addresses import COUNTRIES
from accounts.forms import email_field
from inventory.warehouses import WAREHOUSE, Warehouse
from moderation.rules import MAX_WORD, MAX_WORDS, REVIEW_RULES, ReviewRules
from pricing.delivery_settings import DELIVERY, DeliverySetting
from pricing.tax import TAX, TAX_CLASSES, DatedRates, TaxSetting
from pricing.weight_settings import WEIGHTS, ParcelWeights, WeightBand
from shop_settings.kinds import SettingKind
from shop_settings.terms import TERMS, Terms
from web.forms import Form

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

T = TypeVar("T")
MAX_PRICE = Decimal(10_000)
# What follows a day is a day, too: a calendar ends with the year 9999.
LAST_DAY = date(2999, 12, 31)
# So many lines of rates a country's form has: the audit log holds thirty fields of a form.
MAX_PERIODS = 8
# So many weights from which on a parcel costs more.
MAX_BANDS = 8


class SettingForm(Form, Generic[T]):
    """A setting as the staff change it. `version` is its fingerprint as the page has shown it, '' for a new one."""

    kind: SettingKind[T]
    template: str
    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)

    def __init__(self, setting: T | None, data: Mapping[str, Any] | None = None) -> None:
        self.setting = setting
        initial = {"version": self.kind.fingerprint(setting)}
        if setting is not None:
            initial |= self.get_fields(setting)
        super().__init__(data, initial=initial)

    def get_fields(self, setting: T) -> dict[str, Any]:
        """Return a setting's values by the names of the fields."""
        raise NotImplementedError

    def build_setting(self, key: str) -> T:
        """Return the setting that the valid form describes."""
        raise NotImplementedError

    def describe(self) -> dict[str, str]:
        """Return what stands in the form, in words, by the labels of its fields."""
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


def _short(**attributes: str) -> forms.TextInput:
    return forms.TextInput({"class": "input--short", "autocomplete": "off", **attributes})


def _amount(label: StrOrPromise, hint: StrOrPromise = "", *, required: bool) -> forms.DecimalField:
    complaint = gettext_lazy("Enter a sum from 0 to 10,000, such as 4.90")
    return forms.DecimalField(
        label=label,
        required=required,
        min_value=Decimal(0),
        max_value=MAX_PRICE,
        decimal_places=2,
        help_text=hint,
        widget=_short(inputmode="decimal"),
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits"), complaint
        ),
    )


def _count(
    label: StrOrPromise, hint: StrOrPromise = "", *, most: int, least: int = 0
) -> forms.IntegerField:
    complaint = gettext_lazy("Enter a whole number from %(least)d to %(most)d")
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        help_text=hint,
        widget=_short(inputmode="numeric"),
        error_messages={
            name: complaint % {"least": least, "most": most}
            for name in ("invalid", "min_value", "max_value")
        },
    )


def _day(label: StrOrPromise, hint: StrOrPromise = "") -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        help_text=hint,
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        validators=[MaxValueValidator(LAST_DAY, gettext_lazy("Enter a day before the year 3000"))],
        error_messages={"invalid": gettext_lazy("Enter a day, such as 2027-01-01")},
    )


class DeliveryForm(SettingForm[DeliverySetting]):
    """A delivery method: to which countries, at what price, how fast, and when it is offered."""

    kind = DELIVERY
    template = "adminpanel/settings/delivery_method.html"
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy(
            "As shoppers read it. Give methods for different countries the same name if they are one to shoppers."
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
    is_pickup = forms.BooleanField(
        label=gettext_lazy("Shoppers pick it up in the shop"), required=False
    )
    carrier = forms.CharField(
        label=gettext_lazy("Carrier"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("Who brings it. A parcel that is picked up has none."),
    )
    price = _amount(
        gettext_lazy("Price"),
        gettext_lazy("For a parcel of up to 5 kg, in euros, tax included."),
        required=True,
    )
    free_from = _amount(
        gettext_lazy("Free from"),
        gettext_lazy("From this subtotal on it costs nothing. Leave it empty for never."),
        required=False,
    )
    first_day = _count(
        gettext_lazy("Arrives after, at the earliest"),
        gettext_lazy("In working days after the order."),
        most=60,
    )
    last_day = _count(gettext_lazy("Arrives after, at the latest"), most=60)
    max_kg = forms.DecimalField(
        label=gettext_lazy("Weight limit in kg"),
        required=False,
        min_value=Decimal("0.1"),
        max_value=Decimal(10_000),
        decimal_places=3,
        help_text=gettext_lazy("Heavier orders can’t be sent so. Leave it empty for no limit."),
        widget=_short(inputmode="decimal"),
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits"),
            gettext_lazy("Enter a weight from 0.1 to 10,000 kg"),
        ),
    )
    valid_from = _day(gettext_lazy("Offered from"), gettext_lazy("Leave it empty for at once."))
    valid_until = _day(
        gettext_lazy("Offered until"), gettext_lazy("The last day. Leave it empty for no end.")
    )
    position = _count(
        gettext_lazy("Place among the methods"),
        gettext_lazy("The one with the lowest number stands first and is chosen beforehand."),
        most=99,
    )
    is_active = forms.BooleanField(
        label=gettext_lazy("Offer it to shoppers"), required=False, initial=True
    )

    def get_fields(self, setting: DeliverySetting) -> dict[str, Any]:
        """Return a method's values by the names of the fields."""
        names = (
            *("name", "is_pickup", "carrier", "price", "free_from", "first_day", "last_day"),
            *("valid_from", "valid_until", "position", "is_active"),
        )
        kilograms = None if setting.max_grams is None else Decimal(setting.max_grams) / 1000
        return {name: getattr(setting, name) for name in names} | {
            "countries": list(setting.countries),
            "max_kg": kilograms,
        }

    def clean(self) -> dict[str, Any]:
        """See that a method has a carrier or is picked up, and that it ends after it begins."""
        clean = cast(dict[str, Any], super().clean())
        if not clean.get("is_pickup") and not clean.get("carrier") and "carrier" not in self.errors:
            self.add_error("carrier", _("Enter who brings it, or tick that it is picked up"))
        first, last = clean.get("first_day"), clean.get("last_day")
        if first is not None and last is not None and last < first:
            self.add_error("last_day", _("Enter at least as many days as at the earliest"))
        begins, ends = clean.get("valid_from"), clean.get("valid_until")
        if begins and ends and ends < begins:
            self.add_error("valid_until", _("Enter a day on or after the first one"))
        return clean

    def build_setting(self, key: str) -> DeliverySetting:
        """Return the method that the valid form describes. A new one has the code of its name; a code never changes."""
        clean = self.cleaned_data
        grams = None if clean["max_kg"] is None else int(clean["max_kg"] * 1000)
        return DeliverySetting(
            key=key,
            code=self.setting.code if self.setting else slugify(clean["name"])[:40] or key[:8],
            name=clean["name"],
            countries=tuple(sorted(clean["countries"])),
            carrier="" if clean["is_pickup"] else clean["carrier"],
            price=clean["price"].quantize(Decimal("0.01")),
            first_day=clean["first_day"],
            last_day=clean["last_day"],
            free_from=None
            if clean["free_from"] is None
            else clean["free_from"].quantize(Decimal("0.01")),
            max_grams=grams,
            is_pickup=clean["is_pickup"],
            is_active=clean["is_active"],
            valid_from=clean["valid_from"],
            valid_until=clean["valid_until"],
            position=clean["position"],
        )


class WarehouseForm(SettingForm[Warehouse]):
    """A warehouse: where it is, and when orders take from it. Its key follows from its first name."""

    kind = WAREHOUSE
    template = "adminpanel/settings/warehouse.html"
    name = forms.CharField(label=gettext_lazy("Name"), max_length=40)
    country = forms.ChoiceField(
        label=gettext_lazy("Country"),
        choices=list(COUNTRIES.items()),
        error_messages={"invalid_choice": gettext_lazy("Choose a country")},
    )
    position = _count(
        gettext_lazy("Order of preference"),
        gettext_lazy(
            "Orders are sent in as few parcels as possible. Among equals, the warehouse with the lowest number sends."
        ),
        most=99,
    )
    is_open = forms.BooleanField(
        label=gettext_lazy("It is open"),
        required=False,
        initial=True,
        help_text=gettext_lazy("A closed one gets no new stock."),
    )

    def get_fields(self, setting: Warehouse) -> dict[str, Any]:
        """Return a warehouse's values by the names of the fields."""
        return {name: getattr(setting, name) for name in ("name", "country", "position", "is_open")}

    def clean_name(self) -> str:
        """See that a key can be made of the name."""
        name = str(self.cleaned_data["name"])
        if not slugify(name):
            raise forms.ValidationError(_("Enter a name with letters or digits"))
        return name

    def build_setting(self, key: str) -> Warehouse:
        """Return the warehouse that the valid form describes."""
        values = {name: each for name, each in self.cleaned_data.items() if name != "version"}
        return Warehouse(key, **values)


class TermsForm(SettingForm[Terms]):
    """The shop's terms from a day on: who sells, how long things may be sent back, and its limits."""

    kind = TERMS
    template = "adminpanel/settings/terms_detail.html"
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    valid_from = _day(
        gettext_lazy("Valid from"),
        gettext_lazy("They hold until later ones begin. The first ones have no day."),
    )
    seller_name = forms.CharField(label=gettext_lazy("Seller"), max_length=100)
    seller_address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=400,
        widget=forms.Textarea({"rows": 4}),
        help_text=gettext_lazy(
            "As invoices show it, and where returns are sent: street, postcode and town, country, each on its own line."
        ),
    )
    vat_id = forms.CharField(label=gettext_lazy("VAT number"), max_length=30)
    email = email_field()
    return_days = _count(
        gettext_lazy("Days to return"),
        gettext_lazy("For so many days after its arrival an item may be sent back."),
        most=3650,
    )
    withdrawal_days = _count(
        gettext_lazy("Days to withdraw"),
        gettext_lazy("By law 14 at least, after the last item has arrived."),
        least=14,
        most=3650,
    )
    refund_code_above = _count(
        gettext_lazy("Refunds above this ask for a code"),
        gettext_lazy(
            "In euros: for an order in all, for a change of many orders, and for one person within an hour."
        ),
        most=1_000_000,
    )
    unpaid_units_of_mailbox = _count(
        gettext_lazy("Unpaid units of an email address"),
        gettext_lazy("So many may be on orders that nobody has paid for yet. 0 is no bound."),
        most=1_000_000,
    )
    unpaid_units_of_network = _count(
        gettext_lazy("Unpaid units of a network"), gettext_lazy("0 is no bound."), most=1_000_000
    )

    def __init__(self, setting: Terms | None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        self.fields["email"].help_text = _("Shoppers write here, and see it on the help page.")

    def get_fields(self, setting: Terms) -> dict[str, Any]:
        """Return terms by the names of the fields."""
        found = {name: getattr(setting, name) for name in Terms.__dataclass_fields__}
        del found["key"]
        return found | {"seller_address": "\n".join(setting.seller_address)}

    def clean_valid_from(self) -> date | None:
        """See that no terms are planned for the past: orders were promised those of their day."""
        day: date | None = self.cleaned_data["valid_from"]
        known = self.setting.valid_from if self.setting else None
        if day and day != known and day < localdate():
            raise forms.ValidationError(_("Enter today or a later day"))
        return day

    def clean_seller_address(self) -> tuple[str, ...]:
        """Return the lines of the address."""
        return tuple(
            line.strip()
            for line in self.cleaned_data["seller_address"].splitlines()
            if line.strip()
        )

    def build_setting(self, key: str) -> Terms:
        """Return the terms that the valid form describes."""
        values = {name: each for name, each in self.cleaned_data.items() if name != "version"}
        return Terms(**values | {"key": key})


TAX_CLASS_LABELS = {"standard": gettext_lazy("Standard"), "reduced": gettext_lazy("Reduced")}


class TaxForm(SettingForm[TaxSetting]):
    """A country's tax rates, a line for each day from which on they hold. A line that is emptied goes."""

    kind = TAX
    template = "adminpanel/settings/country_tax.html"
    is_added = forms.BooleanField(
        label=gettext_lazy("Prices are net in this country, and tax is added in the cart"),
        required=False,
    )

    def __init__(self, setting: TaxSetting, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        # All lines that were sent, also where fewer are saved by now.
        sent = [number + 1 for number in range(MAX_PERIODS) if data and f"from_{number}" in data]
        self.numbers = range(max(min(len(setting.periods) + 2, MAX_PERIODS), *sent, 0))
        for number in self.numbers:
            line = {"number": number + 1}
            self.fields[f"from_{number}"] = _day(_("From, line %(number)d") % line)
            for name in TAX_CLASSES:
                label = _("%(class)s %%, line %(number)d") % (
                    line | {"class": TAX_CLASS_LABELS[name]}
                )
                self.fields[f"{name}_{number}"] = _rate(label)

    def get_fields(self, setting: TaxSetting) -> dict[str, Any]:
        """Return a country's rates by the names of the fields."""
        found: dict[str, Any] = {"is_added": setting.is_added}
        for number, period in enumerate(setting.periods):
            found[f"from_{number}"] = period.valid_from
            for name, rate in period.by_class.items():
                found[f"{name}_{number}"] = f"{rate.normalize():f}"
        return found

    @property
    def lines(self) -> list[list[forms.BoundField]]:
        """The fields, a list for each line."""
        return [
            [self[f"from_{number}"], *(self[f"{name}_{number}"] for name in TAX_CLASSES)]
            for number in self.numbers
        ]

    def clean(self) -> dict[str, Any]:
        """See that each line has its day and all of its rates, or nothing, and no two have one day."""
        clean = cast(dict[str, Any], super().clean())
        days: set[date] = set()
        for number in self.numbers:
            names = [f"from_{number}", *(f"{name}_{number}" for name in TAX_CLASSES)]
            empty = [name for name in names if clean.get(name) is None and name not in self.errors]
            if len(empty) < len(names):
                for name in empty:
                    self.add_error(name, _("Fill in the whole line, or empty all of it"))
            if (day := clean.get(f"from_{number}")) in days:
                self.add_error(f"from_{number}", _("Another line begins on this day already"))
            days |= {day} if day else set()
        return clean

    def build_setting(self, key: str) -> TaxSetting:
        """Return the taxes that the valid form describes."""
        clean = self.cleaned_data
        periods = [
            DatedRates(
                clean[f"from_{number}"],
                tuple(clean[f"{name}_{number}"].normalize() for name in TAX_CLASSES),
            )
            for number in self.numbers
            if clean[f"from_{number}"]
        ]
        assert self.setting
        return replace(
            self.setting,
            periods=tuple(sorted(periods, key=lambda each: each.valid_from)),
            is_added=clean["is_added"],
        )


class ReviewRulesForm(SettingForm[ReviewRules]):
    """Which words hold a review, what stays of the reviews of somebody who was erased, and whether buyers are asked."""

    kind = REVIEW_RULES
    template = "adminpanel/settings/review_rules.html"
    words = forms.CharField(
        label=gettext_lazy("Words that hold a review"),
        help_text=gettext_lazy("One on each line."),
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
        help_text=gettext_lazy("Two weeks after an order has arrived, once."),
        required=False,
    )

    def get_fields(self, setting: ReviewRules) -> dict[str, Any]:
        """Return the rules by the names of the fields."""
        return {
            "words": "\n".join(setting.words),
            "keeps_erased_texts": setting.keeps_erased_texts,
            "asks_buyers": setting.asks_buyers,
        }

    def build_setting(self, key: str) -> ReviewRules:
        """Return the rules that the valid form describes."""
        clean = self.cleaned_data
        words = dict.fromkeys(each.strip() for each in clean["words"].splitlines() if each.strip())
        return ReviewRules(tuple(words), clean["keeps_erased_texts"], clean["asks_buyers"])


class WeightsForm(SettingForm[ParcelWeights]):
    """What a parcel costs more by its weight, a line for each band. A line that is emptied goes; the heaviest is what a parcel may weigh."""

    kind = WEIGHTS
    template = "adminpanel/settings/parcel_weights.html"

    def __init__(self, setting: ParcelWeights, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        sent = [number + 1 for number in range(MAX_BANDS) if data and f"kg_{number}" in data]
        self.numbers = range(max(min(len(setting.bands) + 1, MAX_BANDS), *sent, 0))
        for number in self.numbers:
            line = {"number": number + 1}
            self.fields[f"kg_{number}"] = _kilograms(_("Up to kg, line %(number)d") % line)
            self.fields[f"surcharge_{number}"] = _amount(
                _("Costs more, line %(number)d") % line, required=False
            )

    def get_fields(self, setting: ParcelWeights) -> dict[str, Any]:
        """Return the bands by the names of the fields."""
        found: dict[str, Any] = {}
        for number, band in enumerate(setting.bands):
            found[f"kg_{number}"] = f"{(Decimal(band.max_grams) / 1000).normalize():f}"
            found[f"surcharge_{number}"] = band.surcharge
        return found

    @property
    def lines(self) -> list[list[forms.BoundField]]:
        """The fields, a list for each line."""
        return [[self[f"kg_{number}"], self[f"surcharge_{number}"]] for number in self.numbers]

    def clean(self) -> dict[str, Any]:
        """See that each line has both or nothing, and that the lines go from light to heavy."""
        clean = cast(dict[str, Any], super().clean())
        before = Decimal(0)
        for number in self.numbers:
            names = (f"kg_{number}", f"surcharge_{number}")
            empty = [name for name in names if clean.get(name) is None and name not in self.errors]
            if len(empty) == 1:
                self.add_error(empty[0], _("Fill in the whole line, or empty all of it"))
            grams = clean.get(f"kg_{number}")
            if grams is not None and grams <= before:
                self.add_error(f"kg_{number}", _("Enter the weights from light to heavy"))
            before = max(before, grams or Decimal(0))
        return clean

    def build_setting(self, key: str) -> ParcelWeights:
        """Return the bands that the valid form describes."""
        clean = self.cleaned_data
        return ParcelWeights(
            tuple(
                WeightBand(int(clean[f"kg_{number}"] * 1000), clean[f"surcharge_{number}"])
                for number in self.numbers
                if clean[f"kg_{number}"] is not None
            )
        )


def _kilograms(label: str) -> forms.DecimalField:
    complaint = gettext_lazy("Enter a weight from 0.1 to 1,000 kg, such as 31.5")
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal("0.1"),
        max_value=Decimal(1_000),
        decimal_places=3,
        widget=_short(inputmode="decimal"),
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits"), complaint
        ),
    )


def _rate(label: str) -> forms.DecimalField:
    complaint = gettext_lazy("Enter a rate from 0 to 100, such as 13.5")
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal(0),
        max_value=Decimal(100),
        decimal_places=3,
        widget=forms.TextInput(
            {"class": "input--tiny", "inputmode": "decimal", "autocomplete": "off"}
        ),
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value", "max_decimal_places", "max_digits"), complaint
        ),
    )
