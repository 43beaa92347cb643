"""How a parcel gets to each country we deliver to, and what that costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.utils import timezone
from moneyed import EUR, Money


@dataclass(frozen=True)
class Method:
    """One way to deliver. Days are working days from the order on; `free_from` is a sum of goods, None for never."""

    code: str
    name: str
    carrier: str
    price: Money
    days: tuple[int, int]
    free_from: Money | None = None

    def price_for(self, goods: Money) -> Money:
        """Return what this costs for goods of that sum (EUR, tax included)."""
        return self.price * 0 if self.free_from is not None and goods >= self.free_from else self.price

    def arrives(self, now: datetime) -> tuple[date, date]:
        """Return the first and the last day on which the parcel can be expected, for an order placed now."""
        today = timezone.localdate(now)
        return _after(today, self.days[0]), _after(today, self.days[1])


def _after(day: date, working_days: int) -> date:
    while working_days:
        day += timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


def _eur(amount: str) -> Money:
    return Money(Decimal(amount), EUR)


METHODS: dict[str, tuple[Method, ...]] = {
    "DE": (
        Method("standard", "Standard", "DHL", _eur("4.90"), (2, 3), _eur("60.00")),
        Method("express", "Express", "DHL Express", _eur("9.90"), (1, 1)),
    ),
    "FR": (
        Method("standard", "Standard", "Colissimo", _eur("6.90"), (3, 5), _eur("80.00")),
        Method("express", "Express", "Chronopost", _eur("14.90"), (1, 2)),
    ),
    "IE": (
        Method("standard", "Standard", "An Post", _eur("5.90"), (2, 4), _eur("70.00")),
        Method("express", "Express", "DPD Ireland", _eur("12.90"), (1, 1)),
    ),
}
DEFAULT_COUNTRY = "DE"


def methods(country: str) -> Sequence[Method]:
    """Return the ways to deliver to a country, the usual one first; none for a country we do not deliver to."""
    return METHODS.get(country, ())


def method(country: str, code: str) -> Method:
    """Return a way to deliver. Raises KeyError if there is none of that code to that country."""
    for each in methods(country):
        if each.code == code:
            return each
    raise KeyError(f"no delivery {code!r} to {country!r}")
