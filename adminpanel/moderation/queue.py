"""The queue of texts that wait for a decision."""

from django.apps import apps

from cassandra_db import Row
from moderation.queries import list_waiting

MAX_SHOWN = 100


def list_queue() -> tuple[list[Row], bool]:
    """Return at most MAX_SHOWN waiting texts, the oldest first, and whether there are more. Raises CassandraUnavailable."""
    rows = [row for row in list_waiting(MAX_SHOWN + 1) if _has_page(row)]
    return rows[:MAX_SHOWN], len(rows) > MAX_SHOWN


def _has_page(row: Row) -> bool:
    """Return whether a text has a page: a shop that has done away with posts may still have some in its queue."""
    return row.kind not in ("post", "comment") or apps.is_installed("posts")
