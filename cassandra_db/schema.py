"""The schema beside the models: which of its parts are missing, and how they are made and dropped.

A part is a table, or a column as "table.column".
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from cassandra import AlreadyExists, DriverException
from cassandra.cqlengine import management
from django.conf import settings
from django_cassandra_engine.compat import Model
from django_cassandra_engine.models import DjangoCassandraModel

from cassandra_db.errors import CassandraUnavailable, SchemaUnavailable
from cassandra_db.partitions import list_models
from cassandra_db.session import ALIAS, DRIVER_ERRORS, get_session, keyspace_name

# The driver would wait for ten seconds, and then continue without the table that it has just made.
AGREEMENT_SECONDS = 60
MAX_ATTEMPTS = 5
Say = Callable[[str], object]
_COLUMNS = "SELECT table_name, column_name FROM system_schema.columns WHERE keyspace_name = %s"
# The class by which `sync_table` recognises models. The engine's own command does the same.
management.Model = (Model, DjangoCassandraModel)


def list_model_parts() -> Iterator[str]:
    """Yield each table of the models, followed by its columns."""
    for model in list_models():
        table = model._raw_column_family_name()
        yield table
        yield from (f"{table}.{column.db_field_name}" for column in model._columns.values())


def list_parts() -> set[str]:
    """Return what the keyspace has now. Raises CassandraUnavailable."""
    # The driver's copy of the schema may be old, and it is empty if it could not be read when the session was opened.
    try:
        rows = get_session().execute(_COLUMNS, (keyspace_name(),)).all()
    except DRIVER_ERRORS as error:
        raise CassandraUnavailable(f"the schema could not be read: {error}") from error
    pairs = [(row["table_name"], row["column_name"]) for row in rows]
    return {table for table, _ in pairs} | {f"{table}.{column}" for table, column in pairs}


def list_missing_parts(parts: Collection[str]) -> list[str]:
    """Return the models' parts that are not among these parts; of a missing table only its name."""
    return [
        part
        for part in list_model_parts()
        if part not in parts and ("." not in part or part.partition(".")[0] in parts)
    ]


def refresh_schema() -> None:
    """Read the schema again, once all nodes agree on it. Raises SchemaUnavailable."""
    try:
        # To refresh one keyspace would leave its tables as they were read before.
        get_session().cluster.refresh_schema_metadata(AGREEMENT_SECONDS)
    except DriverException as error:
        raise SchemaUnavailable(f"the schema could not be read: {error}") from error


def sync_tables(models: Sequence[Any], say: Say) -> None:
    """Make the keyspace and the tables of these models, and add columns. Return when all nodes agree.

    Raises SchemaUnavailable if they do not agree, CassandraUnavailable.
    """
    get_session().cluster.max_schema_agreement_wait = AGREEMENT_SECONDS
    tables = {model._raw_column_family_name() for model in models}
    for _ in range(MAX_ATTEMPTS):
        try:
            refresh_schema()
            _make_keyspace()
            for model in models:
                say(f"Syncing {model.__module__}.{model.__name__}")
                management.sync_table(model, keyspaces=[keyspace_name()], connections=[ALIAS])
            refresh_schema()
        except (KeyError, DriverException, SchemaUnavailable) as error:
            # A table is missing in the schema that was read, the schema could not be read, or another process made the same table.
            if type(error) not in (DriverException, AlreadyExists, SchemaUnavailable) and (
                error.args[0] not in tables
            ):
                raise
            say(f"The nodes do not agree on the tables yet ({error}); once more")
        else:
            return
    raise SchemaUnavailable(
        f"The nodes did not agree on the tables, {MAX_ATTEMPTS} times: try again when they have less to do."
    )


def _make_keyspace() -> None:
    replication = dict(settings.DATABASES[ALIAS]["OPTIONS"]["replication"])
    if replication.pop("strategy_class") == "SimpleStrategy":
        factor = replication["replication_factor"]
        management.create_keyspace_simple(keyspace_name(), factor, connections=[ALIAS])
    else:
        management.create_keyspace_network_topology(
            keyspace_name(), replication, connections=[ALIAS]
        )


def drop_part(part: str) -> None:
    """Drop a table or a column, with its data. Raises CassandraUnavailable."""
    table, _, column = part.partition(".")
    name = f"{keyspace_name()}.{table}"
    cql = (
        f"ALTER TABLE {name} DROP IF EXISTS {column}" if column else f"DROP TABLE IF EXISTS {name}"
    )
    try:
        get_session().execute(cql)
    except DRIVER_ERRORS as error:
        raise CassandraUnavailable(f"{part} could not be dropped: {error}") from error
