"""The filter for a person's words on a page that other people read."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def bdi(words: object) -> SafeString:
    """Draw a person's words so that their direction of writing does not change the text around them."""
    return format_html("<bdi>{}</bdi>", "" if words is None else words)
