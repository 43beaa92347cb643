"""Finds the page to which an address of a former shop leads now."""

import re
from uuid import UUID

from django.urls import reverse

from cassandra_db import current_time
from catalogue import queries
from catalogue.menu_links import find_target_url
from catalogue.old_addresses import normalize_path
from catalogue.operations.redirects import prefetch_redirect
from catalogue.rules import is_slug

# Most shops name a product's page by a slug, which an import keeps: /products/mug, /collections/cups/products/mug, /product/mug.html
_PRODUCT = re.compile(r"(?:/[^/]+)*/products?/([^/]+?)(?:\.html?)?")


def find_new_address(address: str) -> str:
    """Return the shop's address to which an address that has no page leads, or "". Raises CassandraUnavailable."""
    path = normalize_path(address)
    if not path:
        return ""
    named = _PRODUCT.fullmatch(path)
    slugs = [path, named[1]] if named and is_slug(named[1]) else [path]
    reading_redirect = prefetch_redirect(path)
    reading = [queries.prefetch_product_id_at_quorum(each) for each in slugs]
    (own, *others), redirect = [each.one() for each in reading], reading_redirect.one()
    if own is None and redirect:
        found = find_target_url(redirect.target)
    else:
        row = next((each for each in (own, *others) if each), None)
        found = _product_address(row.product_id) if row else ""
    return "" if normalize_path(found) == path else found


def _product_address(product_id: UUID) -> str:
    product = queries.get_product(product_id)
    if product is None or product.is_to_come(current_time()):
        return ""
    return reverse("product", args=(product.slug,))
