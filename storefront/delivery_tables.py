"""The costs and times of delivery, as pages show them."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import Money

from pricing.delivery import (
    DeliveryMethod,
    list_delivery_countries,
    list_delivery_methods,
    list_weight_bands,
)
from pricing.delivery_settings import country_name


@dataclass(frozen=True)
class DeliveryRow:
    """The price (tax included) of a delivery method to a country, and the working days that it takes, in words.

    `arrives_by` is the latest day of arrival for an order placed now; None in a general table.
    """

    country: str
    method: str
    days: str
    price: Money
    free_from: Money | None
    arrives_by: date | None = None


@dataclass(frozen=True)
class DeliveryTable:
    """The delivery prices of each country: a column for each method, and None where a country lacks the method."""

    methods: tuple[str, ...]
    rows: tuple[tuple[str, tuple[DeliveryRow | None, ...]], ...]


@dataclass(frozen=True)
class WeightRow:
    """The surcharge for a parcel of up to this weight, compared with the lightest parcel."""

    kilograms: str
    surcharge: Money


def make_delivery_table() -> DeliveryTable:
    """Return the table of the delivery methods of each country, the usual method first. Raises CassandraUnavailable."""
    by_country = {code: list_delivery_methods(code) for code in list_delivery_countries()}
    names = dict.fromkeys(each.name for methods in by_country.values() for each in methods)
    rows = []
    for code, methods in by_country.items():
        country = country_name(code)
        found = {each.name: _row(country, each) for each in methods}
        rows.append((country, tuple(found.get(name) for name in names)))
    return DeliveryTable(tuple(names), tuple(rows))


def usual_delivery_rows(first: str, now: datetime, grams: int) -> list[DeliveryRow]:
    """Return a row for each country with its usual delivery method for an order of this weight. The country `first` comes first.

    The days count from the day of `now` in the shop's time zone. Raises CassandraUnavailable.
    """
    methods = sorted(usual_delivery_methods(grams), key=lambda each: each[0] != first)
    return [
        replace(_row(country_name(code), method), arrives_by=method.delivery_estimate(now)[1])
        for code, method in methods
    ]


def usual_delivery_methods(grams: int) -> list[tuple[str, DeliveryMethod]]:
    """Return each country's first delivery method whose carrier takes this weight. Raises CassandraUnavailable."""

    def usual(country: str) -> DeliveryMethod | None:
        ways = list_delivery_methods(country)
        return next((way for way in ways if way.carrier and way.takes(grams)), None)

    return [(code, way) for code in list_delivery_countries() if (way := usual(code))]


def weight_rows() -> list[WeightRow]:
    """Return the surcharges by weight, lightest first. Raises CassandraUnavailable."""
    return [
        WeightRow(f"{Decimal(each.max_grams) / 1000:f}", Money(each.surcharge, settings.CURRENCY))
        for each in list_weight_bands()
    ]


def _row(country: str, method: DeliveryMethod) -> DeliveryRow:
    first, last = method.days
    days = (
        ngettext("%(count)s working day", "%(count)s working days", first) % {"count": first}
        if first == last
        else _("%(first)s to %(last)s working days") % {"first": first, "last": last}
    )
    return DeliveryRow(country, method.name, days, method.price, method.free_from)
