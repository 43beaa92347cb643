"""`manage.py restore`: restore a backup into a new keyspace."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from backups.operations import restore


class Command(BaseCommand):
    help = "Restore a backup into a new keyspace, and the media that are missing (docs/operations/backups.md)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="of the backup (`manage.py backup --list`), or latest")
        parser.add_argument("keyspace", help="the new keyspace")

    def handle(self, *, name: str, keyspace: str, **options: Any) -> None:
        restore(name, keyspace, self.stdout.write)
        self.stdout.write(
            f"Restored. Next, with CASSANDRA_KEYSPACE={keyspace}: manage.py migrate, then manage.py reconcile_restore"
        )
