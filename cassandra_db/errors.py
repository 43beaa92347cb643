"""What can go wrong between an application and Cassandra."""


class CassandraUnavailable(Exception):
    """The cluster did not answer, or not with the consistency that was asked for."""


class ClockWrong(CassandraUnavailable):
    """This process's clock differs from the nodes': nothing was written."""


class UnknownOutcome(CassandraUnavailable):
    """A conditional write was sent, and whether it applied could not be found out."""


class InvalidPageToken(ValueError):
    """A page token was not signed by us, or was signed for another list."""
