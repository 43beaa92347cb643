"""The worker's own table, and the columns that the tables of bulk changes have in common."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB


class Lease(Model):
    """Which worker runs a job now, how far the job has come, and what it did last.

    Bound: one row a job, some thirty jobs.
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
    result = columns.Text()  # what the last run did that had something to do
    result_at = columns.DateTime()
    duration_ms = columns.Integer()  # of the last run
    failure = columns.Text()  # why the last run failed; null if it did not
    failed_rows = columns.Text()  # JSON: the rows that wait for their next turn, ten at most


# How long the rows of a bulk change are kept, and it can be undone.
BULK_CHANGE_TTL = 90 * 24 * 3600


class BulkChangeColumns(Model):
    """The columns of bulk changes, by the month in which they were started. Written by jobs.bulk_changes alone."""

    __abstract__ = True
    month = columns.Date(partition_key=True)  # its first day, UTC
    change_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    unfinished = columns.Set(columns.TimeUUID, static=True)
    selection_id = columns.UUID()  # under which its rows stand
    act = columns.Text()  # JSON: what is done to each
    total = columns.Integer()
    started_by = columns.UUID()
    started_at = columns.DateTime()
    handled = columns.Integer()  # rows that have a result, from the first on
    counts = columns.Map(columns.Text, columns.Integer)  # of each result, once it is finished
    finished_at = columns.DateTime()


class BulkChangeRowColumns(Model):
    """The columns of a change's rows. Each table has a column of its own for the thing's id."""

    __abstract__ = True
    selection_id = columns.UUID(partition_key=True)
    bucket = columns.Integer(partition_key=True)
    position = columns.Integer(primary_key=True)
    result = columns.Text()  # done, unchanged, refused, changed
    label = columns.Text()  # its name then
    reason = columns.Text()  # of a refusal, in words
    failures = columns.Integer()  # how often an error kept it from a result
