"""E-mail addresses on pages."""

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def email_address(address: str) -> SafeString:
    """Draw an e-mail address that a line breaks behind its @, not within a word."""
    # Nothing in an escaped text contains an @ that is not one.
    return SafeString(conditional_escape(address).replace("@", "@<wbr>"))
