"""The table with the results of the consistency checks."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class ConsistencyCheck(Model):
    """The results of the last checks of the whole shop, newest first.

    Bound: a check has a row of 150 bytes. A check every five minutes makes 105,000 rows a year, 16 MB. Rows expire after 400 days.
    Writer: consistency.operations.
    """

    __table_name__ = "consistency_checks"
    __partition_bytes__ = 16 * MB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = None
    year = columns.Integer(partition_key=True)  # the year in which the check began, in UTC
    started_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    finished_at = columns.DateTime()
    violations = columns.Integer()  # the number of violations that are left
    fixed = columns.Integer()
    in_progress = columns.Integer()  # the number of subjects that are left to the worker
    rules = columns.Set(columns.Text)  # the invariants that are still violated
