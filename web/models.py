"""The table of the rate limits."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB


class RateLimitSlot(Model):
    """A taken slot of a rate limit. Each attempt takes a slot, and a limit has as many slots as it allows attempts.

    Bound: 100 rows (web.rate_limits.SLOTS_PER_PARTITION). The TTL of a row is the limit's window.
    Writer: web.rate_limits.
    """

    __table_name__ = "rate_limit_slots"
    __partition_bytes__ = 10 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("bucket",),
        "on_erase": "expires",
        "why": "a keyed hash of an address, gone within an hour",
    }
    # a keyed hash of the kind of attempt and of the account or network that is limited
    bucket = columns.Text(partition_key=True)
    # a limit of more than 100 attempts is spread over several partitions
    shard = columns.Integer(partition_key=True)
    slot = columns.Integer(primary_key=True)
    hit_id = columns.UUID()
