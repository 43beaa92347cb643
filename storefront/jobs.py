"""The jobs that need the data of several apps."""

from datetime import datetime, timedelta

from catalogue import operations, queries
from catalogue.jobs import host_job_name
from jobs.registry import Job
from orders.recommendations import list_bought_together
from storefront.feeds import write_feeds
from storefront.sitemap import write_sitemap


def rebuild_related_products(now: datetime) -> str:
    """Choose each product's related products anew, from all orders."""
    return (
        f"{operations.rebuild_related(queries.iterate_products(), list_bought_together())} products"
    )


def rebuild_sitemap(now: datetime) -> str:
    """Write this host's sitemap."""
    return f"{write_sitemap(queries.iterate_products(), now)} addresses"


def rebuild_feeds(now: datetime) -> str:
    """Write this host's feeds of products."""
    return f"{write_feeds(queries.iterate_products(), now)} items"


JOBS = [
    Job("related products", timedelta(days=1), rebuild_related_products),
    Job(host_job_name("sitemap"), timedelta(hours=1), rebuild_sitemap),
    # Prices and stock are at most an hour old (MAX_FEED_AGE_SECONDS), also if a run takes long or starts late.
    Job(host_job_name("product feeds"), timedelta(minutes=20), rebuild_feeds),
]
