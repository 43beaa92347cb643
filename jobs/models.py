"""The table of the worker's leases, and the columns that all tables of bulk changes have."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB


class Lease(Model):
    """The lease of a job: the worker that runs it now, the job's position, and the result of its last run.

    Bound: one row for each job; there are some thirty jobs.
    Writer: jobs.leases.
    """

    __table_name__ = "leases"
    __partition_bytes__ = 4 * KB
    __personal_data__ = None
    job = columns.Text(partition_key=True)
    holder = columns.UUID()
    held_until = columns.DateTime()
    position = columns.Text()
    last_run = columns.DateTime()
    worker = columns.Text()  # host and process of the worker that ran it last, or runs it now
    result = columns.Text()  # a line about the last run that had work to do
    result_at = columns.DateTime()
    duration_ms = columns.Integer()  # of the last run
    failure = columns.Text()  # why the last run failed; null if it did not
    failed_rows = columns.Text()  # JSON: at most ten rows that wait for their next attempt


# How long the rows of a bulk change are kept, and the change can be undone.
BULK_CHANGE_TTL = 90 * 24 * 3600


class BulkChangeColumns(Model):
    """The columns of bulk changes, partitioned by the month in which they were started. Only jobs.bulk_changes writes them."""

    __abstract__ = True
    month = columns.Date(partition_key=True)  # its first day, UTC
    change_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    unfinished = columns.Set(columns.TimeUUID, static=True)
    selection_id = columns.UUID()  # the id in the keys of the change's rows
    act = columns.Text()  # JSON: the change that is made to each item
    total = columns.Integer()
    started_by = columns.UUID()
    started_at = columns.DateTime()
    handled = columns.Integer()  # how many rows, from the first one on, have a result
    counts = columns.Map(columns.Text, columns.Integer)  # by result, when finished
    finished_at = columns.DateTime()


class BulkChangeRowColumns(Model):
    """The columns of a bulk change's rows. Each table has a column of its own for the item's id."""

    __abstract__ = True
    selection_id = columns.UUID(partition_key=True)
    bucket = columns.Integer(partition_key=True)
    position = columns.Integer(primary_key=True)
    result = columns.Text()  # done, unchanged, refused, changed
    label = columns.Text()  # the item's name at that time
    reason = columns.Text()  # the reason of a refusal, in words
    failures = columns.Integer()  # how many attempts at the row ended with an error
