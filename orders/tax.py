"""The tax that prices include.

Prices include tax. How much of a sum is tax is computed from the sum of all that has one rate, not line by line, and
rounded half up to the cent once for each rate: so net and tax add up to what is paid, to the cent.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from moneyed import Money

from catalogue.money import money

# Per cent. As of 2025-11: Germany UStG § 12 (19, 7); France CGI art. 278 and 278-0 bis (20, 5.5);
# Ireland VAT Consolidation Act 2010 s. 46 (23, 13.5). Goods sent to consumers are taxed where they arrive.
# Which goods are "reduced" is the catalogue's word (Product.tax_class).
RATES = {
    "DE": {"standard": Decimal("19"), "reduced": Decimal("7")},
    "FR": {"standard": Decimal("20"), "reduced": Decimal("5.5")},
    "IE": {"standard": Decimal("23"), "reduced": Decimal("13.5")},
}


@dataclass(frozen=True)
class TaxPart:
    """What one rate comes to: `net` and `tax` add up to the gross sum."""

    rate: Decimal  # per cent
    net: Money
    tax: Money


def included(sums: Iterable[tuple[str, Money]], country: str) -> tuple[TaxPart, ...]:
    """Split sums of (tax class, gross) by rate, the highest first. Raises KeyError for a country we do not deliver to."""
    gross: dict[Decimal, Money] = {}
    for tax_class, amount in sums:
        rate = RATES[country][tax_class]
        gross[rate] = gross[rate] + amount if rate in gross else amount
    return tuple(_split(rate, gross[rate]) for rate in sorted(gross, reverse=True) if gross[rate].amount)


def _split(rate: Decimal, gross: Money) -> TaxPart:
    cents = gross.amount * gross.currency.sub_unit * rate / (100 + rate)
    tax = money(int(cents.quantize(Decimal(1), ROUND_HALF_UP)), gross.currency.code)
    return TaxPart(rate, gross - tax, tax)
