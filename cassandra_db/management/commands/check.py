"""`manage.py check`: Django's command, which here checks the cluster, too."""

from django.core.management.base import CommandParser
from django.core.management.commands import check

from cassandra_db.session import ALIAS


class Command(check.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        """Set the database that is checked. Django's own command checks no database by default."""
        super().add_arguments(parser)
        parser.set_defaults(databases=[ALIAS])
