"""Template filter for a product's description."""

from django import template
from django.utils.safestring import SafeString

from catalogue.descriptions import format_description

register = template.Library()


@register.filter
def formatted(text: str) -> SafeString:
    """Return a description as HTML, formatted from its Markdown."""
    return format_description(text)
