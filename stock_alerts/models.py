"""Back-in-stock subscriptions."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class SubscriberByVariant(Model):
    """The subscribers of a sold-out variant, keyed by e-mail address.

    A row lasts 30 days, or until its mail is queued.
    Bound: the subscribers of one variant; they are read 200 at a time (stock_alerts.queries.AT_ONCE).
    Writer: stock_alerts.operations, only by conditional writes.
    """

    __table_name__ = "subscriptions_by_variant"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600}
    __personal_data__ = {"columns": ("email_key", "user_id"), "on_erase": "deleted"}
    variant_id = columns.UUID(partition_key=True)
    email_key = columns.Text(primary_key=True)
    email = columns.Text()
    product_id = columns.UUID()
    asked_at = columns.DateTime()
    user_id = columns.UUID()  # the member who has subscribed; null for a guest


class SubscriptionByAddress(Model):
    """The variants that an e-mail address has subscribed to. A row is written before the subscriber's own row, in case of a crash.

    Bound: the variants to which one address subscribes in 30 days, at most 20 an hour (settings.RATE_LIMITS).
    Writer: stock_alerts.operations.
    """

    __table_name__ = "subscriptions_by_email"
    __partition_bytes__ = 2 * MB
    __options__ = {"default_time_to_live": 30 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = {"columns": ("email_key",), "on_erase": "deleted"}
    email_key = columns.Text(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()


class SubscribedVariant(Model):
    """Variants that have subscribers, for the worker.

    A row is written before the subscriber's own row, in case of a crash.
    Bound: the sold-out variants with subscribers of the last 31 days, over 16 buckets.
    Writer: stock_alerts.operations.
    """

    __table_name__ = "subscribed_variants"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    bucket = columns.Integer(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()
