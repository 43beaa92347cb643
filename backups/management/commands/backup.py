"""`manage.py backup`: copy the shop's tables and media, encrypted, to a folder or a bucket."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from backups.operations import make_backup
from backups.store import BackupStore


class Command(BaseCommand):
    help = "Back up tables and media (docs/operations/backups.md). If it is killed, run it again."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--list", action="store_true", help="only list the backups")
        text = "delete all backups of this keyspace but the newest N"
        parser.add_argument(
            "--keep", type=int, default=settings.BACKUP_KEEP, metavar="N", help=text
        )
        text = "read at most so many megabytes a second"
        parser.add_argument("--rate", type=float, default=0, metavar="MB", help=text)

    def handle(self, *, list: bool, keep: int, rate: float, **options: Any) -> None:
        if not list:
            make_backup(self.stdout.write, keep, rate)
            return
        store = BackupStore()
        for each in map(store.read_manifest, store.list_backups()):
            self.stdout.write(
                f"{each.name}  as of {each.snapshot_at:%Y-%m-%d %H:%M:%S} UTC, version {each.version}, {len(each.schema)} tables,"
                f" {len(each.media)} files of the media, {each.megabytes:.1f} MB"
            )
