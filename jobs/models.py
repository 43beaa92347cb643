"""The worker's own table."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class Lease(Model):
    """Which worker runs a job now, how far the job has come, and what it did last.

    Bound: one row a job, some thirty jobs.
    Writer: jobs.leases.
    """

    __table_name__ = "leases"
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
