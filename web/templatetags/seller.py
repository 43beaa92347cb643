"""The seller's mailbox, for the pages that must have it."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from cassandra_db import CassandraUnavailable
from shop_settings.terms import get_terms, list_first_terms

register = template.Library()


@register.simple_tag
def seller_mail() -> SafeString:
    """Draw a link to the seller's mailbox."""
    try:
        terms = get_terms()
    except CassandraUnavailable:
        # The error page that is shown while Cassandra is away names the seller, too.
        terms = list_first_terms()["first"]
    return format_html('<a href="mailto:{0}">{0}</a>', terms.email)
