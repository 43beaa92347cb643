"""Chooses the keyspace of a run: `manage.py migrate` adds tables and columns, but cannot rename them or change a key."""

from collections.abc import Iterator, Set
from itertools import count
from typing import Any

from cassandra.metadata import KeyspaceMetadata, TableMetadata

from cassandra_db.partitions import list_models
from cassandra_db.session import get_session
from jobs.schema import list_drops


def choose_keyspace(name: str) -> str:
    """Return the first of `name`, name_2, name_3, … that has no tables of another version. Raises CassandraUnavailable.

    The keyspace with the returned name need not exist yet.
    """
    keyspaces = get_session().cluster.metadata.keyspaces
    return next(each for each in _names(name) if not is_outdated(keyspaces.get(each)))


def _names(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


def is_outdated(keyspace: KeyspaceMetadata | None) -> bool:
    """Return whether a keyspace has a table, a column or a key that is neither in the models nor dropped by `manage.py migrate`."""
    if keyspace is None:
        return False
    models, drops = {model.__table_name__: model for model in list_models()}, set(list_drops())
    return any(
        name not in models or _differs(table, models[name], drops)
        for name, table in keyspace.tables.items()
        if name not in drops
    )


def _differs(table: TableMetadata, model: Any, drops: Set[str]) -> bool:
    declared = {column.db_field_name: column for column in model._columns.values()}
    columns = {
        name: column
        for name, column in table.columns.items()
        if f"{table.name}.{name}" not in drops
    }
    key = [column.db_field_name for column in model._primary_keys.values()]
    return (
        not set(columns) <= set(declared)
        or [column.name for column in table.primary_key] != key
        or any(
            (column.cql_type, column.is_static) != (declared[name].db_type, declared[name].static)
            for name, column in columns.items()
        )
    )
