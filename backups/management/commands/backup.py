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
        text = "how many backups of this keyspace are kept"
        parser.add_argument("--keep", type=int, default=settings.BACKUP_KEEP, help=text)
        text = "read at most so many megabytes a second"
        parser.add_argument("--rate", type=float, default=0, help=text)

    def handle(self, *, list: bool, keep: int, rate: float, **options: Any) -> None:
        if not list:
            make_backup(self.stdout.write, keep, rate)
            return
        store = BackupStore()
        for each in map(store.read_manifest, store.list_backups()):
            size = f"{each.table_bytes / 1_000_000:.1f} MB of tables, {len(each.media)} files of the media"
            at = f"{each.snapshot_at:%Y-%m-%d %H:%M:%S} UTC"
            self.stdout.write(f"{each.name}  as of {at}, version {each.version}, {size}")
