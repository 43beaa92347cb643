"""The filter for e-mail addresses on pages."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def email_address(address: str) -> SafeString:
    """Render an e-mail address that breaks only if it is longer than a line. A copy of its text is unbroken."""
    return format_html('<span class="mailbox">{}</span>', address)
