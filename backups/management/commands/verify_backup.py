"""`manage.py verify_backup`: restore a backup into a scratch keyspace, and check the shop in it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backups.operations import verify_backup


class Command(BaseCommand):
    help = "Restore a backup into a scratch keyspace, run the consistency check there, and drop it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="latest", help="latest if there is none")

    def handle(self, *, name: str, **options: Any) -> None:
        if not verify_backup(name, self.stdout.write):
            raise CommandError("The backup can be restored, with the violations above.")
