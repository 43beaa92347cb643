"""Restores backups into keyspaces that are new.

A node gets the files of the node with the same tokens. If the cluster has other tokens or another replication, each node gets those
of all nodes.
"""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from backups.errors import BackupError, explain_errors
from backups.manifest import Manifest, StoredFile, total_megabytes
from backups.nodes import Node, connect_nodes
from backups.operations.backups import list_configuration
from backups.queries import MARK, describe_replication, execute, find_keyspace
from backups.store import BackupStore
from cassandra_db.session import keyspace_name
from catalogue.photos import CONTENT_TYPES

Say = Callable[[str], None]


@explain_errors()
def restore(name: str, keyspace: str, say: Say) -> Manifest:
    """Restore a backup into a new keyspace, and the media that are missing. Return its manifest.

    The keyspace stays marked until `forget_restore`: see `find_restored_backup`. One whose restore was cut off is never used.
    Raises BackupError.
    """
    store = BackupStore()
    manifest = store.read_manifest(name)
    restore_tables(store, manifest, keyspace, say)
    count = sum(_restore_media_file(store, file) for file in manifest.media)
    say(f"{count} files of the media written; {len(manifest.media) - count} were there")
    then, now = manifest.settings, list_configuration()
    for each in sorted(then.keys() | now.keys()):
        if then.get(each) != now.get(each):
            say(f"{each} was {then.get(each)!r} then, and is {now.get(each)!r}")
    execute(f"UPDATE {keyspace}.{MARK} SET is_finished = true WHERE backup = %s", manifest.name)  # noqa: S608
    return manifest


def restore_tables(
    store: BackupStore, manifest: Manifest, keyspace: str, say: Say, *, is_scratch: bool = False
) -> None:
    """Restore the tables of a backup into a new keyspace. Dropping one that is scratch leaves no snapshots.

    Raises BackupError, CassandraUnavailable.
    """
    with connect_nodes() as nodes:
        _make_keyspace(keyspace, manifest)
        sources = _find_sources(manifest, nodes, keyspace)
        _require_space(manifest, nodes, sources)
        for number, table in enumerate(manifest.schema, start=1):
            for cql in manifest.schema[table]:
                cql = cql.replace(f" TABLE {manifest.keyspace}.", f" TABLE {keyspace}.", 1)
                if is_scratch:
                    cql = cql.replace("allow_auto_snapshot = true", "allow_auto_snapshot = false")
                execute(cql)
            for node in nodes:
                for source in sources[node.host_id]:
                    _import_files(store, node, keyspace, table, manifest.files[table][source])
            if number % 25 == 0 or number == len(manifest.schema):
                say(f"{number} of {len(manifest.schema)} tables restored")
        for node in nodes:
            if len(sources[node.host_id]) > 1:
                node.clean_up(keyspace)


def forget_restore() -> None:
    """Let the shop's keyspace count as a shop's again, after its reconciliation. May be repeated. Raises CassandraUnavailable."""
    execute(f"DROP TABLE IF EXISTS {keyspace_name()}.{MARK}")


def _make_keyspace(keyspace: str, manifest: Manifest) -> None:
    """Make a keyspace with the mark of this restore. Raises BackupError if there is one with tables."""
    found = find_keyspace(keyspace)
    if found and found.tables:
        raise BackupError(
            f"{keyspace} has tables, of a shop or of a restore that was cut off. A restore never writes over data: name a new keyspace."
        )
    options = dict(settings.DATABASES["default"]["OPTIONS"]["replication"])
    options = {"class": options.pop("strategy_class"), **options}
    execute(f"CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {options}")
    execute(
        f"CREATE TABLE {keyspace}.{MARK} (backup text PRIMARY KEY, snapshot_at timestamp, is_finished boolean)"
    )
    execute(
        f"INSERT INTO {keyspace}.{MARK} (backup, snapshot_at, is_finished) VALUES (%s, %s, false)",  # noqa: S608
        *(manifest.name, manifest.snapshot_at),
    )


def _find_sources(manifest: Manifest, nodes: list[Node], keyspace: str) -> dict[str, list[str]]:
    """Return for each node, by its host id, the nodes of the backup whose files it gets."""
    by_tokens = {tuple(tokens): source for source, tokens in manifest.tokens.items()}
    is_same = set(by_tokens) == {tuple(node.tokens) for node in nodes}
    if is_same and describe_replication(keyspace) == manifest.replication:
        return {node.host_id: [by_tokens[tuple(node.tokens)]] for node in nodes}
    return {node.host_id: list(manifest.tokens) for node in nodes}


def _require_space(manifest: Manifest, nodes: list[Node], sources: dict[str, list[str]]) -> None:
    """Raise BackupError if the disk is too small, since a full one ends a node. All nodes may share it."""
    copies = sum(map(len, sources.values())) / len(manifest.tokens)
    needed = copies * total_megabytes(manifest.list_table_files())
    free = min(shutil.disk_usage(node.folders[0]).free for node in nodes) / 1_000_000
    if free < needed:
        raise BackupError(
            f"The disk of the nodes has {free:.0f} MB free; the restore needs {needed:.0f} MB."
        )


def _import_files(
    store: BackupStore, node: Node, keyspace: str, table: str, files: list[StoredFile]
) -> None:
    folder = node.staging_folder / keyspace / table
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        for file in files:
            with (folder / file["name"]).open("wb") as target:
                target.writelines(store.read_file(file))
        if files:
            node.import_sstables(keyspace, table, folder)
    except OSError as error:
        raise BackupError(f"The files of {table} cannot be written: {error}") from error
    finally:
        shutil.rmtree(node.staging_folder, ignore_errors=True)


def _restore_media_file(store: BackupStore, file: StoredFile) -> bool:
    """Write a file of the media, unless the storage has one with this name. Return whether it was written."""
    name = file["name"]
    if default_storage.exists(name):
        return False
    content = ContentFile(b"".join(store.read_file(file)))
    if content_type := CONTENT_TYPES.get(name.rpartition(".")[2]):
        content.content_type = content_type  # type: ignore[attr-defined]
    try:
        default_storage.save(name, content)
    except Exception as error:  # each storage raises its own errors
        raise BackupError(f"The storage of the media does not take {name}: {error}") from error
    return True
