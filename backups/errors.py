"""Errors of backups."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from cassandra_db import CassandraUnavailable
from jobs.errors import LeaseLost


class BackupError(CommandError):
    """A backup cannot be made, verified or restored. The message says why and what to do; nothing was destroyed."""


@contextmanager
def explain_errors() -> Iterator[None]:
    """Turn errors of the cluster into BackupError. It also decorates functions."""
    try:
        yield
    except LeaseLost as error:
        raise BackupError("Another backup runs, or one was killed a moment ago.") from error
    except CassandraUnavailable as error:
        raise BackupError(f"Cassandra does not answer: {error}") from error
