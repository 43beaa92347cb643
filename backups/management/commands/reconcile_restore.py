"""`manage.py reconcile_restore`: bring a restored shop in line with what has happened since its backup."""

from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from backups.errors import BackupError
from backups.operations import forget_restore
from backups.queries import find_restored_backup
from backups.reconciliation import reconcile
from cassandra_db import CassandraUnavailable
from jobs.errors import LeaseLost


class Command(BaseCommand):
    help = (
        "After `restore`, before the shop serves: end sessions and reservations, give no number twice, ask the gateways for payments"
        " since the backup, erase people again, and check the shop. May be repeated. Status 1: something has failed, or the check has found violations."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since",
            type=datetime.fromisoformat,
            metavar="TIME",
            help="the backup's time, for a keyspace that another tool has restored: 2026-11-27T18:00:00+00:00",
        )

    def handle(self, *, since: datetime | None, **options: Any) -> None:
        try:
            if since is None and (backup := find_restored_backup()):
                since = backup.snapshot_at
            if since is None or since.tzinfo is None:
                raise CommandError(
                    "This keyspace was not restored by `manage.py restore`, or is reconciled already. If another tool has restored"
                    " it, give the backup's time and zone: --since 2026-11-27T18:00:00+00:00"
                )
            self.stdout.write(f"Reconciling what has happened since {since.isoformat()}.")
            failed, report = reconcile(since, self.stdout.write)
            if not failed.failures:
                forget_restore()
        except BackupError as error:
            raise CommandError(str(error)) from error
        except (LeaseLost, CassandraUnavailable, OSError) as error:
            raise CommandError(f"Not finished: {error} Run the command again.") from error
        self.stdout.write(
            "Look at /staff/books/unmatched/ for payments without an order and for transfers to look up."
        )
        if failed.failures:
            raise CommandError(f"Not finished: {failed}. Run the command again.")
        if not report.is_clean:
            raise SystemExit(1)
