"""E-mail addresses on pages."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def email_address(address: str) -> SafeString:
    """Draw an e-mail address as one word, which breaks only where it is longer than a line. Its text stays whole, to be copied and found."""
    return format_html('<span class="mailbox">{}</span>', address)
