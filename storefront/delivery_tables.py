"""What delivery costs and how long it takes, as the pages show it."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import EUR, Money

from pricing.delivery import BANDS, DeliveryMethod, list_delivery_countries, list_delivery_methods
from pricing.delivery_settings import country_name


@dataclass(frozen=True)
class DeliveryRow:
    """What a delivery method to a country costs, tax included, and how many working days it takes."""

    country: str
    method: str
    days: str
    price: Money
    free_from: Money | None


@dataclass(frozen=True)
class DeliveryTable:
    """What delivery costs to each country: a column for each method, and in a row None where there is none."""

    methods: tuple[str, ...]
    rows: tuple[tuple[str, tuple[DeliveryRow | None, ...]], ...]


@dataclass(frozen=True)
class WeightRow:
    """What a parcel of up to so many kilograms costs more than the lightest."""

    kilograms: str
    surcharge: Money


def make_delivery_table() -> DeliveryTable:
    """Return the delivery methods of each country that the shop sends to, the usual one first. Raises CassandraUnavailable."""
    by_country = {code: list_delivery_methods(code) for code in list_delivery_countries()}
    names = dict.fromkeys(each.name for methods in by_country.values() for each in methods)
    rows = []
    for code, methods in by_country.items():
        country = country_name(code)
        found = {each.name: _row(country, each) for each in methods}
        rows.append((country, tuple(found.get(name) for name in names)))
    return DeliveryTable(tuple(names), tuple(rows))


def usual_delivery_rows(first: str) -> list[DeliveryRow]:
    """Return a row for each country, for the usual method; the country with the code `first` stands before the others.

    Raises CassandraUnavailable.
    """
    codes = sorted(list_delivery_countries(), key=lambda code: code != first)
    return [_row(country_name(code), list_delivery_methods(code)[0]) for code in codes]


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
    return DeliveryRow(country, method.name, days, method.price, method.free_from)
