"""Tables of the machinery itself."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class Lease(Model):
    """Which worker runs a job now, and how far the job has come.

    Bound: one row a job, about ten jobs.
    Writer: cassandra_db.leases.
    """

    __table_name__ = "leases"
    job = columns.Text(partition_key=True)
    holder = columns.UUID()
    held_until = columns.DateTime()
    position = columns.Text()
    last_run = columns.DateTime()
