"""Convert money: whole minor units in Cassandra, `Money` (a Decimal and an ISO 4217 currency) in Python."""

from decimal import Decimal

from moneyed import Money, get_currency


def from_minor_units(minor_units: int, currency: str) -> Money:
    """Return an amount in minor units (cents, in currencies that have cents) as Money."""
    unit = get_currency(currency)
    return Money(Decimal(minor_units) / unit.sub_unit, unit)


def to_minor_units(amount: Money) -> int:
    """Return the amount in minor units. Raises ValueError if it has a fraction of a minor unit."""
    units = amount.amount * amount.currency.sub_unit
    if units != units.to_integral_value():
        raise ValueError(f"{amount} has a fraction of a minor unit")
    return int(units)
