"""The search index follows each change soon, has one writer, and is built anew when its files are damaged."""

import logging
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from cassandra_db import CassandraUnavailable, count_statements
from catalogue import jobs, operations, queries, search_index
from catalogue.entities import Product
from catalogue.index_files import SearchIndexBusy, hold_folder, note
from catalogue.operations.schedule import schedule_moments
from catalogue.search_index import (
    IndexReader,
    SearchIndexMissing,
    build_index,
    index_home,
    must_update_index,
    refresh_index,
)
from jobs.leases import hold_lease
from jobs.minutes import MINUTE, floor_to_minute
from tests.clock import now
from tests.factories import make_product

SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def product(keyspace: str) -> Product:
    return make_product("Copper Kettle")


@pytest.fixture(autouse=True)
def own(product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[UUID]]:
    """An index of one product; return the ids of the products whose changes it follows, as if there were no others."""
    ids, read = {product.product_id}, operations.list_changed_products

    def list_own(moment: datetime, until: datetime) -> dict[UUID, datetime]:
        return {key: at for key, at in read(moment, until).items() if key in ids}

    monkeypatch.setattr(search_index, "list_changed_products", list_own)
    monkeypatch.setattr(queries, "iterate_products", lambda *_: iter([product]))
    monkeypatch.setattr(search_index, "LOOK_EVERY_SECONDS", 0.0)
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index()
        yield ids


def find_folder() -> Path:
    (current,) = index_home().glob("current-*")
    return index_home() / current.read_text()


def count_documents(reader: IndexReader) -> int:
    _schema, searcher = reader.searcher()
    return int(searcher.num_docs)


def test_x301_whether_the_index_lacks_a_change_takes_one_statement_and_at_the_turn_of_an_hour_two(
    product: Product,
) -> None:
    half_past = floor_to_minute(now()).replace(minute=30) - timedelta(hours=2)
    counts = []
    for position, moment in (
        (half_past, half_past + MINUTE),
        (half_past + 29 * MINUTE, half_past + 30 * MINUTE),
    ):
        note(find_folder() / "position", position.isoformat())
        with count_statements() as counted:
            must_update_index(moment)
        counts.append(counted.statement_count)
    assert counts == [1, 2]
    refresh_index(now())
    assert not must_update_index(now())
    operations.record_product_change(product.product_id, now())
    assert must_update_index(now())


def test_x304_a_change_is_indexed_at_once_and_again_when_its_write_has_ended(
    product: Product,
) -> None:
    """It is recorded before it is written, and whoever writes it may crash."""
    began = now()
    refresh_index(began)
    operations.record_product_change(product.product_id, began + SECOND)
    pending = [
        (after, refresh_index(began + after * SECOND)) for after in (2, 3, 10, 11, 12, 25, 50)
    ]
    assert [after for after, count in pending if count] == [2, 11]


def test_x304_staff_read_how_long_a_change_took_and_not_that_it_was_indexed_again(
    own: set[UUID],
) -> None:
    product_id, began = uuid4(), now()
    own.clear()
    own.add(product_id)
    operations.record_product_change(product_id, began)
    assert re.fullmatch(
        r"1 product indexed, \d+\.\d s after its change", jobs.update_search_index(began + SECOND)
    )
    assert jobs.update_search_index(began + 12 * SECOND) == ""


def test_x300_an_update_that_cassandra_interrupts_is_made_by_the_next_one(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise CassandraUnavailable("no node answers")

    operations.record_product_change(product.product_id, now())
    with monkeypatch.context() as away:
        away.setattr(queries, "get_products_at_quorum", fail)
        with pytest.raises(CassandraUnavailable) as kept:
            refresh_index(now())
    assert (str(kept.value), refresh_index(now())) == ("no node answers", 1)


def test_x305_a_second_writer_ends_at_once_and_names_the_folder_and_the_first() -> None:
    home, writer = index_home(), f"process {os.getpid()} on "
    with hold_folder(home):
        with pytest.raises(SearchIndexBusy, match=writer) as raised:
            build_index()
        assert str(home) in str(raised.value)
        with pytest.raises(CommandError, match=writer):
            call_command("rebuild", "index")
    with hold_folder(find_folder()), pytest.raises(SearchIndexBusy, match=writer):
        refresh_index(now())
    build_index()


def test_x305_the_index_follows_changes_while_a_new_one_is_built(
    product: Product, own: set[UUID]
) -> None:
    reader, former = IndexReader(), find_folder()
    came = make_product("Copper Pan", listed=True)
    own.add(came.product_id)
    assert count_documents(reader) == 1

    def products() -> Iterator[Product]:
        yield product
        assert refresh_index(now()) >= 1
        assert count_documents(reader) == 2

    build_index(products())
    assert find_folder() != former
    # What has changed during the build is not in the new index, whose position is the begin of the build.
    assert must_update_index(now())
    refresh_index(now())
    assert count_documents(reader) == 2


def segment_file(kind: str) -> Path:
    return next(find_folder().glob(f"*.{kind}"))


def rewrite(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Change a file under a new inode: whoever has it open goes on with the former one."""
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(change(content))


def cut(name: str) -> None:
    rewrite(find_folder() / name, lambda content: content[: len(content) // 2])


def garble(kind: str) -> None:
    rewrite(segment_file(kind), lambda content: bytes([content[0] ^ 1]) + content[1:])


DAMAGES: list[tuple[str, Callable[[], None]]] = [
    ("meta.json is damaged", lambda: cut("meta.json")),
    ("meta.json is damaged", lambda: rewrite(find_folder() / "meta.json", lambda _: b"[]")),
    ("meta.json is missing", lambda: (find_folder() / "meta.json").unlink()),
    ("position is damaged", lambda: cut("position")),
    ("done is damaged", lambda: rewrite(find_folder() / "done", lambda _: b"{")),
    ("vocabulary is missing", lambda: (find_folder() / "vocabulary").unlink()),
    (".store is missing", lambda: segment_file("store").unlink()),
    (".idx is damaged", lambda: garble("idx")),
    (".fast is damaged", lambda: cut(segment_file("fast").name)),
    (".term is damaged", lambda: rewrite(segment_file("term"), lambda _: b"")),
    ("position is missing", lambda: note(next(index_home().glob("current-*")), "gone")),
]


def test_x306_a_damaged_index_is_noticed_and_built_anew_beside_the_old_one(
    own: set[UUID], subtests: pytest.Subtests
) -> None:
    own.clear()
    for damage, do_damage in DAMAGES:
        with subtests.test(damage):
            _is_built_anew(damage, do_damage)


def _is_built_anew(damage: str, do_damage: Callable[[], None]) -> None:
    build_index()
    reader, former = IndexReader(), find_folder()
    assert count_documents(reader) == 1
    assert not must_update_index(now())
    do_damage()
    if (former / "meta.json").exists():
        os.utime(former / "meta.json")
    # A process that has it open goes on; another one does without.
    assert count_documents(reader) == 1
    with pytest.raises(SearchIndexMissing):
        IndexReader().searcher()
    assert must_update_index(now())
    did = jobs.update_search_index(now())
    assert damage in did
    assert did.endswith("Built a new index of 1 products")
    assert find_folder() != former
    assert not must_update_index(now())
    assert [count_documents(each) for each in (reader, IndexReader())] == [1, 1]


def test_x306_a_reader_logs_a_damage_once(caplog: pytest.LogCaptureFixture) -> None:
    reader = IndexReader()
    reader.searcher()
    cut("meta.json")
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            reader.searcher()
    (line,) = [record.getMessage() for record in caplog.records]
    assert "meta.json is damaged" in line


def test_x303_a_price_that_begins_by_itself_is_found_in_its_minute_and_indexed_before_the_lists(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    minute = datetime(2001, 1, 1, tzinfo=UTC) + (uuid4().int % 10**6) * MINUTE
    assert not jobs.has_scheduled(minute)
    schedule_moments(product.product_id, [minute])
    assert jobs.has_scheduled(minute + SECOND)
    began, recorded = now(), list[UUID]()

    def follow(minute: datetime, product_id: UUID) -> None:
        recorded.extend(operations.list_changed_products(began, now()))

    monkeypatch.setattr(operations, "follow_schedule", follow)
    due = [(minute, product.product_id)]
    monkeypatch.setattr(operations, "list_scheduled_products", lambda *_: due)
    with hold_lease(jobs.SCHEDULE):
        jobs.follow_schedule(now())
    assert product.product_id in recorded
