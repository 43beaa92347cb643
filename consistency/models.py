"""The table of the consistency check: what it has found."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class ConsistencyCheck(Model):
    """What the last checks of the whole shop have found, newest first.

    Bound: a row of 150 bytes a check; one each five minutes are 105,000 in a year, 16 MB. Gone after 400 days.
    Writer: consistency.operations.
    """

    __table_name__ = "consistency_checks"
    __partition_bytes__ = 16 * MB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = None
    year = columns.Integer(partition_key=True)  # in which it began, in UTC
    started_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    finished_at = columns.DateTime()
    violations = columns.Integer()  # that are left
    fixed = columns.Integer()
    in_progress = columns.Integer()  # left to the worker
    rules = columns.Set(columns.Text)  # of the violations that are left
