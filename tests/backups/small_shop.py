"""A keyspace of three tables, its backups in a folder, and media of two files: all that a backup has to do with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import override_settings

from backups.manifest import Manifest
from backups.operations import backups as making
from backups.operations import make_backup, restore
from backups.queries import execute
from backups.store import BackupStore
from cassandra_db.session import get_session
from tests.environment import KEYSPACE

KEY = "k" * 40
PICTURE = "pictures/0123/320.jpg"
# More than one chunk of the small size that the tests set.
CONTENT = b"a picture of a mug " * 20_000


@dataclass
class SmallShop:
    """A small shop: its keyspace, its folders, and what its commands have said."""

    keyspace: str
    folder: Path
    media: Path
    said: list[str] = field(default_factory=list)

    def back_up(self, keep: int = 9, rate: float = 0) -> Manifest:
        """Back it up."""
        return make_backup(self.said.append, keep, rate)

    def restore(self, name: str = "latest", suffix: str = "restored") -> str:
        """Restore a backup into another keyspace, and return that."""
        keyspace = f"{self.keyspace}_{suffix}"
        restore(name, keyspace, self.said.append)
        return keyspace

    def add_thing(self, number: int, name: str) -> None:
        """Add a row."""
        execute(f"INSERT INTO {self.keyspace}.things (id, name) VALUES (%s, %s)", number, name)  # noqa: S608

    def list_backups(self) -> list[str]:
        """Return the names of the backups in the store."""
        return BackupStore().list_backups()

    def list_chunks(self) -> set[str]:
        """Return the names of the chunks in the store."""
        return set(BackupStore().known_chunks)


def read_rows(
    keyspace: str, run: Callable[[str], list[dict[str, Any]]] = execute
) -> list[list[dict[str, Any]]]:
    """Return all rows of a small shop's tables, as `run` reads them."""
    return [
        sorted(run(f"SELECT * FROM {keyspace}.{table}"), key=str)  # noqa: S608
        for table in ("things", "parts", "empty")
    ]


@contextmanager
def open_small_shop(folder: Path, **storages: Any) -> Iterator[SmallShop]:
    """Make a small shop; at the end drop its keyspace, and those that were restored."""
    keyspace = f"stoa_small_{uuid4().hex[:8]}"
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
    execute(f"CREATE KEYSPACE {keyspace} WITH replication = {replication}")
    execute(f"CREATE TABLE {keyspace}.things (id int PRIMARY KEY, name text)")
    execute(f"CREATE TABLE {keyspace}.empty (id int PRIMARY KEY)")
    leases = get_session().cluster.metadata.keyspaces[KEYSPACE].tables["leases"].as_cql_query()
    execute(leases.replace(KEYSPACE, keyspace, 1))
    execute(
        f"CREATE TABLE {keyspace}.parts (thing int, number int, former text, tags set<text>, PRIMARY KEY (thing, number))"
        " WITH CLUSTERING ORDER BY (number DESC) AND comment = 'parts; of things'"
    )
    # Its cells are on the disk when the column goes.
    execute(
        f"INSERT INTO {keyspace}.parts (thing, number, former, tags) VALUES (1, 2, 'x', {{'red'}})"  # noqa: S608
    )
    shop = SmallShop(keyspace, folder / "backups", folder / "media")
    for number in range(20):
        shop.add_thing(number, f"thing {number}, its name is nobody else's")
    place = {"BACKEND": "storefront.media.WholeFileStorage"}
    kept = {
        "default": place | {"OPTIONS": {"location": shop.media, "allow_overwrite": True}},
        "backups": place | {"OPTIONS": {"location": shop.folder, "allow_overwrite": True}},
    }
    changed = override_settings(STORAGES=settings.STORAGES | kept | storages, BACKUP_KEY=KEY)
    with changed, patch.object(making, "keyspace_name", lambda: keyspace):
        default_storage.save(PICTURE, ContentFile(CONTENT))
        default_storage.save("incoming/raw", ContentFile(b"raw"))
        default_storage.save("shared/drawing.jpg", ContentFile(b"made again"))
        try:
            yield shop
        finally:
            for suffix in ("", "_restored", "_again", "_verify"):
                execute(f"DROP KEYSPACE IF EXISTS {keyspace}{suffix}")


def drop_column(keyspace: str, flush: Callable[[], None]) -> None:
    """Drop the column whose cells are on the disk."""
    flush()
    execute(f"ALTER TABLE {keyspace}.parts DROP former")
