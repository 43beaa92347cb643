"""A result that is not true, for the check that has to find it."""

from typing import Any

from cassandra.cqlengine import connection

from jobs.change_rows import RowStore


def forge_result(table: str, store: RowStore, row: Any) -> None:
    """Make a row say that it was refused, whatever has become of it."""
    key = store.key_of(row)
    where = " AND ".join(f"{name} = %s" for name in key)
    connection.get_session().execute(
        f"UPDATE {table} SET result = 'refused', reason = 'no' WHERE {where} IF EXISTS",  # noqa: S608
        tuple(key.values()),
    )
