"""E-mail addresses on pages."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def email_address(address: str) -> SafeString:
    """Render an e-mail address that breaks only if it is longer than a line. Its text stays whole for copying."""
    return format_html('<span class="mailbox">{}</span>', address)
