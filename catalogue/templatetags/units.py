"""Units in words."""

from django import template

from catalogue.unit_prices import UNITS
from web.types import StrOrPromise

register = template.Library()


@register.filter
def unit_amount(unit: str) -> StrOrPromise:
    """Return the amount for which a unit price is shown, such as "100 g"; "" for an unknown unit."""
    return UNITS[unit].label if unit in UNITS else ""
