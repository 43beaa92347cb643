"""The tables of watched prices."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class WatcherByProduct(Model):
    """N4: the members who watch a product's price, in 16 partitions by their ids.

    A row is written before the member's own, with the timestamp `since`, and deleted after it with the same one.
    `told_until` is the price drop that all watchers of the partition have been told.
    Bound: a sixteenth of the watchers of one product, 80 bytes each.
    Writer: price_alerts.operations.
    """

    __table_name__ = "watchers_by_product"
    __partition_bytes__ = 20 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    product_id = columns.UUID(partition_key=True)
    partition = columns.Integer(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    since = columns.DateTime()
    told_until = columns.DateTime(static=True)


class WatchedProduct(Model):
    """N4: the products whose prices a member watches, and how many.

    Bound: 200 products (price_alerts.operations.MAX_WATCHED).
    Writer: price_alerts.operations, only by conditional batches.
    """

    __table_name__ = "watched_products"
    __partition_bytes__ = 20 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    product_id = columns.UUID(primary_key=True)
    since = columns.DateTime()
    watch_count = columns.Integer(static=True)
