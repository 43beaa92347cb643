"""Restores backups into keyspaces that are new.

A node gets the files of the node with the same tokens. If the cluster has other tokens or another replication, each node gets those
of all nodes.
"""

import shutil
from collections.abc import Callable

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from backups.errors import BackupError, explain
from backups.manifest import Manifest, StoredFile
from backups.nodes import Node, connect_nodes
from backups.operations.backups import list_configuration
from backups.queries import MARK, execute, execute_all, find_keyspace, find_mark
from backups.store import BackupStore
from cassandra_db import CassandraUnavailable
from cassandra_db.schema import AGREEMENT_SECONDS
from cassandra_db.session import get_session, keyspace_name
from catalogue.photos import CONTENT_TYPES

Say = Callable[[str], None]


@explain(CassandraUnavailable, "Cassandra does not answer")
def restore(name: str, keyspace: str, say: Say) -> Manifest:
    """Restore a backup into a new keyspace, and the media that are missing. Return its manifest.

    The keyspace stays marked until `forget_restore`: see `find_restored_backup`. One whose restore was cut off is never used.
    Raises BackupError.
    """
    store = BackupStore()
    manifest = store.read_manifest(name)
    restore_tables(store, manifest, keyspace, say)
    with explain(Exception, "The storage of the media fails"):
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
    options = dict(settings.DATABASES["default"]["OPTIONS"]["replication"])
    options = {"class": options.pop("strategy_class")} | {
        each: str(factor) for each, factor in options.items()
    }
    if find_keyspace(keyspace):
        mark = find_mark(keyspace)
        of = "a restore that was cut off" if mark and not mark.is_finished else "a shop"
        raise BackupError(
            f"The keyspace {keyspace} is there, of {of}. A restore never writes over data: name a new one, or look at this one and drop"
            f" it in cqlsh: DROP KEYSPACE {keyspace};"
        )
    store.require_chunks(manifest)
    with connect_nodes() as nodes:
        sources = _find_sources(manifest, nodes, str(options))
        _require_space(manifest, nodes, sum(map(len, sources.values())))
        # The driver would wait for ten seconds, and a node that has not heard of a table takes none of its files.
        get_session().cluster.max_schema_agreement_wait = AGREEMENT_SECONDS
        execute(f"CREATE KEYSPACE {keyspace} WITH replication = {options}")
        execute(
            f"CREATE TABLE {keyspace}.{MARK} (backup text PRIMARY KEY, snapshot_at timestamp, is_finished boolean)"
        )
        cql = f"INSERT INTO {keyspace}.{MARK} (backup, snapshot_at, is_finished) VALUES (%s, %s, false)"  # noqa: S608
        execute(cql, manifest.name, manifest.snapshot_at)
        _create_tables(manifest, keyspace, is_scratch)
        for number, table in enumerate(manifest.schema, start=1):
            for node in nodes:
                for source in sources[node.host_id]:
                    if files := manifest.files[table][source]:
                        _import_files(store, node, keyspace, table, files)
            if number % 25 == 0 or number == len(manifest.schema):
                say(f"{number} of {len(manifest.schema)} tables restored")
        for node in nodes:
            if len(sources[node.host_id]) > 1:
                node.clean_up(keyspace)


def forget_restore() -> None:
    """Let the shop's keyspace count as a shop's again, after its reconciliation. May be repeated. Raises CassandraUnavailable."""
    execute(f"DROP TABLE IF EXISTS {keyspace_name()}.{MARK}")


def _create_tables(manifest: Manifest, keyspace: str, is_scratch: bool) -> None:
    def adapt(cql: str) -> str:
        cql = cql.replace(f" TABLE {manifest.keyspace}.", f" TABLE {keyspace}.", 1)
        return cql.replace("auto_snapshot = true", "auto_snapshot = false") if is_scratch else cql

    execute_all(adapt(create) for create, *_changes in manifest.schema.values())
    for _create, *changes in manifest.schema.values():
        for cql in changes:
            execute(adapt(cql))


def _find_sources(manifest: Manifest, nodes: list[Node], replication: str) -> dict[str, list[str]]:
    """Return for each node, by its host id, the nodes of the backup whose files it gets."""
    by_tokens = {tuple(tokens): [source] for source, tokens in manifest.tokens.items()}
    mine = {node.host_id: tuple(node.tokens) for node in nodes}
    if manifest.replication == replication and set(by_tokens) == set(mine.values()):
        return {host_id: by_tokens[tokens] for host_id, tokens in mine.items()}
    return {host_id: list(manifest.tokens) for host_id in mine}


def _require_space(manifest: Manifest, nodes: list[Node], copies: int) -> None:
    """Raise BackupError if the disk is too small, since a full one ends a node. All nodes may share it."""
    needed = copies * manifest.table_bytes // len(manifest.tokens)
    free = min(shutil.disk_usage(node.folders[0]).free for node in nodes)
    if free < needed:
        raise BackupError(
            f"The nodes’ disk has {free:,} bytes free, and the restore needs {needed:,}."
        )


def _import_files(
    store: BackupStore, node: Node, keyspace: str, table: str, files: list[StoredFile]
) -> None:
    folder = node.staging_folder / keyspace / table
    shutil.rmtree(folder.parent, ignore_errors=True)  # of a restore that was cut off
    try:
        with explain(OSError, f"The files of {table} cannot be written"):
            folder.mkdir(parents=True)
            for file in files:
                with (folder / file["name"]).open("wb") as target:
                    target.writelines(store.read_file(file))
            node.import_sstables(keyspace, table, folder)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _restore_media_file(store: BackupStore, file: StoredFile) -> bool:
    """Write a file of the media, unless the storage has one with this name. Return whether it was written."""
    name = file["name"]
    if default_storage.exists(name):
        return False
    content = ContentFile(b"".join(store.read_file(file)))
    if content_type := CONTENT_TYPES.get(name.rpartition(".")[2]):
        content.content_type = content_type  # type: ignore[attr-defined]
    default_storage.save(name, content)
    return True
