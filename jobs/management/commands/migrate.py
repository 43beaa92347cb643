"""`manage.py migrate`: brings the tables of an earlier version up to date, in steps between which old and new processes run."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate as django_migrate

from cassandra_db import CassandraUnavailable
from cassandra_db.session import DRIVER_ERRORS, keyspace_name
from jobs.errors import LeaseLost, MigrationError
from jobs.schema import PendingSteps, list_pending_steps, migrate

# Django's arguments that ask for other work than to bring the tables up to date.
_OF_MIGRATIONS = ("migration_name", "fake", "fake_initial", "prune")


class Command(django_migrate.Command):
    help = (
        "Make tables and add columns, while the version before may run. When none of its processes runs any more, --backfill"
        " fills the rows that it has written, and --contract drops what only it has read (docs/operations/upgrading.md)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--backfill", action="store_true", help="then complete the rows of earlier versions"
        )
        parser.add_argument(
            "--contract",
            action="store_true",
            help="then drop tables and columns of earlier versions",
        )
        parser.add_argument(
            "--share",
            type=int,
            default=50,
            choices=range(1, 101),
            metavar="PERCENT",
            help="the part of the time in which backfills work (50)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if asked := [name for name in _OF_MIGRATIONS if options.get(name)]:
            raise CommandError(
                f"There are no numbered migrations here ({', '.join(asked)}): tables come from the models."
            )
        try:
            if options["plan"] or options["check_unapplied"]:
                pending = list_pending_steps()
                self._print_plan(pending)
                if options["check_unapplied"] and pending.missing:
                    raise SystemExit(1)
                return
            asked_for = {name: options[name] for name in ("backfill", "contract", "share")}
            migrate(self._say if options["verbosity"] else lambda _: None, **asked_for)
            if options["verbosity"]:
                self._print_plan(list_pending_steps())
        except (CassandraUnavailable, LeaseLost, MigrationError, *DRIVER_ERRORS) as error:
            raise CommandError(str(error)) from error

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()  # whoever reads a file or a pipe sees the progress, too

    def _print_plan(self, pending: PendingSteps) -> None:
        lines = [
            *(f"expand    make {part}" for part in pending.missing),
            *(f"backfill  {step.name}: {step.purpose}" for step in pending.backfills),
            *(f"contract  drop {part}" for part in pending.drops),
        ]
        where = f"version {settings.VERSION}, keyspace {keyspace_name()}"
        self.stdout.write(f"Pending ({where}):" if lines else f"Nothing is pending ({where}).")
        for line in lines:
            self.stdout.write(f"  {line}")
        if pending.missing:
            self.stdout.write("Run `manage.py migrate` while the version before runs.")
        if pending.backfills:
            self.stdout.write("Run `manage.py migrate --backfill` when only this version runs.")
        elif pending.drops:
            self.stdout.write("Run `manage.py migrate --contract` when only this version runs.")
