"""The seller's name and address, for the pages that must have them."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from cassandra_db import CassandraUnavailable
from shop_settings.terms import Terms, get_terms, list_first_terms

register = template.Library()


def _terms() -> Terms:
    try:
        return get_terms()
    except CassandraUnavailable:
        # The error page that is shown while Cassandra is away names the seller, too.
        return list_first_terms()["first"]


@register.simple_tag
def seller(name: str) -> str:
    """Return the seller's "name", "address" (in one line) or "vat_id", as `name` says."""
    terms = _terms()
    found = {
        "name": terms.seller_name,
        "address": ", ".join(terms.seller_address),
        "vat_id": terms.vat_id,
    }
    return found[name]


@register.simple_tag
def seller_mail() -> SafeString:
    """Draw a link to the seller's mailbox."""
    return format_html('<a href="mailto:{0}">{0}</a>', _terms().email)
