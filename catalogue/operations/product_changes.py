"""Record changes of products, and list the changed products, for the search index and the derived lists."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra.util import uuid_from_time

from cassandra_db import write
from catalogue import queries
from catalogue.queries import CHANGE_SHARDS

INSERT_CHANGE = write(
    "Q3",
    "INSERT INTO product_changes (day, shard, changed, product_id) VALUES (:day, :shard, :changed, :product_id)",
)


def record_product_change(product_id: UUID, now: datetime) -> None:
    """Record that a product has changed, for the search index and the derived lists."""
    INSERT_CHANGE.run(
        day=now.astimezone(UTC).date(),
        shard=product_id.int % CHANGE_SHARDS,
        changed=uuid_from_time(now),
        product_id=product_id,
    )


def list_changed_products(moment: datetime, until: datetime) -> dict[UUID, datetime]:
    """Return the products that have changed after `moment`, each with the time of its last change. All moments are UTC.

    Changes are kept for a week. Raises CassandraUnavailable.
    """
    days = [
        (moment + timedelta(days=n)).date() for n in range((until.date() - moment.date()).days + 1)
    ]
    after = uuid_from_time(moment - timedelta(milliseconds=1))
    reading = [
        queries.CHANGES.start(day=day, shard=shard, after=after)
        for day in days
        for shard in range(CHANGE_SHARDS)
    ]
    found: dict[UUID, datetime] = {}
    for pending in reading:
        for row in pending.rows():
            at = datetime.fromtimestamp((row.changed.time - 0x01B21DD213814000) / 1e7, UTC)
            found[row.product_id] = max(at, found.get(row.product_id, at))
    return found
