"""The steps by which tables of earlier versions become those of this one (jobs.schema)."""

from collections.abc import Iterator

from catalogue import operations, queries
from jobs.schema import Backfill
from orders.recommendations import list_bought_together


def fill_related(position: str) -> Iterator[tuple[str, str]]:
    """Choose each product's related products anew. See `Backfill.run`. Raises CassandraUnavailable."""
    for count in operations.rebuild_related_in_steps(
        queries.iterate_products(), list_bought_together()
    ):
        # Which products go together depends on all of them, so a run that was killed begins anew.
        yield "", f"{count} lists"


BACKFILLS = [Backfill("related", "the related products of each product", fill_related)]
