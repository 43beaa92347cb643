"""The staff's settings of delivery methods, the rules that they must keep together, and the settings of a new shop."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from itertools import combinations
from math import inf
from typing import Any

from babel import Locale
from django.utils.translation import gettext as _

from pricing.tax import TAX
from pricing.templatetags.money import LOCALE
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot


@cache
def country_name(code: str) -> str:
    """Return a country's name in English."""
    return str(Locale.parse(LOCALE).territories.get(code, code))


@cache
def list_country_codes() -> dict[str, str]:
    """Return the codes of all countries, keyed by their English names in lower case."""
    # Babel's numeric codes are for continents and regions.
    return {
        str(name).casefold(): str(code)
        for code, name in Locale.parse(LOCALE).territories.items()
        if re.fullmatch("[A-Z]{2}", str(code))
    }


@dataclass(frozen=True)
class DeliverySetting:
    """A delivery method as staff set it: one way to deliver to some countries, for a time.

    Settings with the same code are one method to shoppers, with different terms for different countries. Prices are in the
    shop's currency; days are working days. The method is offered from `valid_from` to `valid_until`, both days included; None
    is unlimited. An order may weigh at most `max_grams`; None is unlimited. With `is_pickup` the shopper picks the order up in
    the shop, and there is no carrier.
    """

    key: str
    code: str
    name: str
    countries: tuple[str, ...]
    carrier: str
    price: Decimal
    first_day: int
    last_day: int
    free_from: Decimal | None = None
    max_grams: int | None = None
    is_pickup: bool = False
    is_active: bool = True
    valid_from: date | None = None
    valid_until: date | None = None
    position: int = 0

    def is_offered_on(self, day: date) -> bool:
        """Return whether shoppers can choose the method on a day."""
        return (
            self.is_active
            and (self.valid_from is None or self.valid_from <= day)
            and (self.valid_until is None or day <= self.valid_until)
        )


def _parse_setting(key: str, value: Mapping[str, Any]) -> DeliverySetting:
    def amount(name: str) -> Decimal | None:
        return None if value[name] is None else Decimal(value[name])

    def day(name: str) -> date | None:
        return None if value[name] is None else date.fromisoformat(value[name])

    return DeliverySetting(
        key=key,
        code=value["code"],
        name=value["name"],
        countries=tuple(value["countries"]),
        carrier=value["carrier"],
        price=Decimal(value["price"]),
        first_day=value["first_day"],
        last_day=value["last_day"],
        free_from=amount("free_from"),
        max_grams=value["max_grams"],
        is_pickup=value["is_pickup"],
        is_active=value["is_active"],
        valid_from=day("valid_from"),
        valid_until=day("valid_until"),
        position=value["position"],
    )


def _dump_setting(setting: DeliverySetting) -> dict[str, Any]:
    def text(value: object) -> str | None:
        return None if value is None else str(value)

    return {
        "code": setting.code,
        "name": setting.name,
        "countries": sorted(setting.countries),
        "carrier": setting.carrier,
        "price": f"{setting.price:.2f}",
        "first_day": setting.first_day,
        "last_day": setting.last_day,
        "free_from": None if setting.free_from is None else f"{setting.free_from:.2f}",
        "max_grams": setting.max_grams,
        "is_pickup": setting.is_pickup,
        "is_active": setting.is_active,
        "valid_from": text(setting.valid_from),
        "valid_until": text(setting.valid_until),
        "position": setting.position,
    }


@dataclass(frozen=True)
class _FirstMethods:
    """A new shop's two delivery methods to a country: the usual one and the fast one."""

    carrier: str
    price: str
    days: tuple[int, int]
    free_from: str
    fast_price: str
    fast_carrier: str
    fast_days: tuple[int, int]


# Working days for parcels from Berlin or Cork.
_FIRST_METHODS: dict[str, _FirstMethods] = {
    "DE": _FirstMethods("DHL", "4.90", (2, 3), "60.00", "9.90", "DHL Express", (1, 1)),
    "AT": _FirstMethods(
        "Österreichische Post", "5.90", (2, 4), "70.00", "14.90", "DHL Express", (1, 2)
    ),
    "BE": _FirstMethods("bpost", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "CZ": _FirstMethods("Česká pošta", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "DK": _FirstMethods("PostNord", "7.90", (2, 4), "90.00", "16.90", "DHL Express", (1, 2)),
    "FI": _FirstMethods("Posti", "9.90", (4, 6), "110.00", "19.90", "DHL Express", (2, 3)),
    "FR": _FirstMethods("Colissimo", "6.90", (3, 5), "80.00", "14.90", "Chronopost", (1, 2)),
    "IE": _FirstMethods("An Post", "5.90", (2, 4), "70.00", "12.90", "DPD Ireland", (1, 1)),
    "IT": _FirstMethods("Poste Italiane", "7.90", (4, 6), "90.00", "16.90", "DHL Express", (2, 3)),
    "LU": _FirstMethods("POST Luxembourg", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "NL": _FirstMethods("PostNL", "5.90", (2, 3), "70.00", "12.90", "DHL Express", (1, 2)),
    "PL": _FirstMethods("Poczta Polska", "6.90", (2, 4), "80.00", "14.90", "DHL Express", (1, 2)),
    "PT": _FirstMethods("CTT", "8.90", (4, 6), "100.00", "18.90", "DHL Express", (2, 3)),
    "ES": _FirstMethods("Correos", "7.90", (4, 6), "90.00", "16.90", "DHL Express", (2, 3)),
    "SE": _FirstMethods("PostNord", "8.90", (3, 5), "100.00", "18.90", "DHL Express", (1, 2)),
}


def list_first_settings() -> dict[str, DeliverySetting]:
    """Return the delivery methods of a new shop, by key. Countries with equal terms share a setting."""
    found: dict[DeliverySetting, list[str]] = {}
    for country, each in _FIRST_METHODS.items():
        standard = DeliverySetting(
            "",
            "standard",
            _("Standard"),
            (),
            each.carrier,
            Decimal(each.price),
            *each.days,
            free_from=Decimal(each.free_from),
        )
        express = DeliverySetting(
            "",
            "express",
            _("Express"),
            (),
            each.fast_carrier,
            Decimal(each.fast_price),
            *each.fast_days,
            position=1,
        )
        for setting in (standard, express):
            found.setdefault(setting, []).append(country)
    return {
        key: replace(setting, key=key, countries=tuple(sorted(countries)))
        for setting, countries in found.items()
        for key in [f"{setting.code}-{countries[0].lower()}"]
    }


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that methods do not overlap, that each country has tax rates, and that a method without a last day is left."""
    found = tuple(snapshot.get_values(DELIVERY).values())
    taxed = snapshot.get_values(TAX)
    for each in found:
        for country in each.countries:
            if country not in taxed:
                raise SettingRefused(
                    _("There are no tax rates for %(country)s yet. Add them first.")
                    % {"country": country_name(country)},
                    "countries",
                )
    for one, other in combinations(found, 2):
        if countries := find_overlap(one, other):
            raise SettingRefused(
                _(
                    "%(name)s would be offered to %(countries)s twice at the same time, by %(one)s and by %(other)s."
                )
                % {
                    "name": one.name,
                    "countries": ", ".join(country_name(each) for each in countries),
                    "one": one.carrier or _("pick-up"),
                    "other": other.carrier or _("pick-up"),
                },
                "countries",
            )
    if not any(
        each.is_offered_on(today)
        and each.valid_until is None
        and each.max_grams is None
        and not each.is_pickup
        for each in found
    ):
        raise SettingRefused(
            _(
                "One active method has to stay that anything can be sent with: without an end date and a weight limit. Add another one first."
            )
        )


DELIVERY = SettingKind("delivery", _parse_setting, _dump_setting, list_first_settings, _check)


def find_overlap(one: DeliverySetting, other: DeliverySetting) -> tuple[str, ...]:
    """Return the countries in which two settings with the same code or name are offered on the same day."""
    is_one = one.code == other.code or one.name.casefold() == other.name.casefold()
    if not is_one or not (one.is_active and other.is_active):
        return ()
    starts = max(one.valid_from or date.min, other.valid_from or date.min)
    ends = min(one.valid_until or date.max, other.valid_until or date.max)
    return tuple(sorted({*one.countries} & {*other.countries})) if starts <= ends else ()


@dataclass(frozen=True)
class LostCountry:
    """A country to which, from a day on, nothing can be sent, or only orders of up to `max_grams`."""

    country: str
    since: date
    max_grams: int | None


def find_lost_countries(
    before: Iterable[DeliverySetting], after: Iterable[DeliverySetting], today: date
) -> list[LostCountry]:
    """Return the countries to which less can be sent after a change than before it; the earliest lost country comes first."""
    before, after = tuple(before), tuple(after)
    return _find_losses(
        (day, _heaviest_by_country(before, day), _heaviest_by_country(after, day))
        for day in _turning_points((*before, *after), today)
    )


def find_coming_gaps(methods: Iterable[DeliverySetting], today: date) -> list[LostCountry]:
    """Return the countries to which less can be sent on a future day than today, because a method's last day has passed."""
    methods = tuple(methods)
    now = _heaviest_by_country(methods, today)
    return _find_losses(
        (day, now, _heaviest_by_country(methods, day)) for day in _turning_points(methods, today)
    )


def _find_losses(
    states: Iterable[tuple[date, Mapping[str, float], Mapping[str, float]]],
) -> list[LostCountry]:
    """Return the first loss of each country. `states` has days, each with the heaviest orders by country before and after a change."""
    found: dict[str, LostCountry] = {}
    for day, had, has in states:
        for country, grams in had.items():
            left = has.get(country, -1)
            if left < grams and country not in found:
                found[country] = LostCountry(country, day, None if left < 0 else int(left))
    return list(found.values())


def _turning_points(methods: Iterable[DeliverySetting], today: date) -> list[date]:
    """Return today and the future days on which a method begins, or is no longer offered."""
    days = {today}
    for each in methods:
        days |= {each.valid_from} if each.valid_from else set()
        days |= {each.valid_until + timedelta(days=1)} if each.valid_until else set()
    return sorted(day for day in days if day >= today)


def _heaviest_by_country(methods: Iterable[DeliverySetting], day: date) -> dict[str, float]:
    """Return the weight of the heaviest order that can be sent on a day, in grams, by country."""
    found: dict[str, float] = {}
    for each in methods:
        if each.is_offered_on(day) and not each.is_pickup:
            grams = inf if each.max_grams is None else each.max_grams
            for country in each.countries:
                found[country] = max(found.get(country, 0), grams)
    return found
