"""`manage.py sync_cassandra`: the engine's command, but it waits longer for nodes that are slow to agree on a table."""

from copy import deepcopy
from typing import Any

from cassandra import DriverException
from django.core.management.base import CommandError
from django.db import connections
from django_cassandra_engine.management.commands import sync_cassandra

# The driver would wait for ten seconds, and then continue without the table that it has just made.
AGREEMENT_SECONDS = 60
MAX_ATTEMPTS = 5


class Command(sync_cassandra.Command):  # type: ignore[misc]
    """The command that makes tables and adds columns."""

    def sync(self, alias: str) -> None:
        """Bring the tables up to date. Raises CommandError if the nodes do not agree on the schema."""
        connection: Any = connections[alias]  # the engine's own connection
        connection.connect()
        cluster = connection.connection.cluster
        cluster.max_schema_agreement_wait = AGREEMENT_SECONDS
        options = connection.settings_dict["OPTIONS"]
        replication = options["replication"]
        tables = {
            model._raw_column_family_name()
            for models in connection.introspection.cql_models.values()
            for model in models
        }
        for _ in range(MAX_ATTEMPTS):
            options["replication"] = deepcopy(replication)  # the engine takes it apart
            try:
                super().sync(alias)
            except (KeyError, DriverException) as error:
                # The table is missing in the schema that was read, or the schema could not be read.
                if type(error) is not DriverException and error.args[0] not in tables:
                    raise
                self.stdout.write(f"The nodes do not agree on the tables yet ({error}); once more")
            else:
                return
        raise CommandError(
            f"The nodes did not agree on the tables, {MAX_ATTEMPTS} times: try again when they have less to do."
        )
