"""The price of a fixed amount of a product, such as "€12.40 / 100 g" (Directive 98/6/EC). No database."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from django.utils.translation import gettext_lazy as _
from moneyed import Money

from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units
from web.types import StrOrPromise


@dataclass(frozen=True)
class Unit:
    """A unit in which staff enter the content of a variant. The unit price is for `amount` units."""

    name: StrOrPromise
    label: StrOrPromise
    amount: int = 1


# Keyed by what products store. Staff choose between 100 g and 1 kg, because national laws differ.
UNITS = {
    "g": Unit(_("Grams, price per 100 g"), _("100 g"), 100),
    "kg": Unit(_("Kilograms, price per kg"), _("kg")),
    "ml": Unit(_("Millilitres, price per 100 ml"), _("100 ml"), 100),
    "l": Unit(_("Litres, price per l"), _("l")),
    "m": Unit(_("Metres, price per m"), _("m")),
    "m2": Unit(_("Square metres, price per m²"), _("m²")),
    "piece": Unit(_("Pieces, price per piece"), _("piece")),
}


def compute_unit_price(product: Product, variant: Variant) -> Money | None:
    """Return the price of the unit's amount of a variant, or None if the unit or the content is unknown."""
    unit = UNITS.get(product.unit)
    if unit is None or not variant.content:
        return None
    cents = to_minor_units(variant.price) * unit.amount / variant.content
    rounded = int(cents.quantize(Decimal(1), ROUND_HALF_UP))
    return from_minor_units(rounded, variant.price.currency.code)
