"""`manage.py migrate`: makes tables and adds columns, as `sync_cassandra` does."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.commands import migrate

# Django's arguments that ask for other work than to bring the tables up to date.
_OF_MIGRATIONS = ("migration_name", "fake", "fake_initial", "plan", "check_unapplied", "prune")


class Command(migrate.Command):
    help = "Make tables and add columns, as sync_cassandra does. There are no migrations here."

    def handle(self, *args: Any, **options: Any) -> None:
        if asked := [name for name in _OF_MIGRATIONS if options.get(name)]:
            raise CommandError(
                f"There are no migrations here ({', '.join(asked)}): tables come from the models."
                " `manage.py sync_cassandra` makes tables and adds columns."
            )
        call_command("sync_cassandra", database=options["database"], stdout=self.stdout)
