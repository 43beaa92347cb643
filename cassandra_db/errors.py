"""The errors of calls to Cassandra."""


class CassandraUnavailable(Exception):
    """The cluster did not answer, or not with the required consistency."""


class ClockWrong(CassandraUnavailable):
    """This process's clock differs from the nodes': nothing was written."""


class UnknownOutcome(CassandraUnavailable):
    """A conditional write was sent, and may have applied."""


class InvalidPageToken(ValueError):
    """A page token was not signed by us, or was signed for another list."""
