"""Makes backups: a snapshot of each table on all nodes, then copies of its files and of the media into the store.

A backup that was killed is begun again, with a new snapshot. What the store has is not stored again, so it goes on from there.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from time import monotonic, sleep

from django.conf import settings
from django.core.files.storage import default_storage

from backups.errors import BackupError, explain
from backups.manifest import Manifest, StoredFile
from backups.nodes import Node, connect_nodes
from backups.queries import describe_tables, find_keyspace, find_mark
from backups.store import BackupStore
from cassandra_db import REGISTRY, CassandraUnavailable, current_time
from cassandra_db.configuration import CONDITIONAL
from cassandra_db.session import keyspace_name
from catalogue.photos import FOLDER as PICTURES
from catalogue.share_images import FOLDER as SHARED
from jobs import due_rows
from jobs.errors import LeaseLost
from jobs.leases import hold_lease, save_position
from jobs.registry import list_jobs

# The lease of backups. Its position is the time of the last snapshot that is completely stored.
LEASE = "backup"
TAG = "stoa-backup-"
# Variables of the environment by which the shop can be built again. None of them is a secret.
CONFIGURATION = re.findall(
    r"\w+",
    "ALLOWED_HOSTS BANK_ACCOUNT BEHIND_PROXY CASSANDRA_REPLICATION EXTRA_APPS MAIL_BOUNCE_ADDRESS MAIL_REPLY_ADDRESS "
    "PAYMENT_GATEWAY PAYMENT_METHODS POSTS PUBLIC_URL S3_BUCKET S3_REGION SELLER_ADDRESS SELLER_EMAIL SELLER_NAME SELLER_VAT_ID "
    "SHOP_EMAIL SHOP_NAME SHOP_TIME_ZONE STOCK_LEDGER_SHARDS TAX_ADDED_IN UNPAID_UNITS",
)


@explain(LeaseLost, "Another backup runs, or one was killed a moment ago")
@explain(CassandraUnavailable, "Cassandra does not answer")
def make_backup(say: Callable[[str], None], keep: int, rate: float = 0) -> Manifest:
    """Back up the shop's keyspace and the media, delete all backups but the newest `keep`, and return the new one.

    It reads at most `rate` megabytes a second; 0 is no limit. Raises BackupError, also if another backup is under way.
    """
    store, keyspace = BackupStore(), keyspace_name()
    found = find_keyspace(keyspace)
    if found is None or find_mark(keyspace):
        raise BackupError(f"{keyspace} is missing, or was restored and is not reconciled yet.")
    with hold_lease(LEASE), connect_nodes() as nodes:
        name = f"{current_time():%Y%m%dT%H%M%SZ}-{keyspace}"
        try:
            times = _take_snapshots(nodes, keyspace, list(found.tables), TAG + name)
            # Read after the snapshots: a column that they lack does no harm, one that only they have would.
            schema = {
                table: made for table, made in describe_tables(keyspace).items() if table in times
            }
            pace = _Pace(say, rate)
            manifest = Manifest(
                name=name,
                keyspace=keyspace,
                version=settings.VERSION,
                replication=found.replication_strategy.export_for_schema(),
                settings=list_configuration(),
                tokens={node.host_id: node.tokens for node in nodes},
                times=times,
                schema=schema,
                files={
                    table: _copy_table(store, nodes, keyspace, table, TAG + name, pace)
                    for table in schema
                },
                media=_copy_media(store, keyspace, pace),
            )
        finally:
            for node in nodes:
                node.clear_snapshots(TAG, keyspace)
        store.write_manifest(manifest)
        save_position(LEASE, manifest.snapshot_at.isoformat())
        say(f"{name}: complete, {pace.done / 1_000_000:.1f} MB read")
        say(f"{store.delete_old_backups(keyspace, keep)} old chunks deleted")
    return manifest


def list_configuration() -> dict[str, str]:
    """Return the variables of the environment that a backup keeps."""
    return {name: os.environ[name] for name in CONFIGURATION if name in os.environ}


def _take_snapshots(
    nodes: list[Node], keyspace: str, tables: list[str], tag: str
) -> dict[str, list[str]]:
    """Take a snapshot of each table on all nodes. Return when each began and ended."""
    for node in nodes:
        node.clear_snapshots(TAG, keyspace)  # of a backup that was killed
        node.flush(keyspace)  # so that the tables follow each other within moments
    times = {}
    for table in _sort_tables(tables):
        begun_at = current_time()
        for node in nodes:
            node.take_snapshot(tag, keyspace, table)
        times[table] = [begun_at.isoformat(), current_time().isoformat()]
    return times


def _sort_tables(tables: list[str]) -> list[str]:
    """Return tables in the order of their snapshots: originals, then pending rows, then copies.

    So an original in the backup has its copies, or the pending row by which the worker makes them, as after a crash.
    """
    list_jobs()  # loads the modules that declare statements
    conditional = [each.cql for each in REGISTRY if each.profile == CONDITIONAL]
    originals = set(re.findall(r"\b(?:FROM|INTO|UPDATE) (\w+)", " ".join(conditional)))
    pending = {each.insert.cql.split()[2] for each in due_rows.REGISTRY}
    return sorted(tables, key=lambda table: (table not in originals, table not in pending, table))


def _copy_table(
    store: BackupStore, nodes: list[Node], keyspace: str, table: str, tag: str, pace: "_Pace"
) -> dict[str, list[StoredFile]]:
    """Store the files of a table's snapshot. Return them by host id. Raises BackupError if one is missing or cannot be read."""
    with explain(OSError, f"The snapshot of {table} cannot be read"):
        return {
            node.host_id: [
                store.write_file(path.name, partial(path.open, "rb"), pace.passed)
                for path in node.list_snapshot(tag, keyspace, table)
            ]
            for node in nodes
        }


@explain(Exception, "The media cannot be read")
def _copy_media(store: BackupStore, keyspace: str, pace: "_Pace") -> list[StoredFile]:
    """Store all files of the media, and return them. A picture never changes: one of the last backup is not read again."""
    known: dict[str, StoredFile] = {}
    with suppress(BackupError, IndexError):  # there is none, or it cannot be read
        last = store.read_manifest(store.list_backups(keyspace)[-1])
        known = {
            file["name"]: file for file in last.media if file["name"].startswith(f"{PICTURES}/")
        }
    media = []
    for name in _list_media(""):
        if name in known and store.known_chunks.issuperset(known[name]["chunks"]):
            media.append(known[name])
        else:
            with suppress(FileNotFoundError):  # deleted since it was listed
                opening = partial(default_storage.open, name)
                media.append(store.write_file(name, opening, pace.passed))
    return media


def _list_media(folder: str) -> Iterator[str]:
    """Yield the names of all files below a folder, but for drawings as JPEG, which the shop makes again."""
    with suppress(FileNotFoundError):
        folders, names = default_storage.listdir(folder)
        yield from (folder + name for name in sorted(names))
        for each in sorted(folders):
            if folder + each != SHARED:
                yield from _list_media(f"{folder}{each}/")


class _Pace:
    """Slows reading down to a rate, and says every ten seconds how far it is."""

    def __init__(self, say: Callable[[str], None], rate: float) -> None:
        self._say, self._rate, self._began = say, rate * 1_000_000, monotonic()
        self._said = self.done = 0

    def passed(self, size: int) -> None:
        """Count bytes, and wait if they come too fast."""
        self.done += size
        if self._rate:
            sleep(max(0.0, self._began + self.done / self._rate - monotonic()))
        if (now := int(monotonic() - self._began) // 10) > self._said:
            self._said = now
            self._say(f"{self.done / 1_000_000:.1f} MB read")
