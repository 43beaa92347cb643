"""What apps beside the shop add to the head of each page."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from web.extensions import list_stylesheets

register = template.Library()


@register.simple_tag
def extension_stylesheets() -> SafeString:
    """Link the stylesheets of apps beside the shop; they come after the shop's own."""
    addresses = ((static(each),) for each in list_stylesheets())
    return format_html_join("", '<link rel="stylesheet" href="{}">', addresses)
