"""How a parcel gets to each country we deliver to, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext_lazy
from moneyed import EUR, Money

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# What a parcel costs more by its weight: (up to so many grams, so much more). Nothing heavier is one parcel.
BANDS: tuple[tuple[int, str], ...] = (
    (5_000, "0"),
    (10_000, "2.50"),
    (20_000, "6.00"),
    (31_500, "12.00"),
)
HEAVIEST_PARCEL = BANDS[-1][0]


@dataclass(frozen=True)
class DeliveryMethod:
    """One way to deliver. Days are working days from the order on; `free_from` is a subtotal, None for never.

    `price` is for a parcel of the lightest band.
    """

    code: str
    name: StrOrPromise
    carrier: str
    price: Money
    days: tuple[int, int]
    free_from: Money | None = None

    def price_for(self, subtotal: Money, grams: int = 0) -> Money:
        """Return what this costs for lines of that subtotal and weight (with tax, or without where tax is added).

        What is too heavy for one parcel goes in several, each but the last as heavy as may be. From `free_from` on the
        first of them costs nothing, whatever it weighs.
        """
        full, rest = divmod(max(grams, 0), HEAVIEST_PARCEL)
        parcels = [HEAVIEST_PARCEL] * full + ([rest] if rest or not full else [])
        free = self.free_from is not None and subtotal >= self.free_from
        return sum((self.parcel_price(each) for each in parcels[free:]), self.price * 0)

    def parcel_price(self, grams: int) -> Money:
        """Return what one parcel of that weight costs. Raises ValueError if it is too heavy for one."""
        for up_to, more in BANDS:
            if grams <= up_to:
                return self.price + _eur(more)
        raise ValueError(f"{grams} g are more than one parcel")

    def delivery_estimate(self, now: datetime) -> tuple[date, date]:
        """Return the first and the last day on which the parcel can be expected, for an order placed now.

        It depends on the day in the shop's time zone alone: a page that is kept for a day may show it (decision 044).
        """
        today = timezone.localdate(now)
        return _after(today, self.days[0]), _after(today, self.days[1])


def _after(day: date, working_days: int) -> date:
    while working_days:
        day += timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


def _eur(amount: str) -> Money:
    return Money(Decimal(amount), EUR)


def _country_methods(
    carrier: str,
    price: str,
    days: tuple[int, int],
    free_from: str,
    express: str,
    by: str,
    fast: tuple[int, int],
) -> tuple[DeliveryMethod, ...]:
    return (
        DeliveryMethod(
            "standard", gettext_lazy("Standard"), carrier, _eur(price), days, _eur(free_from)
        ),
        DeliveryMethod("express", gettext_lazy("Express"), by, _eur(express), fast),
    )


# From Berlin or Cork. The shop's own country first, then by name.
DELIVERY_METHODS: dict[str, tuple[DeliveryMethod, ...]] = {
    "DE": _country_methods("DHL", "4.90", (2, 3), "60.00", "9.90", "DHL Express", (1, 1)),
    "AT": _country_methods(
        "Österreichische Post", "5.90", (2, 4), "70.00", "14.90", "DHL Express", (1, 2)
    ),
    "BE": _country_methods("bpost", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "CZ": _country_methods("Česká pošta", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "DK": _country_methods("PostNord", "7.90", (2, 4), "90.00", "16.90", "DHL Express", (1, 2)),
    "FI": _country_methods("Posti", "9.90", (4, 6), "110.00", "19.90", "DHL Express", (2, 3)),
    "FR": _country_methods("Colissimo", "6.90", (3, 5), "80.00", "14.90", "Chronopost", (1, 2)),
    "IE": _country_methods("An Post", "5.90", (2, 4), "70.00", "12.90", "DPD Ireland", (1, 1)),
    "IT": _country_methods(
        "Poste Italiane", "7.90", (4, 6), "90.00", "16.90", "DHL Express", (2, 3)
    ),
    "LU": _country_methods(
        "POST Luxembourg", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)
    ),
    "NL": _country_methods("PostNL", "5.90", (2, 3), "70.00", "12.90", "DHL Express", (1, 2)),
    "PL": _country_methods(
        "Poczta Polska", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)
    ),
    "PT": _country_methods("CTT", "8.90", (4, 6), "100.00", "18.90", "DHL Express", (2, 3)),
    "ES": _country_methods("Correos", "7.90", (4, 6), "90.00", "16.90", "DHL Express", (2, 3)),
    "SE": _country_methods("PostNord", "8.90", (3, 5), "100.00", "18.90", "DHL Express", (1, 2)),
}
DEFAULT_COUNTRY = "DE"


def list_delivery_methods(country: str) -> Sequence[DeliveryMethod]:
    """Return the ways to deliver to a country, the usual one first; none for a country we do not deliver to."""
    return DELIVERY_METHODS.get(country, ())


def get_delivery_method(country: str, code: str) -> DeliveryMethod:
    """Return a way to deliver. Raises KeyError if there is none of that code to that country."""
    for each in list_delivery_methods(country):
        if each.code == code:
            return each
    raise KeyError(f"no delivery {code!r} to {country!r}")
