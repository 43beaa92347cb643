"""The filter for people's words on pages that others read."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def bdi(words: object) -> SafeString:
    """Draw somebody's words so that their direction of writing changes nothing around them."""
    return format_html("<bdi>{}</bdi>", "" if words is None else words)
