"""`manage.py check`: Django's, which also asks the cluster."""

from django.core.management.base import CommandParser
from django.core.management.commands import check

from cassandra_db.session import ALIAS


class Command(check.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        """Name the database. Django's own command asks none unless it is told to."""
        super().add_arguments(parser)
        parser.set_defaults(databases=[ALIAS])
