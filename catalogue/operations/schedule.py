"""The schedule of products whose sale or price begins or ends by itself."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import current_time, read, wait_for_all, write
from catalogue import queries
from catalogue.entities import Product
from catalogue.operations.cards import refresh_cards
from catalogue.operations.price_history import record_prices
from catalogue.operations.product_changes import record_product_change
from jobs.minutes import MINUTE, floor_to_minute

# How long a failed update of a product's lists waits until it is tried again.
RETRY_AFTER = timedelta(minutes=5)
INSERT_SCHEDULE = write(
    "Q3",
    "INSERT INTO product_schedule_by_minute (minute, product_id) VALUES (:minute, :product_id)",
)
DELETE_SCHEDULE = write(
    "Q3",
    "DELETE FROM product_schedule_by_minute WHERE minute = :minute AND product_id = :product_id",
)
SCHEDULED = read(
    "Q3", "SELECT product_id FROM product_schedule_by_minute WHERE minute = :minute LIMIT :most"
)


def schedule_minute(moment: datetime) -> datetime:
    """Return the first minute that begins at the moment or later."""
    minute = floor_to_minute(moment)
    return minute if minute == moment else minute + MINUTE


def schedule_moments(product_id: UUID, moments: Iterable[datetime]) -> None:
    """Record that a product changes at these moments. Raises CassandraUnavailable."""
    minutes = {schedule_minute(each) for each in moments}
    wait_for_all([INSERT_SCHEDULE.start(minute=each, product_id=product_id) for each in minutes])


def schedule_product(product: Product, now: datetime) -> None:
    """Record the future moments at which a product changes."""
    schedule_moments(product.product_id, {each for each in product.moments if each > now})


def list_scheduled_products(minutes: Sequence[datetime], most: int) -> list[tuple[datetime, UUID]]:
    """Return the products that change in these minutes, earliest first, at most `most` in each minute. Raises CassandraUnavailable."""
    reading = [(minute, SCHEDULED.start(minute=minute, most=most)) for minute in minutes]
    return [(minute, row.product_id) for minute, pending in reading for row in pending.rows()]


def follow_schedule(minute: datetime, product_id: UUID) -> None:
    """Update the lists of a product that changes in this minute. Raises CassandraUnavailable."""
    # Workers of 0.1.0 look only in the history for the price before a drop. The version after 0.2.0 leaves this out.
    record_prices(queries.prefetch_product_at_quorum(product_id).rows(), current_time())
    refresh_cards(product_id)
    record_product_change(product_id, current_time())
    DELETE_SCHEDULE.run(minute=minute, product_id=product_id)


def retry_product(product_id: UUID) -> None:
    """Let the worker update lists and search index for a product after RETRY_AFTER. Raises CassandraUnavailable."""
    schedule_moments(product_id, [current_time() + RETRY_AFTER])


def postpone_schedule(minute: datetime, product_id: UUID) -> None:
    """Move the row of a product from this minute to a later one. Raises CassandraUnavailable."""
    retry_product(product_id)
    DELETE_SCHEDULE.run(minute=minute, product_id=product_id)
