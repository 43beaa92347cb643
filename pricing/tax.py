"""The tax on what is sold: included in the prices, or added to them.

Prices include tax, as they must for consumers in the Union. In the countries that the setting TAX_ADDED_IN names they are
net, and tax comes on top. Either way it is computed from the sum of all that has one rate, not line by line, and
rounded half up to the cent once for each rate: so net and tax add up to what is paid, to the cent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.conf import settings
from moneyed import Money

from pricing.money import from_minor_units

# What a product may be: the reduced rate is for what each country's law names.
TAX_CLASSES = ("standard", "reduced")


def _rates(standard: str, reduced: str) -> dict[str, Decimal]:
    return {"standard": Decimal(standard), "reduced": Decimal(reduced)}


# Per cent, as of 2026. Goods sent to consumers are taxed where they arrive (Directive 2006/112/EC, art. 33), and which
# products are "reduced" is the catalogue's choice (Product.tax_class). Where a country has several reduced rates this is
# the one for such products as far as we know; the shop's accountant has to confirm each before the first sale there.
RATES = {
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


@dataclass(frozen=True)
class TaxPart:
    """What one rate comes to: `net` and `tax` add up to the gross sum."""

    rate: Decimal  # per cent
    net: Money
    tax: Money


@dataclass(frozen=True)
class TaxRates:
    """The rates of a country at a time, in per cent by tax class, and whether prices are net there, with tax on top."""

    by_class: Mapping[str, Decimal]
    is_added: bool = False


def get_tax_rates(country: str) -> TaxRates:
    """Return the rates of a country. Raises KeyError for one whose rates are not known."""
    return TaxRates(RATES[country], country in settings.TAX_ADDED_IN)


def former_tax_rates(country: str) -> Mapping[str, Decimal]:
    """Return the rates of an order that was placed before orders kept theirs. Raises KeyError as `get_tax_rates` does."""
    return RATES[country]


def split_included_tax(
    sums: Iterable[tuple[str, Money]], rates: Mapping[str, Decimal]
) -> tuple[TaxPart, ...]:
    """Split sums of (tax class, gross) by rate, the highest first; `rates` are by tax class."""
    return tuple(_split(rate, gross) for rate, gross in _by_rate(sums, rates))


def compute_added_tax(
    sums: Iterable[tuple[str, Money]], rates: Mapping[str, Decimal]
) -> tuple[TaxPart, ...]:
    """Return the tax on sums of (tax class, net) by rate, the highest first; `rates` are by tax class."""
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
