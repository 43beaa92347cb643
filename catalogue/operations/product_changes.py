"""Record changes of products, and list the changed products, for the search index and the derived lists."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra.util import uuid_from_time

from cassandra_db import write
from catalogue import queries
from catalogue.models import CHANGES_TTL

_HOUR = timedelta(hours=1)
# No product has this id. Its change says that the search index must look at the settings of colours.
COLOURS_CHANGED = UUID(int=0)
INSERT_CHANGE = write(
    "Q3",
    "INSERT INTO product_changes_by_hour (hour, changed, product_id) VALUES (:hour, :changed, :product_id)",
)


def record_product_change(product_id: UUID, now: datetime) -> None:
    """Record that a product has changed, for the search index and the derived lists."""
    INSERT_CHANGE.run(hour=_floor(now), changed=uuid_from_time(now), product_id=product_id)


def list_changed_products(moment: datetime, until: datetime) -> dict[UUID, datetime]:
    """Return the products that have changed after `moment`, each with the time of its last change. All moments are UTC.

    `until` says which hours are read: one statement for each. Changes are kept for a week. Raises CassandraUnavailable.
    """
    first = _floor(max(moment, until - timedelta(seconds=CHANGES_TTL)))
    after = uuid_from_time(moment - timedelta(milliseconds=1))
    reading = [
        queries.CHANGES.start(hour=first + number * _HOUR, after=after)
        for number in range((_floor(until) - first) // _HOUR + 1)
    ]
    found: dict[UUID, datetime] = {}
    for pending in reading:
        for row in pending.rows():
            at = datetime.fromtimestamp((row.changed.time - 0x01B21DD213814000) / 1e7, UTC)
            found[row.product_id] = max(at, found.get(row.product_id, at))
    return found


def _floor(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
