"""What the cluster says of a keyspace: its tables, and the mark of a restore."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from cassandra.concurrent import execute_concurrent
from cassandra.metadata import KeyspaceMetadata

from backups.errors import BackupError
from cassandra_db import CassandraUnavailable
from cassandra_db.session import DRIVER_ERRORS, get_session, keyspace_name
from jobs.schema import RESTORE_MARK as MARK

_TABLE_ID = re.compile(r"WITH ID = [0-9a-f-]{36}\n\s+AND ")


class RestoreMark(NamedTuple):
    """A restored keyspace's backup, and the time since which writes may be missing."""

    backup: str
    snapshot_at: datetime
    is_finished: bool


def execute(cql: str, *values: Any) -> list[dict[str, Any]]:
    """Run a statement that names its keyspace, at LOCAL_QUORUM. Raises CassandraUnavailable."""
    try:
        return list(get_session().execute(cql, values or None))
    except DRIVER_ERRORS as error:
        raise CassandraUnavailable(str(error)) from error


def execute_all(statements: Iterable[str]) -> None:
    """Run statements side by side: tables are made three times as fast. Raises CassandraUnavailable."""
    try:
        execute_concurrent(get_session(), [(cql, ()) for cql in statements], concurrency=20)
    except DRIVER_ERRORS as error:
        raise CassandraUnavailable(str(error)) from error


def find_keyspace(name: str) -> KeyspaceMetadata | None:
    """Return what the driver knows of a keyspace; None if there is none. Raises CassandraUnavailable."""
    return get_session().cluster.metadata.keyspaces.get(name)


def describe_tables(keyspace: str) -> dict[str, list[str]]:
    """Return the statements that make each table, with the columns that it has lost. Raises BackupError, CassandraUnavailable."""
    found = {}
    for row in execute(f"DESCRIBE KEYSPACE {keyspace} WITH INTERNALS"):
        if row["type"] == "table":
            cql = _TABLE_ID.sub("WITH ", row["create_statement"])
            found[row["name"]] = [each for each in re.split(r";\s*(?:\n|$)", cql) if each.strip()]
        elif row["type"] != "keyspace":
            raise BackupError(
                f"Backups know only tables, and here is a {row['type']}: {row['name']}"
            )
    return found


def find_mark(keyspace: str) -> RestoreMark | None:
    """Return the mark of a keyspace; None if there is none. Raises CassandraUnavailable."""
    found = find_keyspace(keyspace)
    rows = execute(f"SELECT * FROM {keyspace}.{MARK}") if found and MARK in found.tables else ()  # noqa: S608
    marks = (
        RestoreMark(**row | {"snapshot_at": row["snapshot_at"].replace(tzinfo=UTC)}) for row in rows
    )
    return next(marks, None)


def find_restored_backup() -> RestoreMark | None:
    """Return the mark of the shop's keyspace; None if it was not restored, or is reconciled (`forget_restore`).

    Raises BackupError if the restore has not finished, CassandraUnavailable.
    """
    mark = find_mark(keyspace_name())
    if mark and not mark.is_finished:
        raise BackupError(
            f"The restore of {mark.backup} into {keyspace_name()} was cut off. Drop this keyspace and restore again."
        )
    return mark
