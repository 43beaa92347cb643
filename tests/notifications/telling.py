"""Tells what was announced about some subjects, as the worker would, and reads what a member was told."""

from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import current_time, read
from jobs.due_rows import Sweep
from notifications import queries
from notifications.jobs import tell_announced
from notifications.operations import ANNOUNCED
from notifications.queries import ListedNotification
from reviews.queries import get_review
from tests.reviews.writes import write
from tests.shards import ItemsShard

TTLS = read(
    "test",
    """SELECT notification_id, kind, TTL(kind) AS seconds, WRITETIME(kind) AS written, TTL(read) AS read_seconds
       FROM notifications WHERE user_id = :user_id""",
)


def tell_about(*subject_ids: UUID, now: datetime | None = None) -> int:
    """Let the worker tell what was announced in the last minutes; return the number of notifications."""
    now = now or current_time()
    shard = ItemsShard("notifications", item_ids=frozenset(subject_ids))
    minutes = ANNOUNCED.list_partitions(now - timedelta(minutes=5), now)
    return tell_announced(Sweep(ANNOUNCED, minutes, now, shard))


def list_told(user_id: UUID) -> list[ListedNotification]:
    """Return what a member was told, the newest first."""
    rows = queries.prefetch_newest(user_id).rows()
    return queries.describe_notes(queries.notes_from_rows(user_id, rows))


def list_words(user_id: UUID) -> list[str]:
    """Return the words of what a member was told, the oldest first."""
    return [each.line.text for each in reversed(list_told(user_id))]


def make_reviewed(user_id: UUID, product_id: UUID) -> None:
    """Make a member's review of a product, if there is none yet."""
    if get_review(product_id, user_id) is None:
        write(product_id, user_id=user_id)
