"""Backups of a small keyspace on the real node: made, cut off, damaged, restored."""

import re
import resource
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import override_settings

from backups import queries, store
from backups.errors import BackupError
from backups.manifest import Manifest
from backups.nodes import Node, connect_nodes
from backups.operations import backups, find_restored_backup, forget_restore, restores, verification
from backups.queries import execute
from backups.store import BackupStore
from cassandra_db import current_time, schema
from cassandra_db.partitions import list_models
from jobs.errors import SchemaOutdated
from jobs.leases import get_lease, hold_lease
from jobs.schema import require_current_schema
from tests.backups.small_shop import (
    CONTENT,
    PICTURE,
    SmallShop,
    drop_column,
    open_small_shop,
    read_rows,
)
from tests.orders.crashes import kill_in


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallShop]:
    monkeypatch.setattr(store, "CHUNK_BYTES", 100_000)
    with open_small_shop(tmp_path) as opened:
        yield opened


def list_snapshots(shop: SmallShop) -> list[Path]:
    with connect_nodes() as nodes:
        return [path for node in nodes for path in node._find(shop.keyspace, "*/snapshots/*")]


def read_store(shop: SmallShop) -> dict[str, bytes]:
    return {
        str(path.relative_to(shop.folder)): path.read_bytes()
        for path in shop.folder.rglob("*")
        if path.is_file()
    }


def test_x550_a_backup_is_restored_into_another_keyspace_with_its_media(shop: SmallShop) -> None:
    with connect_nodes() as nodes:
        drop_column(shop.keyspace, lambda: nodes[0].flush(shop.keyspace))
    began, rows = current_time(), read_rows(shop.keyspace)
    assert rows[1] == [{"thing": 1, "number": 2, "tags": {"red"}}]
    manifest = shop.back_up()
    assert began <= manifest.snapshot_at <= current_time()
    assert set(manifest.times) == {"things", "parts", "empty", "leases"}
    assert [file["name"] for file in manifest.media] == ["incoming/raw", PICTURE]
    assert list_snapshots(shop) == []
    assert get_lease(backups.LEASE).position == manifest.snapshot_at.isoformat()

    shop.add_thing(99, "later than the backup")
    shutil.rmtree(shop.media)
    restored = shop.restore()
    assert read_rows(restored) == rows
    with default_storage.open(PICTURE) as file:
        assert file.read() == CONTENT
    assert not default_storage.exists("shared/drawing.jpg")
    assert len(read_rows(shop.keyspace)[0]) == 21
    parts = queries.describe_tables(restored)["parts"][0]
    assert "comment = 'parts; of things'" in parts
    assert "number DESC" in parts


def test_x550_a_restored_keyspace_is_marked_until_it_is_reconciled(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = shop.back_up()
    restored = shop.restore()
    for module in (queries, restores, backups):
        monkeypatch.setattr(module, "keyspace_name", lambda: restored)
    mark = find_restored_backup()
    assert mark
    assert (mark.backup, mark.snapshot_at) == (manifest.name, manifest.snapshot_at)
    with pytest.raises(BackupError, match="not reconciled"):
        shop.back_up()
    forget_restore()
    forget_restore()
    assert find_restored_backup() is None
    assert shop.back_up().keyspace == restored


def test_x550_originals_are_copied_first_then_pending_rows_then_copies() -> None:
    found = backups._sort_tables([str(model.__table_name__) for model in list_models()])
    chains = [
        ("orders", "pending_effects_by_minute", "orders_by_status"),
        ("users_by_email", "erasures", "users_by_search_term"),
        ("inventory", "reservations_by_minute", "stock_by_product"),
        ("leases", "pending_reviews_by_period", "reviews_by_product"),
    ]
    wrong = [chain for chain in chains if sorted(chain, key=found.index) != list(chain)]
    assert wrong == []


STEPS: list[tuple[Any, str]] = [
    (Node, "flush"),
    (Node, "take_snapshot"),
    (Node, "list_snapshot"),
    (BackupStore, "_write"),
    (backups, "_list_media"),
    (BackupStore, "write_manifest"),
    (Node, "clear_snapshots"),
    (backups, "save_position"),
    (BackupStore, "delete_old_backups"),
]


def test_x551_a_backup_that_is_killed_at_any_step_goes_on_when_it_is_run_again(
    shop: SmallShop,
) -> None:
    rows = read_rows(shop.keyspace)
    for module, name in STEPS:
        kill_in(module, name, shop.back_up)
    assert len(shop.list_backups()) in (1, 2), "those whose last acts were cut off"
    # A process that is killed leaves its snapshot.
    with connect_nodes() as nodes:
        nodes[0].take_snapshot(f"{backups.TAG}left", shop.keyspace, "things")
    stored: list[str] = []
    write = BackupStore._write

    def note(self: BackupStore, path: str, content: bytes) -> None:
        stored.append(path)
        write(self, path, content)

    with patch.object(BackupStore, "_write", note):
        manifest = shop.back_up(keep=1)
    assert stored == [f"manifests/{manifest.name}"], "nothing that was stored is stored again"
    assert list_snapshots(shop) == []
    assert shop.list_chunks() == manifest.list_chunks()
    assert read_rows(shop.restore()) == rows


def test_x551_old_backups_go_with_the_chunks_that_no_other_needs(shop: SmallShop) -> None:
    first = shop.back_up()
    own = BackupStore().write_file("own", lambda: BytesIO(b"of the other keyspace"), lambda _: None)
    other = replace(first, name="20200101T000000Z-other", keyspace="other", media=[own])
    BackupStore().write_manifest(other)
    names = [first.name]
    for number in range(3):
        shop.add_thing(100 + number, "one more")
        with patch.object(
            backups, "current_time", lambda at=number: current_time().replace(year=2030 + at)
        ):
            names.append(shop.back_up(keep=2).name)
    found = BackupStore()
    assert found.list_backups(shop.keyspace) == names[-2:]
    assert found.list_backups() == [other.name, *names[-2:]]
    needed = [found.read_manifest(name).list_chunks() for name in found.list_backups()]
    assert shop.list_chunks() == set().union(*needed)
    assert needed[0] >= set(own["chunks"]), "those of the other keyspace are spared"


def test_x551_a_picture_of_the_last_backup_is_not_read_again_and_the_rate_slows_reading_down(
    shop: SmallShop,
) -> None:
    shop.back_up()
    slept: list[float] = []
    read: list[str] = []

    class Storage:
        listdir = staticmethod(default_storage.listdir)

        @staticmethod
        def open(name: str) -> Any:
            read.append(name)
            return default_storage.open(name)

    with patch.multiple(backups, sleep=slept.append, default_storage=Storage):
        manifest = shop.back_up(rate=0.001)
    assert read == ["incoming/raw"]
    assert PICTURE in [file["name"] for file in manifest.media]
    assert max(slept) > manifest.table_bytes / 1000 - 5, "a kilobyte a second"


def test_s124_a_backup_holds_no_text_of_the_shop_and_none_of_its_secrets(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, f"secret-of-{name}")
    monkeypatch.setenv("SHOP_TIME_ZONE", "Europe/Dublin")
    manifest = shop.back_up()
    assert manifest.settings["SHOP_TIME_ZONE"] == "Europe/Dublin"
    assert "secret-of" not in repr(manifest)
    everything = b"".join(read_store(shop).values())
    assert len(everything) > len(CONTENT)
    # Nobody can ask whether a file of theirs is in it.
    assert sha256(b"raw").hexdigest() not in shop.list_chunks()
    for text in (
        b"its name is nobody",
        b"picture of a mug",
        b"things",
        settings.SECRET_KEY.encode(),
        b"secret-of",
    ):
        assert text not in everything
    with (
        override_settings(BACKUP_KEY="another key, and long enough as well"),
        pytest.raises(BackupError, match="BACKUP_KEY"),
    ):
        shop.restore()
    for key in ("", "short"):
        with override_settings(BACKUP_KEY=key), pytest.raises(BackupError, match="Set BACKUP_KEY"):
            shop.back_up()


# What the settings read that nobody else may know.
SECRETS = (
    *(
        "SECRET_KEY",
        "SECRET_KEY_FALLBACKS",
        "BACKUP_KEY",
        "CASSANDRA_PASSWORD",
        "EMAIL_URL",
        "METRICS_TOKEN",
    ),
    *(
        "STRIPE_SECRET_KEY",
        "STRIPE_WEBHOOK_SECRET",
        "S3_SECRET_KEY",
        "S3_ACCESS_KEY",
        "BACKUP_S3_SECRET_KEY",
    ),
)


def test_s124_the_environment_that_a_backup_keeps_names_no_secret() -> None:
    assert not set(SECRETS) & set(backups.CONFIGURATION)
    assert not [
        name
        for name in backups.CONFIGURATION
        if any(word in name for word in ("KEY", "SECRET", "PASSWORD", "TOKEN", "_URL"))
        and name != "PUBLIC_URL"
    ]


def test_s125_a_restore_never_writes_over_data(shop: SmallShop) -> None:
    shop.back_up()
    rows = read_rows(shop.keyspace)
    (shop.media / PICTURE).write_bytes(b"another picture")
    with pytest.raises(BackupError, match="never writes over data"):
        restores.restore("latest", shop.keyspace, shop.said.append)
    assert read_rows(shop.keyspace) == rows
    restored = shop.restore()
    assert (shop.media / PICTURE).read_bytes() == b"another picture"
    with pytest.raises(BackupError, match="never writes over data"):
        shop.restore()
    assert read_rows(restored) == rows


def test_s125_a_keyspace_whose_restore_was_killed_is_never_taken_for_a_shop(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.back_up()
    rows = read_rows(shop.keyspace)
    restored = f"{shop.keyspace}_restored"
    for module, name in (
        (restores, "_import_files"),
        (Node, "import_sstables"),
        (restores, "_restore_media_file"),
    ):
        kill_in(module, name, shop.restore)
        with monkeypatch.context() as patched:
            patched.setattr(queries, "keyspace_name", lambda: restored)
            with pytest.raises(BackupError, match="was cut off"):
                find_restored_backup()
        with pytest.raises(BackupError, match=f"cut off.*DROP KEYSPACE {restored};"):
            shop.restore()
        execute(f"DROP KEYSPACE {restored}")
    with connect_nodes() as nodes:
        staging = nodes[0].staging_folder
    # What a process leaves that is killed, and what another restore is about to import.
    left = [staging / restored / table for table in ("things", "parts", "leases")]
    other = staging / f"{restored}_other" / "things"
    for folder in (*left, other):
        folder.mkdir(parents=True)
        (folder / "nb-1-big-Data.db").write_bytes(b"half a file")
    assert read_rows(shop.restore()) == rows
    assert not left[0].parent.exists()
    assert [path.name for path in other.iterdir()] == ["nb-1-big-Data.db"]
    shutil.rmtree(other.parent)


def test_s125_no_web_server_or_worker_starts_before_the_reconciliation(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.back_up()
    restored = shop.restore()
    for module in (schema, restores):
        monkeypatch.setattr(module, "keyspace_name", lambda: restored)
    with pytest.raises(SchemaOutdated, match="reconcile_restore` first"):
        require_current_schema()
    forget_restore()
    with pytest.raises(SchemaOutdated, match="lacks "):
        require_current_schema()


def test_s125_a_verification_drops_only_what_a_verification_has_made(shop: SmallShop) -> None:
    shop.back_up()
    scratch = shop.restore(suffix="verify")
    with pytest.raises(BackupError, match="is not of a verification"):
        verification.verify_backup("latest", shop.said.append)
    assert read_rows(scratch) == read_rows(shop.keyspace)
    # As one that was killed leaves it.
    (name,) = shop.list_backups()
    execute(f"UPDATE {scratch}.{queries.MARK} SET is_finished = false WHERE backup = %s", name)  # noqa: S608
    verification._drop(scratch)
    assert queries.find_keyspace(scratch) is None


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def rename_format(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(store.HEAD, b"stoa-backup 0", 1))


DAMAGES: list[tuple[str, Callable[[Path], None], str]] = [
    ("chunks", Path.unlink, "lacks chunks/"),
    ("chunks", cut, "is damaged"),
    ("manifests", cut, "is damaged"),
    (
        "manifests",
        rename_format,
        "has the format b'stoa-backup 0', and this version reads b'stoa-backup 1'",
    ),
    ("manifests", Path.unlink, "There is no backup latest. There are: none."),
]


def test_x552_a_damaged_backup_is_refused_in_words_and_destroys_nothing(shop: SmallShop) -> None:
    rows = read_rows(shop.keyspace)
    for folder, damage, words in DAMAGES:
        manifest = shop.back_up(keep=1)
        stored = read_store(shop)
        (nodes,) = manifest.files["things"].values()
        name = nodes[0]["chunks"][0] if folder == "chunks" else manifest.name
        damage(shop.folder / folder / name)
        with pytest.raises(BackupError) as caught:
            shop.restore()
        assert words in str(caught.value)
        execute(f"DROP KEYSPACE IF EXISTS {shop.keyspace}_restored")
        for name, content in stored.items():
            (shop.folder / name).write_bytes(content)
    assert read_rows(shop.keyspace) == read_rows(shop.restore()) == rows


def test_x552_a_snapshot_that_has_lost_a_file_is_refused(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(pattern: str, keyspace: str) -> dict[str, list[str]]:
        for folder in list_snapshots(shop):
            for path in folder.glob(pattern):
                path.unlink()
        return queries.describe_tables(keyspace)

    for pattern, words in (
        ("*-Data.db", r"has lost \S*Data\.db"),
        ("*-Statistics.db", r"has lost \S*Statistics\.db"),
        ("*", r"has lost \w+\.$"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(backups, "describe_tables", partial(lose, pattern))
            with pytest.raises(BackupError, match=words):
                shop.back_up()
    assert shop.list_backups() == []
    assert list_snapshots(shop) == []


def test_x552_a_damaged_backup_does_not_hinder_the_next_one(shop: SmallShop) -> None:
    first = shop.back_up()
    chunks = shop.list_chunks()
    cut(shop.folder / "manifests" / first.name)
    shop.add_thing(99, "later than the damage")
    with (
        patch.object(backups, "current_time", lambda: current_time() + timedelta(seconds=1)),
        pytest.raises(BackupError, match="is damaged"),
    ):
        shop.back_up(keep=2)
    assert f"{shop.list_backups()[-1]}: complete" in shop.said[-1]
    assert chunks < shop.list_chunks(), "no chunk is deleted that the damaged one may need"
    assert read_rows(shop.restore()) == read_rows(shop.keyspace)


def test_x552_a_backup_whose_chunks_were_deleted_meanwhile_is_not_listed(shop: SmallShop) -> None:
    complete = BackupStore.write_manifest

    def lose(self: BackupStore, manifest: Manifest) -> None:
        (shop.folder / "chunks" / min(manifest.list_chunks())).unlink()
        complete(self, manifest)

    with (
        patch.object(BackupStore, "write_manifest", lose),
        pytest.raises(BackupError, match="is incomplete: the store lacks chunks/"),
    ):
        shop.back_up()
    assert shop.list_backups() == []
    assert shop.back_up().list_chunks() == shop.list_chunks()


def test_x552_a_full_disk_is_explained_and_the_next_run_goes_on(shop: SmallShop) -> None:
    rows = read_rows(shop.keyspace)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def with_small_disk(act: Callable[[], Any], words: str) -> None:
        # No file may be larger than this: the system refuses to write on, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limit[1]))
        try:
            with pytest.raises(BackupError, match=words):
                act()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    with_small_disk(shop.back_up, "is full or cannot be written")
    assert shop.list_backups() == []
    shop.back_up()
    full = Mock(return_value=Mock(free=0))
    with (
        patch.object(shutil, "disk_usage", full),
        pytest.raises(BackupError, match="has 0 bytes free"),
    ):
        shop.restore()
    assert read_rows(shop.restore()) == rows


def test_x553_nodes_that_are_not_the_clusters_are_refused(shop: SmallShop) -> None:
    with (
        override_settings(CASSANDRA_JMX=["127.0.0.1:1"]),
        pytest.raises(BackupError, match=r"127\.0\.0\.1:1 does not answer"),
    ):
        shop.back_up()
    with (
        override_settings(CASSANDRA_JMX=[]),
        pytest.raises(BackupError, match="has to name the 1 nodes"),
    ):
        shop.back_up()
    with (
        override_settings(STORAGES={"default": settings.STORAGES["default"]}),
        pytest.raises(BackupError, match="no place"),
    ):
        shop.back_up()


def test_x551_two_backups_do_not_run_at_the_same_time(shop: SmallShop) -> None:
    with hold_lease(backups.LEASE), pytest.raises(BackupError, match="Another backup runs"):
        shop.back_up()


def test_x550_the_command_lists_the_backups(
    shop: SmallShop, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = shop.back_up()
    call_command("backup", "--list")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{manifest.name}  as of {manifest.snapshot_at:%Y-%m-%d %H:%M:%S} UTC")
    assert line.endswith(f"version {settings.VERSION}, 0.0 MB of tables, 2 files of the media")


def test_x553_the_local_nodes_are_asked_only_if_no_others_are_named(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CASSANDRA_HOSTS", "127.0.0.1")
    monkeypatch.setenv("CASSANDRA_LOCAL_JMX", "127.0.0.1:1")
    monkeypatch.delenv("CASSANDRA_JMX", raising=False)
    said = verification._run("diffsettings --all", shop.keyspace, {0}).stdout
    assert "CASSANDRA_JMX = ['127.0.0.1:7199']" in said


def test_s126_the_check_of_a_backup_reaches_no_gateway_and_sends_no_mail(
    shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRIPE_SECRET_KEY", "sk_live_of_the_shop")
    monkeypatch.setenv("PAYMENT_GATEWAY", "stripe")
    monkeypatch.setenv("EMAIL_URL", "smtp://mail.example:25")
    names = ("PAYMENT_GATEWAY", "STRIPE_SECRET_KEY", "EMAIL_BACKEND", "DATABASES")
    said = verification._run("diffsettings --all --output=unified", shop.keyspace, {0}).stdout
    told = dict(re.findall(rf"^[+ ] ({'|'.join(names)}) = (.*)$", said, re.MULTILINE))
    assert told["PAYMENT_GATEWAY"] == "'none'"
    assert told["STRIPE_SECRET_KEY"] == "''"
    assert "dummy" in told["EMAIL_BACKEND"]
    assert shop.keyspace in told["DATABASES"]
    with pytest.raises(BackupError, match=r"manage\.py nonsense failed"):
        verification._run("nonsense", shop.keyspace, {0})
