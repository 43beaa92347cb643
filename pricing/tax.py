"""The tax on sales: included in the prices, or added to them.

Prices for consumers in the Union must include tax. Staff can set the prices for a country to be net. Tax is computed once per
rate from the whole sum with this rate, and rounded half up to the cent. So net and tax add up to the paid sum exactly.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.conf import settings
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from moneyed import Money

from pricing.money import from_minor_units
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot
from shop_settings.queries import get_settings

# The tax classes of products. Each country's law says which products have the reduced rate.
TAX_CLASSES = ("standard", "reduced")


def _rates(standard: str, reduced: str) -> dict[str, Decimal]:
    return {"standard": Decimal(standard), "reduced": Decimal(reduced)}


# Per cent, as of 2026, for a new shop. Goods for consumers are taxed in the country of arrival (Directive 2006/112/EC, art. 33).
# The catalogue decides which products are "reduced" (Product.tax_class). If a country has several reduced rates, this is the rate
# for such products as far as we know. The shop's accountant has to confirm each rate before the first sale to its country.
_FIRST_RATES = {
    "AT": _rates("20", "10"),  # UStG 1994 § 10
    "BE": _rates("21", "6"),  # Royal Decree no. 20 of 20 July 1970
    "CZ": _rates("21", "12"),  # Act 235/2004, § 47, since 2024
    "DE": _rates("19", "7"),  # UStG § 12
    "DK": _rates("25", "25"),  # Momsloven § 33; there is no reduced rate
    "ES": _rates("21", "10"),  # Ley 37/1992, art. 90 and 91; the mainland and the Balearic Islands
    # Arvonlisäverolaki 1501/1993, §§ 84 and 85; 13.5 since January 2026
    "FI": _rates("25.5", "13.5"),
    "FR": _rates("20", "5.5"),  # CGI art. 278 and 278-0 bis
    "IE": _rates("23", "13.5"),  # VAT Consolidation Act 2010, s. 46
    "IT": _rates("22", "10"),  # DPR 633/1972, art. 16
    "LU": _rates("17", "8"),  # Law of 12 February 1979, art. 39 ff.
    "NL": _rates("21", "9"),  # Wet op de omzetbelasting 1968, art. 9
    "PL": _rates("23", "8"),  # Act of 11 March 2004, art. 41 and 146
    "PT": _rates("23", "6"),  # CIVA art. 18; the mainland
    "SE": _rates("25", "12"),  # Mervärdesskattelagen 2023:200, chapter 9
}
_FIRST_DAY = date(2026, 1, 1)


@dataclass(frozen=True)
class TaxPart:
    """The net sum and the tax of one rate; together they are the gross sum."""

    rate: Decimal  # per cent
    net: Money
    tax: Money


@dataclass(frozen=True)
class TaxRates:
    """A country's rates on a day, in per cent by tax class, and whether prices for the country are net."""

    by_class: Mapping[str, Decimal]
    is_added: bool = False


@dataclass(frozen=True)
class DatedRates:
    """A country's rates from a day on, in per cent, sorted as TAX_CLASSES."""

    valid_from: date
    rates: tuple[Decimal, ...]

    @property
    def by_class(self) -> dict[str, Decimal]:
        return dict(zip(TAX_CLASSES, self.rates, strict=True))


@dataclass(frozen=True)
class TaxSetting:
    """A country's taxes as staff set them: its rates, oldest first, and whether prices for the country are net."""

    country: str
    periods: tuple[DatedRates, ...]
    is_added: bool = False

    def get_period(self, day: date) -> DatedRates:
        """Return the rates of a day. For a day before the first rates, return the first."""
        return next(
            (each for each in reversed(self.periods) if each.valid_from <= day), self.periods[0]
        )


def _parse_setting(key: str, value: Mapping[str, Any]) -> TaxSetting:
    periods = (
        DatedRates(
            date.fromisoformat(each["valid_from"]),
            tuple(Decimal(each[name]) for name in TAX_CLASSES),
        )
        for each in value["periods"]
    )
    return TaxSetting(
        key, tuple(sorted(periods, key=lambda each: each.valid_from)), value["is_added"]
    )


def _dump_setting(setting: TaxSetting) -> dict[str, Any]:
    return {
        "is_added": setting.is_added,
        "periods": [
            {"valid_from": str(each.valid_from)}
            | {name: f"{rate.normalize():f}" for name, rate in each.by_class.items()}
            for each in setting.periods
        ],
    }


def list_first_settings() -> dict[str, TaxSetting]:
    """Return the taxes of a new shop, by country."""
    return {
        country: TaxSetting(
            country,
            (DatedRates(_FIRST_DAY, tuple(rates[name] for name in TAX_CLASSES)),),
            country in settings.TAX_ADDED_IN,
        )
        for country, rates in _FIRST_RATES.items()
    }


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that each country has rates today, and no two sets of rates that begin on the same day."""
    for setting in snapshot.get_values(TAX).values():
        days = [each.valid_from for each in setting.periods]
        if len(set(days)) != len(days):
            raise SettingRefused(_("Two lines begin on the same day. Keep one of them."), "periods")
        if not days or min(days) > today:
            raise SettingRefused(
                _("No rates hold today. One line has to begin today or earlier."), "periods"
            )


TAX = SettingKind("tax", _parse_setting, _dump_setting, list_first_settings, _check)


def get_tax_rates(country: str) -> TaxRates:
    """Return a country's rates today. Raises KeyError for a country without rates. Also raises CassandraUnavailable."""
    setting = get_settings().get_values(TAX)[country]
    return TaxRates(setting.get_period(localdate()).by_class, setting.is_added)


def former_tax_rates(country: str) -> Mapping[str, Decimal]:
    """Return the first rates of a country, for an order that was placed before orders stored theirs. Raises KeyError."""
    return _FIRST_RATES[country]


def split_included_tax(
    sums: Iterable[tuple[str, Money]], rates: Mapping[str, Decimal]
) -> tuple[TaxPart, ...]:
    """Split sums of (tax class, gross) by tax rate, highest rate first. `rates` has the rate of each tax class."""
    return tuple(_split(rate, gross) for rate, gross in _by_rate(sums, rates))


def compute_added_tax(
    sums: Iterable[tuple[str, Money]], rates: Mapping[str, Decimal]
) -> tuple[TaxPart, ...]:
    """Return the tax on sums of (tax class, net) by tax rate, highest rate first. `rates` has the rate of each tax class."""
    return tuple(
        TaxPart(rate, net, _rounded(_cents(net) * rate / 100, net.currency.code))
        for rate, net in _by_rate(sums, rates)
    )


def _by_rate(
    sums: Iterable[tuple[str, Money]], rates: Mapping[str, Decimal]
) -> list[tuple[Decimal, Money]]:
    found: dict[Decimal, Money] = {}
    for tax_class, amount in sums:
        rate = rates[tax_class]
        found[rate] = found[rate] + amount if rate in found else amount
    return [(rate, found[rate]) for rate in sorted(found, reverse=True) if found[rate].amount]


def _split(rate: Decimal, gross: Money) -> TaxPart:
    tax = _rounded(_cents(gross) * rate / (100 + rate), gross.currency.code)
    return TaxPart(rate, gross - tax, tax)


def _cents(amount: Money) -> Decimal:
    return Decimal(amount.amount * amount.currency.sub_unit)


def _rounded(cents: Decimal, currency: str) -> Money:
    return from_minor_units(int(cents.quantize(Decimal(1), ROUND_HALF_UP)), currency)
