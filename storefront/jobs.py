"""What the worker does with several rooms' data."""

from datetime import datetime, timedelta

from catalogue import operations, queries
from catalogue.jobs import of_this_host
from jobs.registry import Job
from orders.together import list_bought_together
from storefront.sitemap import sitemap_written


def related_rebuilt(now: datetime) -> str:
    """Choose anew, from all orders, what goes with each product."""
    return (
        f"{operations.related_rebuilt(queries.scanned_products(), list_bought_together())} products"
    )


def sitemap_rebuilt(now: datetime) -> str:
    """Write this host's sitemap."""
    return f"{sitemap_written(queries.scanned_products(), now)} addresses"


JOBS = [
    Job("related products", timedelta(days=1), related_rebuilt),
    Job(of_this_host("sitemap"), timedelta(hours=1), sitemap_rebuilt),
]
