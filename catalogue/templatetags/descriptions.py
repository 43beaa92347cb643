"""A product's description in a page."""

from django import template
from django.utils.safestring import SafeString

from catalogue.descriptions import format_description

register = template.Library()


@register.filter
def formatted(text: str) -> SafeString:
    """Return a description, with its Markdown formatted as HTML."""
    return format_description(text)
