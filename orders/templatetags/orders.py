"""Template tags about all orders."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def return_days() -> int:
    """Return for how many days after its delivery an item may be returned."""
    return int(settings.RETURN_DAYS)


@register.simple_tag
def withdrawal_days() -> int:
    """Return for how many days after the last item has arrived a consumer may withdraw from the contract."""
    return int(settings.WITHDRAWAL_DAYS)
