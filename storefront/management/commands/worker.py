"""`manage.py worker`: what happens beside the requests."""

import logging
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.jobs import jobs
from cassandra_db.worker import Worker


class Command(BaseCommand):
    help = "Run the apps' jobs whenever they are due. Several workers may run: a lease for each job keeps them apart."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once", action="store_true", help="run each job that is due once, then end; status 1 if one failed"
        )
        parser.add_argument("--job", action="append", metavar="NAME", help="only this job (may be given several times)")
        parser.add_argument("--list", action="store_true", help="name the jobs and how often they run")

    def handle(self, *, once: bool, job: list[str] | None, list: bool, verbosity: int, **options: Any) -> None:
        chosen = jobs()
        if unknown := sorted(set(job or []) - {each.name for each in chosen}):
            known = ", ".join(sorted(each.name for each in chosen))
            raise CommandError(f"No such job: {', '.join(unknown)}. There are: {known}.")
        chosen = [each for each in chosen if not job or each.name in job]
        if list:
            for each in chosen:
                self.stdout.write(f"{each.name:32}  every {each.every}")
            return
        if verbosity > 1:
            logging.getLogger("worker").setLevel(logging.DEBUG)
        worker = Worker(chosen)
        if not once:
            worker.stop_on_signals()
            worker.run()
            return
        try:
            worker.run_due()
        except CassandraUnavailable as error:
            raise CommandError(f"Cassandra is away: {error}") from error
        self.stdout.write(f"{worker.tally.ran} jobs run, {worker.tally.failed} failed.")
        if worker.tally.failed:
            raise SystemExit(1)
