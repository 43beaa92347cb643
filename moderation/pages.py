"""Functions that the pages of reviews and the pages of questions share."""

from collections.abc import Sequence
from uuid import UUID

from django.http import Http404

from cassandra_db import Row, current_time
from catalogue.entities import Product
from catalogue.queries import find_product_id_by_slug, prefetch_product, product_from_rows


def require_product_id(slug: str) -> UUID:
    """Return the id of the product with this slug. Raises Http404, CassandraUnavailable."""
    product_id = find_product_id_by_slug(slug)
    if product_id is None:
        raise Http404
    return product_id


def get_product_on_sale(product_id: UUID) -> Product:
    """Read a product that is on sale. Raises Http404, CassandraUnavailable."""
    return product_on_sale_from_rows(prefetch_product(product_id).rows())


def product_on_sale_from_rows(rows: Sequence[Row]) -> Product:
    """Return the product in the rows that `prefetch_product` began to read. Raises Http404 unless it is on sale."""
    product = product_from_rows(rows)
    if product is None or not product.is_on_sale(current_time()):
        raise Http404
    return product
