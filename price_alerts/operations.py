"""Writes of watched prices, and telling their watchers when a price drops.

A watcher's row is written before the member's own and deleted after it, with the time of the watch as timestamp. So a crash leaves
a watcher too many at most, which the consistency check removes (I43), and a slow end spares a later watch.
"""

from datetime import datetime, timedelta
from time import monotonic, sleep
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from catalogue.entities import Product, Variant
from catalogue.queries import get_product_at_quorum, get_products, leave_out, list_price_history
from notifications.entities import News
from notifications.operations import tell
from price_alerts import queries
from price_alerts.errors import TooManyWatched

MAX_WATCHED = 200
MAX_ATTEMPTS = 20
PRICE_DROP = "price_drop"
# So many watchers are told between two rests. A rest is so many times as long as the work before it, so that pages stay as quick.
_AT_ONCE, _REST = 10, 4
# Older price drops are told to nobody.
NEWS_FOR = timedelta(days=2)

FIRST_WATCH = conditional_write(
    "N4",
    "UPDATE watched_products SET watch_count = 1 WHERE user_id = :user_id IF watch_count = null",
)
ANOTHER_WATCH = conditional_write(
    "N4",
    """UPDATE watched_products SET watch_count = watch_count + 1 WHERE user_id = :user_id
       IF watch_count < :most""",
)
INSERT_WATCH = conditional_write(
    "N4",
    """INSERT INTO watched_products (user_id, product_id, since) VALUES (:user_id, :product_id, :since)
       IF NOT EXISTS""",
)
ONE_WATCH_LESS = conditional_write(
    "N4",
    """UPDATE watched_products SET watch_count = watch_count + -1 WHERE user_id = :user_id
       IF watch_count > 0""",
)
DELETE_WATCH = conditional_write(
    "N4",
    "DELETE FROM watched_products WHERE user_id = :user_id AND product_id = :product_id IF since = :since",
)
INSERT_WATCHER = write(
    "N4",
    """INSERT INTO watchers_by_product (product_id, partition, user_id, since)
       VALUES (:product_id, :partition, :user_id, :since) USING TIMESTAMP :at""",
)
DELETE_WATCHER = write(
    "N4",
    """DELETE FROM watchers_by_product USING TIMESTAMP :at
       WHERE product_id = :product_id AND partition = :partition AND user_id = :user_id""",
)
TOLD = write(
    "N4",
    """UPDATE watchers_by_product USING TIMESTAMP :at SET told_until = :told_until
       WHERE product_id = :product_id AND partition = :partition""",
)


def watch_price(user_id: UUID, product_id: UUID, now: datetime) -> None:
    """Watch a product's price; a repeat changes nothing. Products that are gone make room for another one.

    Raises TooManyWatched, CassandraUnavailable.
    """
    since = truncate_to_milliseconds(now)
    row = INSERT_WATCH.bind(user_id=user_id, product_id=product_id, since=since)
    INSERT_WATCHER.run(**watcher_columns(user_id, product_id, since), since=since)
    head = ANOTHER_WATCH.bind(user_id=user_id, most=MAX_WATCHED)
    for _ in retry_attempts(MAX_ATTEMPTS):
        outcome = apply_batch(
            head, row, if_lost=applied_if(lambda found: getattr(found, "since", None) == since)
        )
        if outcome:
            return
        if any(getattr(found, "product_id", None) == product_id for found in outcome.rows):
            break  # watched already, since an earlier time
        count = next((getattr(found, "watch_count", None) for found in outcome.rows), None)
        head = ANOTHER_WATCH.bind(user_id=user_id, most=MAX_WATCHED)
        if count is None:
            head = FIRST_WATCH.bind(user_id=user_id)
        elif count >= MAX_WATCHED and not drop_gone(user_id):
            DELETE_WATCHER.run(**watcher_columns(user_id, product_id, since))
            raise TooManyWatched
    else:
        DELETE_WATCHER.run(**watcher_columns(user_id, product_id, since))
        raise _keeps_changing(user_id)
    kept = queries.prefetch_watch(user_id, product_id).one()
    if kept:
        INSERT_WATCHER.run(**watcher_columns(user_id, product_id, kept.since), since=kept.since)


def stop_watching(user_id: UUID, product_id: UUID) -> None:
    """Stop watching a product; a repeat changes nothing. Raises CassandraUnavailable."""
    ids, since = {"user_id": user_id, "product_id": product_id}, None
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = queries.prefetch_watch(user_id, product_id).one()
        if row is None:
            break  # if it was there before, the answer of its deletion was lost, or another tab was faster
        since = row.since
        gone = DELETE_WATCH.bind(**ids, since=since)
        if apply_batch(ONE_WATCH_LESS.bind(user_id=user_id), gone, if_lost=SEND_AGAIN):
            break
    else:
        raise _keeps_changing(user_id)
    if since:
        DELETE_WATCHER.run(**watcher_columns(user_id, product_id, since))


def _keeps_changing(user_id: UUID) -> CassandraUnavailable:
    return CassandraUnavailable(f"what user {user_id} watches keeps changing")


def drop_gone(user_id: UUID) -> int:
    """Stop watching the products that are gone; return their number. Raises CassandraUnavailable."""
    watched, now = [row.product_id for row in queries.list_watched(user_id)], current_time()
    products = get_products(watched, leave_out)
    seem_gone = [each for each in watched if is_gone(products.get(each), now)]
    gone = [each for each in seem_gone if is_gone(get_product_at_quorum(each), now)]
    for product_id in gone:
        stop_watching(user_id, product_id)
    return len(gone)


def is_gone(product: Product | None, now: datetime) -> bool:
    """Return whether a product is no longer sold, and will not be by itself."""
    return product is None or not (product.is_on_sale(now) or product.is_to_come(now))


def watcher_columns(user_id: UUID, product_id: UUID, since: datetime) -> dict[str, object]:
    """Return the key of a watcher's row, and its timestamp."""
    return {
        "product_id": product_id,
        "partition": queries.find_partition(user_id),
        "user_id": user_id,
        "at": int(since.timestamp() * 1_000_000),
    }


def follow_product(product_id: UUID, now: datetime, most: int) -> tuple[int, bool]:
    """Tell the watchers of a product that its price has dropped, and forget those of one that is gone.

    Return how many these were, and whether none are left. A call ends after a partition with which `most` is reached; the next
    one goes on, also after a crash. Raises CassandraUnavailable.
    """
    product = get_product_at_quorum(product_id)
    gone = is_gone(product, now)
    dropped_at = find_price_drop(product, now) if product and not gone else None
    count = 0
    if not gone and dropped_at is None:
        return count, True
    for row in queries.list_watched_partitions(product_id):
        if count >= most:
            return count, False
        if dropped_at is None:
            count += _forget_watchers(product_id, row.partition)
        elif row.told_until is None or row.told_until < dropped_at:
            count += _tell_watchers(product_id, row.partition, dropped_at)
    return count, True


def _forget_watchers(product_id: UUID, partition: int) -> int:
    count = 0
    for watchers in queries.iterate_watchers(product_id, partition):
        for each in watchers:
            stop_watching(each.user_id, product_id)
            DELETE_WATCHER.run(**watcher_columns(each.user_id, product_id, each.since))
        count += len(watchers)
    return count


def _tell_watchers(product_id: UUID, partition: int, dropped_at: datetime) -> int:
    count, about = 0, {"product": product_id.hex}
    for watchers in queries.iterate_watchers(product_id, partition):
        news = [
            News(PRICE_DROP, each.user_id, dropped_at, about)
            for each in watchers
            if each.since < dropped_at
        ]
        for start in range(0, len(news), _AT_ONCE):
            began = monotonic()
            tell(news[start : start + _AT_ONCE])
            sleep(_REST * (monotonic() - began))
        count += len(watchers)
    at = int(dropped_at.timestamp() * 1_000_000)
    TOLD.run(product_id=product_id, partition=partition, told_until=dropped_at, at=at)
    return count


def find_price_drop(product: Product, now: datetime) -> datetime | None:
    """Return when the present price of one of a product's variants began, if it is lower than the one before. Raises CassandraUnavailable."""
    drops = [
        each.price_from
        for each in product.variants
        if each.sold
        and each.price_from
        and each.price_from > now - NEWS_FOR
        and _has_dropped(product, each)
    ]
    return max(drops, default=None)


def _has_dropped(product: Product, variant: Variant) -> bool:
    before = [
        point
        for point in list_price_history(product, variant)
        if variant.price_from and point.starts_at < variant.price_from
    ]
    return bool(before) and before[-1].price > variant.price


def erase_watches(user_id: UUID) -> None:
    """Stop watching all that a member watches. Raises CassandraUnavailable."""
    for row in queries.list_watched(user_id):
        stop_watching(user_id, row.product_id)
