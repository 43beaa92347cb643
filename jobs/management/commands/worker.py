"""`manage.py worker`: runs the jobs, which do the work outside requests."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from cassandra_db import CassandraUnavailable, ClockWrong, compare_clocks, current_time
from jobs.errors import SchemaOutdated
from jobs.progress import JobProgress, list_progress
from jobs.registry import Job, list_jobs
from jobs.worker import Worker


class Command(BaseCommand):
    help = "Run the apps' jobs whenever they are due. Several workers may run: a lease for each job keeps them apart."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--once",
            action="store_true",
            help="run each job that is due once, then end; status 1 if one failed",
        )
        parser.add_argument(
            "--job",
            action="append",
            metavar="NAME",
            help="only this job, or all that share its work (may be given several times)",
        )
        parser.add_argument(
            "--list", action="store_true", help="name the jobs and how often they run"
        )
        parser.add_argument(
            "--status",
            action="store_true",
            help="print what the workers did last and how far behind they are; status 1 if something needs attention",
        )

    def handle(
        self,
        *,
        once: bool,
        job: list[str] | None,
        list: bool,
        status: bool,
        verbosity: int,
        **options: Any,
    ) -> None:
        chosen = _select_jobs(job)
        if list:
            for each in chosen:
                idle = f", idle every {each.longest_pause}" if each.idle_every else ""
                beside = ", in a loop of its own" if each.has_own_loop else ""
                self.stdout.write(f"{each.name:32}  every {each.every}{idle}{beside}")
            return
        if status:
            self._print_status(chosen)
            return
        if verbosity > 1:
            logging.getLogger("worker").setLevel(logging.DEBUG)
        worker = Worker(chosen)
        try:
            if not once:
                worker.stop_on_signals()
                worker.run()
                return
            worker.run_due_jobs()
        except (SchemaOutdated, ClockWrong) as error:
            raise CommandError(f"No job runs: {error}") from error
        except CassandraUnavailable as error:
            raise CommandError(f"Cassandra is away: {error}") from error
        self.stdout.write(
            f"{worker.tally.run_count} jobs run, {worker.tally.failure_count} failed."
        )
        if worker.tally.failure_count:
            raise SystemExit(1)

    def _print_status(self, chosen: Sequence[Job]) -> None:
        try:
            clock = compare_clocks()
            found = list_progress(chosen, current_time())
        except CassandraUnavailable as error:
            raise CommandError(f"Cassandra is away: {error}") from error
        for each in found:
            self.stdout.write(_status_line(each))
        problems = [each for each in found if each.problem]
        self.stdout.write(f"{len(found)} jobs, {len(problems)} to look at.")
        if clock.problem:
            self.stdout.write(f"No worker runs on this host: {clock.problem}.")
        if problems or clock.problem:
            raise SystemExit(1)


def _select_jobs(names: list[str] | None) -> list[Job]:
    every = list_jobs()
    if unknown := [name for name in names or () if not any(each.has_name(name) for each in every)]:
        known = ", ".join(sorted({each.family or each.name for each in every}))
        raise CommandError(f"No such job: {', '.join(sorted(unknown))}. There are: {known}.")
    return [each for each in every if not names or any(each.has_name(name) for name in names)]


def _status_line(each: JobProgress) -> str:
    lease = each.lease
    parts = [
        f"last ran {lease.last_run:%Y-%m-%d %H:%M:%S} UTC" if lease.last_run else "has never run",
        f"took {lease.duration.total_seconds():.2f} s" if lease.duration is not None else "",
        f"{_in_seconds(each.delay)} late" if each.delay else "",
        f"{_in_seconds(each.backlog_age)} behind" if each.backlog_age else "",
        "running" if each.is_running else "",
        f"by {lease.worker}" if lease.worker else "",
        f"{lease.result} at {lease.result_at:%H:%M:%S}" if lease.result and lease.result_at else "",
        f"FAILED: {lease.failure}"
        if lease.failure
        else each.problem.upper()
        if lease.last_run
        else "",
        *(
            f"{row.name} failed {row.count} times, again at {row.retry_at:%H:%M:%S}: {row.error}"
            for row in lease.failed_rows
        ),
    ]
    return f"{each.job.name:32}  {'; '.join(filter(None, parts))}"


def _in_seconds(time: timedelta) -> str:
    return str(timedelta(seconds=int(time.total_seconds())))
