"""The errors of calls to Cassandra."""


class CassandraUnavailable(Exception):
    """The cluster did not answer, or too few nodes answered for the required consistency."""


class ClockWrong(CassandraUnavailable):
    """This process's clock differs from the nodes' clocks. Nothing was written."""


class SchemaUnavailable(CassandraUnavailable):
    """The nodes do not agree on the schema."""


class UnknownOutcome(CassandraUnavailable):
    """A conditional write was sent, and may have applied."""


class InvalidPageToken(ValueError):
    """A page token was not signed by this shop, or was signed for another list."""
