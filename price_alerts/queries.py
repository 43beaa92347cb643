"""Reads of watched prices."""

from collections.abc import Iterator
from uuid import UUID

from cassandra_db import PendingResult, Row, read

PARTITIONS = 16
_PAGE = 500

# N4: what a member watches; whether they watch a product.
WATCHED = read(
    "N4", "SELECT product_id, since, watch_count FROM watched_products WHERE user_id = :user_id"
)
WATCH = read(
    "N4",
    "SELECT product_id, since FROM watched_products WHERE user_id = :user_id AND product_id = :product_id",
)
# N4: who watches a product; the first one, with what they were told.
WATCHERS = read(
    "N4",
    """SELECT user_id, since FROM watchers_by_product
       WHERE product_id = :product_id AND partition = :partition AND user_id > :after LIMIT :most""",
)
FIRST_WATCHER = read(
    "N4",
    """SELECT partition, user_id, told_until FROM watchers_by_product
       WHERE product_id = :product_id AND partition = :partition LIMIT 1""",
)


def find_partition(user_id: UUID) -> int:
    """Return the partition in which a watcher is stored."""
    return user_id.int % PARTITIONS


def prefetch_watch(user_id: UUID, product_id: UUID) -> PendingResult:
    """Start reading whether a member watches a product: one row, or none."""
    return WATCH.start(user_id=user_id, product_id=product_id)


def list_watched(user_id: UUID) -> list[Row]:
    """Return the rows of the products that a member watches (product_id, since), the latest first. Raises CassandraUnavailable."""
    rows = [row for row in WATCHED.all(user_id=user_id) if row.product_id]
    return sorted(rows, key=lambda row: row.since, reverse=True)


def list_watched_partitions(product_id: UUID) -> list[Row]:
    """Return the first watcher of each partition of a product that has some. Raises CassandraUnavailable."""
    reading = [
        FIRST_WATCHER.start(product_id=product_id, partition=each) for each in range(PARTITIONS)
    ]
    return [row for pending in reading if (row := pending.one()) and row.user_id]


def iterate_watchers(product_id: UUID, partition: int) -> Iterator[list[Row]]:
    """Yield the watchers (user_id, since) of a partition, some hundreds at a time. Raises CassandraUnavailable."""
    after = UUID(int=0)
    while rows := WATCHERS.all(product_id=product_id, partition=partition, after=after, most=_PAGE):
        yield rows
        after = rows[-1].user_id
