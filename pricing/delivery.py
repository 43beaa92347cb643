"""The delivery methods to each country, and their prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from moneyed import Money

from pricing.delivery_settings import DELIVERY, DeliverySetting, country_name, list_first_settings
from pricing.weight_settings import WeightBand, get_bands
from shop_settings.queries import get_settings


@dataclass(frozen=True)
class DeliveryMethod:
    """One way to deliver to a country. `days` are working days, counted from the order.

    Delivery is free from the subtotal `free_from` on (None: never). `price` is for a parcel of the lightest of the `bands`, or of
    any weight without bands. An order may weigh at most `max_grams` (None: unlimited). Without a carrier, it is a pickup.
    """

    code: str
    name: str
    carrier: str
    price: Money
    days: tuple[int, int]
    free_from: Money | None = None
    max_grams: int | None = None
    bands: tuple[WeightBand, ...] = ()

    @property
    def label(self) -> str:
        """The method's name with the carrier."""
        return method_label(str(self.name), self.carrier)

    def takes(self, grams: int) -> bool:
        """Return whether an order of this weight can be delivered with this method."""
        return self.max_grams is None or grams <= self.max_grams

    def price_for(self, subtotal: Money, grams: int = 0) -> Money:
        """Return the price for lines of this subtotal and weight: with tax, or net in countries where tax is added.

        Heavy orders go in several parcels, all but the last as heavy as allowed. From the subtotal `free_from` on, the first
        parcel is free.
        """
        parcels = self.split_weight(max(grams, 0))
        free = self.free_from is not None and subtotal >= self.free_from
        return sum((self.parcel_price(each) for each in parcels[free:]), self.price * 0)

    def split_weight(self, grams: int) -> list[int]:
        """Return the weight of each parcel; there is at least one parcel."""
        if not self.bands:
            return [grams]
        heaviest = self.bands[-1].max_grams
        full, rest = divmod(grams, heaviest)
        return [heaviest] * full + ([rest] if rest or not full else [])

    def parcel_price(self, grams: int) -> Money:
        """Return the price of one parcel of this weight. Raises ValueError if the weight is too large for one parcel."""
        if not self.bands:
            return self.price
        for band in self.bands:
            if grams <= band.max_grams:
                return self.price + Money(band.surcharge, self.price.currency)
        raise ValueError(f"{grams} g are more than one parcel")

    def delivery_estimate(self, now: datetime) -> tuple[date, date]:
        """Return the first and the last expected day of arrival for an order placed now.

        The days depend only on the present day in the shop's time zone, so a page may show them for a day (decision 044).
        """
        today = timezone.localdate(now)
        return _after(today, self.days[0]), _after(today, self.days[1])

    def promise(self, now: datetime) -> "PromisedDelivery":
        """Return the delivery promise that is stored with an order placed now."""
        first, last = self.delivery_estimate(now)
        return PromisedDelivery(
            self.code, str(self.name), self.carrier, timezone.localdate(now), first, last
        )


@dataclass(frozen=True)
class PromisedDelivery:
    """A delivery method as it was when an order was placed. The order stores the price.

    The parcel is expected from `first` to `last`, which are days in the shop's time zone.
    """

    code: str
    name: str
    carrier: str
    placed_on: date
    first: date
    last: date

    @property
    def label(self) -> str:
        """The name with the carrier."""
        return method_label(self.name, self.carrier)

    def delivery_estimate(self, confirmed_at: datetime) -> tuple[date, date]:
        """Return the first and the last expected day of arrival, counted from the moment of the order's confirmation."""
        day = timezone.localdate(confirmed_at)
        if day <= self.placed_on:
            return self.first, self.last
        return (
            _after(day, _working_days_between(self.placed_on, self.first)),
            _after(day, _working_days_between(self.placed_on, self.last)),
        )


def former_promise(country: str, code: str, placed_at: datetime) -> PromisedDelivery:
    """Return the promise, by a new shop's settings, for an order that was placed before orders stored theirs."""
    for each in list_first_settings().values():
        if each.code == code and country in each.countries:
            return _make_method(each).promise(placed_at)
    day = timezone.localdate(placed_at)
    return PromisedDelivery(code, code.capitalize(), "", day, day, day)


def method_label(name: str, carrier: str) -> str:
    """Return a delivery method in words: "Standard, DHL"."""
    return ", ".join(filter(None, (name, carrier)))


def _working_days_between(start: date, end: date) -> int:
    return sum(
        (start + timedelta(days=each)).weekday() < 5 for each in range(1, (end - start).days + 1)
    )


def _after(day: date, working_days: int) -> date:
    while working_days:
        day += timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


# For visitors whose country is unknown.
DEFAULT_COUNTRY = "DE"


def _make_method(setting: DeliverySetting, bands: tuple[WeightBand, ...] = ()) -> DeliveryMethod:
    """Return the delivery method of a setting."""
    currency = settings.CURRENCY
    return DeliveryMethod(
        setting.code,
        setting.name,
        "" if setting.is_pickup else setting.carrier,
        Money(setting.price, currency),
        (setting.first_day, setting.last_day),
        None if setting.free_from is None else Money(setting.free_from, currency),
        setting.max_grams,
        bands,
    )


def _methods_by_country(day: date) -> Mapping[str, tuple[DeliveryMethod, ...]]:
    """Return a day's methods by country, the usual method first. The shop's own country leads; the others are sorted by name."""
    snapshot = get_settings()

    def group() -> dict[str, tuple[DeliveryMethod, ...]]:
        found: dict[str, list[DeliveryMethod]] = {}
        bands = get_bands(snapshot)
        offered = (
            each for each in snapshot.get_values(DELIVERY).values() if each.is_offered_on(day)
        )
        for each in sorted(offered, key=lambda each: (each.position, each.price, each.name)):
            for country in each.countries:
                found.setdefault(country, []).append(_make_method(each, bands))
        order = sorted(found, key=lambda code: (code != DEFAULT_COUNTRY, country_name(code)))
        return {country: tuple(found[country]) for country in order}

    return snapshot.compute(("delivery methods", day), group)


def list_delivery_countries() -> tuple[str, ...]:
    """Return the countries of delivery today: the shop's own first, the others sorted by name. Raises CassandraUnavailable."""
    return tuple(_methods_by_country(timezone.localdate()))


def get_default_country() -> str:
    """Return the country that the shop assumes for a visitor whose country is unknown. Raises CassandraUnavailable."""
    countries = list_delivery_countries()
    return DEFAULT_COUNTRY if DEFAULT_COUNTRY in countries or not countries else countries[0]


def list_delivery_methods(country: str) -> Sequence[DeliveryMethod]:
    """Return today's delivery methods for a country, the usual one first; none if there are none. Raises CassandraUnavailable."""
    return _methods_by_country(timezone.localdate()).get(country, ())


def list_all_methods() -> dict[str, str]:
    """Return the names of all delivery methods by code, including methods that are no longer offered. Raises CassandraUnavailable."""
    known = get_settings().get_values(DELIVERY).values()
    return {each.code: each.name for each in sorted(known, key=lambda each: each.position)}


def list_weight_bands() -> tuple[WeightBand, ...]:
    """Return the surcharges of parcels by weight, lightest first. Raises CassandraUnavailable."""
    return get_bands(get_settings())
