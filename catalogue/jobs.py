"""What the worker does for the catalogue: everything that is derived from products follows them."""

import hashlib
import socket
from datetime import datetime, timedelta

from django.conf import settings

from catalogue import operations, queries, search
from jobs.leases import moved, position
from jobs.registry import Job

LISTS = "catalogue lists"
# A change is noted before it is written: after this time it is either there or was cut off, and is finished here.
SETTLED_AFTER = timedelta(seconds=10)
MOST_AT_ONCE = 500


def index_followed(now: datetime) -> str:
    """Bring this host's search index up to date."""
    count = search.index_refreshed(now)
    return f"{count} products indexed" if count else ""


def lists_followed(now: datetime) -> str:
    """Bring cards, suggestions, related products and the front page up to date with what has changed."""
    noted = position(LISTS)
    since = datetime.fromisoformat(noted) if noted else now - timedelta(hours=1)
    until = now - SETTLED_AFTER
    changed = operations.changed_since(since, until)
    due = sorted((at, product_id) for product_id, at in changed.items() if since < at <= until)[
        :MOST_AT_ONCE
    ]
    if not due:
        # Nothing to do, but the next look need not begin as far back.
        if not noted or until - since > timedelta(minutes=1):
            moved(LISTS, until.isoformat())
        return ""
    for _, product_id in due:
        operations.cards_written(product_id)
    products = queries.products_now(product_id for _, product_id in due)
    for product in products.values():
        operations.prefixes_refreshed(product)
        operations.related_refreshed(product)
    operations.featured_refreshed(products.values())
    moved(LISTS, due[-1][0].isoformat())
    return f"{len(due)} products followed"


def suggestions_rebuilt(now: datetime) -> str:
    """Write the suggestions anew."""
    return f"{operations.prefixes_rebuilt(queries.scanned_products())} prefixes"


def front_page_rebuilt(now: datetime) -> str:
    """Choose the front page's rows among all products."""
    return f"{operations.featured_rebuilt(queries.scanned_products())} cards"


def of_this_host(name: str) -> str:
    """Name a job that each host does for itself, since what it writes are files there."""
    place = hashlib.blake2b(str(settings.SEARCH_INDEX_DIR).encode(), digest_size=4).hexdigest()
    return f"{name} of {socket.gethostname()} {place}"


JOBS = [
    Job(of_this_host("search index"), timedelta(seconds=2), index_followed),
    Job(LISTS, timedelta(seconds=5), lists_followed),
    Job("front page", timedelta(hours=1), front_page_rebuilt),
    Job("suggestions", timedelta(days=1), suggestions_rebuilt),
]
