"""What delivery costs and how long it takes, as the pages show it."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import EUR, Money

from accounts.addresses import COUNTRIES
from pricing.delivery import BANDS, DELIVERY_METHODS, DeliveryMethod


@dataclass(frozen=True)
class DeliveryRow:
    """What a delivery method to a country costs, tax included, and how many working days it takes."""

    country: str
    method: str
    days: str
    price: Money
    free_from: Money | None


@dataclass(frozen=True)
class WeightRow:
    """What a parcel of up to so many kilograms costs more than the lightest."""

    kilograms: str
    surcharge: Money


def delivery_rows() -> list[list[DeliveryRow]]:
    """Return the delivery methods of each country that the shop sends to, the usual one first."""
    return [
        [_row(COUNTRIES[code], method) for method in methods]
        for code, methods in DELIVERY_METHODS.items()
    ]


def usual_delivery_methods() -> list[tuple[str, DeliveryMethod]]:
    """Return the code of each country that the shop sends to, with the usual method."""
    return [(code, methods[0]) for code, methods in DELIVERY_METHODS.items()]


def usual_delivery_rows(first: str) -> list[DeliveryRow]:
    """Return a row for each country, for the usual method; the country with the code `first` stands before the others."""
    methods = sorted(usual_delivery_methods(), key=lambda each: each[0] != first)
    return [_row(COUNTRIES[code], method) for code, method in methods]


def weight_rows() -> list[WeightRow]:
    """Return what a parcel costs more by its weight, the lightest first."""
    return [WeightRow(f"{Decimal(grams) / 1000:f}", Money(more, EUR)) for grams, more in BANDS]


def _row(country: str, method: DeliveryMethod) -> DeliveryRow:
    first, last = method.days
    days = (
        ngettext("%(count)s working day", "%(count)s working days", first) % {"count": first}
        if first == last
        else _("%(first)s to %(last)s working days") % {"first": first, "last": last}
    )
    return DeliveryRow(country, str(method.name), days, method.price, method.free_from)
