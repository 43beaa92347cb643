"""Taxes and discounts as an order's header and events store them in JSON; amounts are in minor units."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pricing.money import from_minor_units, to_minor_units
from pricing.quotes import Discount
from pricing.tax import TaxPart


def dump_taxes(taxes: Iterable[TaxPart]) -> list[dict[str, Any]]:
    """Return the tax of each rate as values for JSON."""
    return [
        {"rate": str(part.rate), "net": to_minor_units(part.net), "tax": to_minor_units(part.tax)}
        for part in taxes
    ]


def parse_taxes(stored: Iterable[Mapping[str, Any]], currency: str) -> tuple[TaxPart, ...]:
    """Return the tax of each rate from the values of `dump_taxes`."""
    return tuple(
        TaxPart(
            Decimal(part["rate"]),
            from_minor_units(part["net"], currency),
            from_minor_units(part["tax"], currency),
        )
        for part in stored
    )


def dump_discounts(discounts: Iterable[Discount]) -> list[dict[str, Any]]:
    """Return discounts as values for JSON."""
    return [
        {
            "name": each.name,
            "amount": to_minor_units(each.amount),
            "key": each.key,
            "lines": each.lines,
        }
        for each in discounts
    ]


def parse_discounts(stored: Iterable[Mapping[str, Any]], currency: str) -> tuple[Discount, ...]:
    """Return discounts from the values of `dump_discounts`. Older ones lack the key and the lines."""
    return tuple(
        Discount(
            part["name"],
            from_minor_units(part["amount"], currency),
            part.get("key", ""),
            tuple(part.get("lines", ())),
        )
        for part in stored
    )
