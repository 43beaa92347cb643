"""Who sells, for the pages that have to say so."""

from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def seller(name: str) -> str:
    """Return what `settings.SELLER` says: name, address (in one line), or vat_id."""
    found = settings.SELLER[name]
    return found if isinstance(found, str) else ", ".join(found)


@register.simple_tag
def seller_mail() -> SafeString:
    """Draw a link to the seller's mailbox."""
    return format_html('<a href="mailto:{0}">{0}</a>', settings.SELLER["email"])
