"""The checks of the cluster in `manage.py check`."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.checks import CheckMessage, Error, Info

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.nodes import list_data_centers
from cassandra_db.session import keyspace_name

# These loggers write a traceback of an error that the check reports in one line.
_LOGGERS = [logging.getLogger(name) for name in ("cassandra", "cassandra_db.session")]


def check_data_centers(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Refuse a shop whose rows are kept in more than one data centre.

    Conditional writes are decided within one data centre (LOCAL_SERIAL), so two of them could sell the last unit twice.
    """
    if not databases:
        return []
    try:
        with _silent_connection():
            centers = list_data_centers()
    except CassandraUnavailable as error:
        text = f"Cassandra does not answer, so its data centres are not checked: {error}"
        hint = str(error.__cause__) if error.__cause__ else None
        return [Info(text, hint=hint, id="cassandra_db.I001")]
    if len(centers) < 2:
        return []
    return [
        Error(
            f"The shop's rows are kept in {len(centers)} data centres ({', '.join(centers)}). "
            "Each would decide by itself who gets the last unit.",
            hint=f"Keep the keyspace {keyspace_name()} in one: ALTER KEYSPACE {keyspace_name()} "
            f"WITH replication = {{'class': 'NetworkTopologyStrategy', '{centers[0]}': 3}}",
            id="cassandra_db.E001",
        )
    ]


@contextmanager
def _silent_connection() -> Iterator[None]:
    """Silence the loggers that report a connection that cannot be opened."""
    levels = [each.level for each in _LOGGERS]
    for each in _LOGGERS:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(_LOGGERS, levels, strict=True):
            each.setLevel(level)
