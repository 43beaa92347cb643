"""The steps by which tables of earlier versions become those of this one (jobs.schema)."""

from collections.abc import Iterator

from cassandra_db import current_time
from jobs.schema import Backfill
from storefront.jobs import rebuild_related_products


def fill_related(position: str) -> Iterator[tuple[str, str]]:
    """Choose each product's related products anew. See `Backfill.run`. Raises CassandraUnavailable."""
    yield "", rebuild_related_products(current_time())


BACKFILLS = [Backfill("related", "the related products of each product", fill_related)]
