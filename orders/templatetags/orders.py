"""What templates say of all orders alike."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def return_days() -> int:
    """Return for how many days after its arrival a thing may be sent back."""
    return int(settings.RETURN_DAYS)
