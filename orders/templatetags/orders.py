"""Template tags about all orders."""

from django import template

from shop_settings.terms import get_terms

register = template.Library()


@register.simple_tag
def return_days() -> int:
    """Return for how many days after its delivery an item may be returned."""
    return get_terms().return_days


@register.simple_tag
def withdrawal_days() -> int:
    """Return for how many days after the last item has arrived a consumer may withdraw from the contract."""
    return get_terms().withdrawal_days
