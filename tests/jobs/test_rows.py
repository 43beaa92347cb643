"""A row that always raises: every job finishes its other rows, reports the failed one and finds it again.

The function that handles a row is replaced by one that raises for the first row, or the first row's product is made one that
cannot be read. The row's note, its postponement and the job's position are the real ones. What other tests have left is kept
out: each job lists this test's rows only.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest

from adminpanel.stock.pages import read_listed
from cassandra_db import CassandraUnavailable
from catalogue import bulk_changes
from catalogue import operations as catalogue
from catalogue import queries as catalogue_queries
from catalogue.bulk_acts import BulkAct
from catalogue.search_index import build_index
from catalogue.staff_search import find_products_for_staff
from inventory.entities import ListedItem
from inventory.products_with_stock import get_products_with_stock
from jobs.due_rows import KEEP_FOR, Sweep
from jobs.leases import get_lease, hold_lease, save_position
from jobs.minutes import MINUTE
from jobs.progress import JobProgress
from jobs.registry import Job, list_jobs
from jobs.rows import (
    FIRST_RETRY_DELAY,
    MAX_REMEMBERED,
    MAX_UNAVAILABLE_IN_SUCCESSION,
    FailedRow,
    collect_failed_rows,
    dump_failed_rows,
    get_retry_delay,
    guard_row,
    parse_failed_rows,
)
from jobs.worker import Worker
from orders.jobs import count_due_user_stats
from orders.operations.user_stats import DUE_USER_STATS
from questions.jobs import sweep_questions
from questions.operations import PENDING_TEXTS
from storefront.recently_viewed import list_viewed_products
from tests.factories import make_product, unreadable_product
from tests.jobs.row_jobs import (
    MINUTE_NOW,
    NOW,
    OTHER_JOBS,
    ROW_JOBS,
    Patch,
    RowJob,
    make_questions,
    make_stored,
    make_sums,
)


def list_jobs_by_name() -> dict[str, Job]:
    """The first shard of each job, by its name without the host's."""
    host = f" of {socket.gethostname()}"
    return {job.family or job.name.partition(host)[0]: job for job in reversed(list_jobs())}


def test_s110_every_job_is_tried_with_a_row_that_fails_or_says_why_not() -> None:
    """A new job: give it a row in ROW_JOBS, or say in OTHER_JOBS why none of its rows can hold up the others."""
    names = set(list_jobs_by_name())
    tried = {name for name, _ in ROW_JOBS}
    assert tried | OTHER_JOBS.keys() == names
    assert not tried & OTHER_JOBS.keys()
    assert len(tried) >= 28


def test_s110_a_row_that_always_raises_stops_no_other_and_is_found_again(
    subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture, settings: Any, tmp_path: Path
) -> None:
    jobs = list_jobs_by_name()
    settings.DEBUG = True  # for the test bank's job
    for number, (name, row_job) in enumerate(ROW_JOBS):
        settings.SEARCH_INDEX_DIR = tmp_path / str(number)
        caplog.clear()
        with (
            subtests.test(job=name, handler=row_job.handler),
            pytest.MonkeyPatch.context() as patch,
        ):
            run_with_failing_row(jobs[name], row_job, patch, caplog)


def run_with_failing_row(
    job: Job, row_job: RowJob, patch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    rows, handled = row_job.make(patch), []
    failing = rows[0]

    def handle(*args: Any, **_: Any) -> Any:
        row = row_job.row(*args)
        handled.append(row)
        if row == failing and not row_job.unreadable:
            raise ArithmeticError("this row always fails")
        return row_job.returns

    patch.setattr(row_job.handler, handle)
    breaking = unreadable_product(failing) if row_job.unreadable else nullcontext()
    with breaking, hold_lease(job.name), collect_failed_rows():
        if row_job.position:
            save_position(job.name, row_job.position.isoformat())
        job.run(datetime.now(UTC) + row_job.after)
    assert [each for each in rows if each not in handled] == rows[: row_job.unreadable]
    error = "JSONDecodeError" if row_job.unreadable else "this row always fails"
    assert any(error in str(each.exc_info) for each in caplog.records)
    if row_job.find:
        found = row_job.find()
        assert failing in found or True in found
        assert not any(each in found for each in rows[1:])


def test_s110_a_list_on_a_page_shows_the_products_that_can_be_read(
    settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SEARCH_INDEX_DIR = tmp_path
    word = f"Zq{uuid4().hex}"
    broken, whole = products = [make_product(f"{word} {n}") for n in range(2)]
    product_ids = [each.product_id for each in products]
    build_index(products)
    for product in products:
        catalogue.refresh_prefixes(product)
    items = [
        ListedItem("berlin", each.variants[0].sku, each.product_id, each.variants[0].variant_id)
        for each in products
    ]
    act = BulkAct("featured", featured=True)
    with unreadable_product(broken.product_id):
        shown: dict[str, list[Any]] = {
            "search without index": catalogue_queries.list_cards_by_prefix(word),
            "staff's products": list(find_products_for_staff(word).products),
            "recently viewed": list_viewed_products(product_ids),
            "stock": [each.product for each in read_listed(items, {})],
            "preview": [each.before for each in bulk_changes.preview_act(act, product_ids, NOW)],
        }
        # What takes a missing product for one that is gone is told.
        with pytest.raises(ValueError, match="Expecting value"):
            catalogue_queries.get_products_at_quorum(product_ids)
    assert {
        name: [each.name for each in found]
        for name, found in shown.items()
        if [each.name for each in found] != [whole.name]
    } == {}
    assert sum("left out of a page" in each.message for each in caplog.records) == len(shown)


def test_s110_a_read_that_fails_is_no_product_that_cannot_be_read(monkeypatch: Patch) -> None:
    """A scan whose page is not answered is not over, and a product that is not answered is not gone."""
    found = make_stored(monkeypatch)
    stored = list(catalogue_queries.PRODUCTS.iterate_table())

    def iterate_some() -> Iterator[Any]:
        yield from stored[:-1]
        raise CassandraUnavailable("the last page")

    monkeypatch.setattr(
        "catalogue.queries.products.PRODUCTS", SimpleNamespace(iterate_table=iterate_some)
    )
    with collect_failed_rows() as failed:
        with pytest.raises(CassandraUnavailable):
            list(catalogue_queries.iterate_products())
        unanswered = SimpleNamespace(start=lambda **_: NotAnswered())
        monkeypatch.setattr("catalogue.queries.products.PRODUCT_NOW", unanswered)
        for read in (catalogue_queries.get_products_at_quorum, get_products_with_stock):
            with pytest.raises(CassandraUnavailable):
                read(found, catalogue_queries.guard_product)
    assert not failed.failures


class NotAnswered:
    def rows(self) -> list[Any]:
        raise CassandraUnavailable("not answered")


def test_s110_a_pinned_product_that_cannot_be_read_stays_pinned() -> None:
    pinned = make_product(f"Zq{uuid4().hex}", listed=True)
    product = make_product(f"Zq{uuid4().hex}", listed=True)
    product = catalogue.save_product(
        replace(product, related_ids=(pinned.product_id,)), datetime.now(UTC)
    )
    catalogue.refresh_related(product)
    present = [each.card for each in catalogue.list_related_with_pins(product.product_id)]
    assert [each.product_id for each in present] == [pinned.product_id]
    other = make_product(f"Zq{uuid4().hex}", listed=True)
    product = catalogue.save_product(
        replace(product, related_ids=(other.product_id, pinned.product_id)), datetime.now(UTC)
    )
    with (
        unreadable_product(pinned.product_id),
        collect_failed_rows(),
        pytest.raises(ValueError, match="Expecting value"),
    ):
        catalogue.refresh_related(product)
    assert [each.card for each in catalogue.list_related_with_pins(product.product_id)] == present


def test_s110_a_run_with_a_failed_row_is_reported_and_not_late() -> None:
    def run(now: datetime) -> str:
        for row in ("one", "two"):
            with guard_row(row):
                if row == "one":
                    raise KeyError("broken")
        return "1 done"

    job = Job(f"test-{uuid4()}", timedelta(minutes=5), run)
    worker = Worker([job])
    worker.run_due_jobs()
    worker.run_due_jobs()
    lease = get_lease(job.name)
    assert lease.failure == "1 rows failed, first one: KeyError: 'broken'"
    assert (lease.result, worker.tally.run_count, worker.tally.failure_count) == ("1 done", 1, 1)
    assert lease.last_run
    assert lease.last_run == lease.result_at
    (row,) = lease.failed_rows
    assert (row.name, row.error, row.count) == ("one", "KeyError: 'broken'", 1)
    assert JobProgress(job, lease, row.retry_at).problem == "failed"


def test_s110_while_cassandra_is_away_a_run_does_not_go_through_all_rows() -> None:
    tried: list[int] = []

    def go_through(fails: Callable[[int], bool]) -> None:
        for row in range(100):
            with guard_row(row):
                tried.append(row)
                if fails(row):
                    raise CassandraUnavailable("away")

    with collect_failed_rows(), pytest.raises(CassandraUnavailable):
        go_through(lambda _: True)
    assert len(tried) == MAX_UNAVAILABLE_IN_SUCCESSION
    with collect_failed_rows() as failed:
        go_through(lambda row: row % 2 == 1)
    assert len(failed.failures) == 50

    # Another error shows that the database has answered.
    def fails_otherwise(row: int) -> bool:
        if row % 2:
            raise KeyError(row)
        return True

    with collect_failed_rows() as failed:
        go_through(fails_otherwise)
    assert len(failed.failures) == 100
    # Outside a worker's run the caller gets the error.
    with pytest.raises(CassandraUnavailable):
        go_through(lambda row: row == 1)


def test_s110_a_row_that_always_fails_waits_longer_each_time_and_is_shown_with_its_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sweep of questions, run whenever the failing row is due: after 5, 10, 20 … minutes, and 6 hours at most."""
    failing, *_ = make_questions(monkeypatch)

    def follow(*key: UUID) -> None:
        if key == failing:
            raise ArithmeticError("this row always fails")

    monkeypatch.setattr("questions.jobs.follow_text", follow)
    now = datetime.now(UTC) + 3 * MINUTE
    delays: list[timedelta] = []
    remembered: tuple[FailedRow, ...] = ()
    with hold_lease(PENDING_TEXTS.job):
        for _ in range(9):
            with collect_failed_rows(remembered) as failed:
                sweep_questions(now)
            (row,) = remembered = failed.list_remembered(NOW)
            delays.append(row.delay)
            # Before its time the row is left alone.
            with collect_failed_rows(remembered) as failed:
                sweep_questions(now)
            assert failed.failures == []
            now += row.delay + 3 * MINUTE
        save_position(PENDING_TEXTS.job, NOW.isoformat())  # no test later on waits for tomorrow
    assert [each // MINUTE for each in delays] == [5, 10, 20, 40, 80, 160, 320, 360, 360]
    assert (row.count, row.error) == (9, "ArithmeticError: this row always fails")
    assert str(failing[0]) in row.name
    assert parse_failed_rows(dump_failed_rows(remembered)) == remembered


def test_s110_rows_beyond_those_that_are_remembered_wait_as_long_as_these() -> None:
    remembered: tuple[FailedRow, ...] = ()
    for count in (1, 2, 3):
        with collect_failed_rows(remembered) as failed:
            for number in range(2 * MAX_REMEMBERED):
                with guard_row(number):
                    raise KeyError(number)
            assert {get_retry_delay(number) for number in range(2 * MAX_REMEMBERED)} == {
                FIRST_RETRY_DELAY * 2 ** (count - 1)
            }
            remembered = failed.list_remembered(NOW)
        assert len(remembered) == MAX_REMEMBERED
    # A row that succeeds is forgotten; the others are, when they were not met again.
    with collect_failed_rows(remembered) as failed, guard_row(int(remembered[0].name)):
        pass
    assert len(failed.list_remembered(NOW)) == MAX_REMEMBERED - 1
    assert failed.list_remembered(NOW + timedelta(days=1)) == ()


def test_s110_a_row_that_cassandra_cannot_answer_for_stays_until_it_holds_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, *_ = rows = make_sums(monkeypatch)
    table = DUE_USER_STATS

    def count(user_id: UUID) -> None:
        if user_id == first:
            raise CassandraUnavailable("no majority answers")

    monkeypatch.setattr("orders.operations.count_user_stats", count)
    with collect_failed_rows() as failed:
        # Both runs are so late that only a kept row makes the next run read its partition again.
        for age, is_kept in ((KEEP_FOR / 2, True), (2 * KEEP_FOR, False)):
            minutes = table.list_partitions(NOW - 4 * MINUTE, NOW)
            sweep = Sweep(table, minutes, NOW - 4 * MINUTE + age)
            count_due_user_stats(sweep)
            assert (sweep.reached <= minutes[0]) == is_kept
            left = {row.user_id for row in table.list_rows(minutes)}
            assert (first in left) == is_kept
            assert not left & {*rows[1:]}
    assert failed.list_remembered(NOW) == ()


def test_s110_clearing_a_row_spares_one_that_was_noted_since() -> None:
    user_id, minute = uuid4(), MINUTE_NOW - 30 * MINUTE
    DUE_USER_STATS.note(minute, user_id=user_id)
    (row,) = (each for each in DUE_USER_STATS.list_rows([minute]) if each.user_id == user_id)
    sweep = Sweep(DUE_USER_STATS, [minute], NOW)
    with sweep.handle([row], user_id):
        DUE_USER_STATS.note(minute, user_id=user_id)
    assert user_id in {each.user_id for each in DUE_USER_STATS.list_rows([minute])}
    with sweep.handle(DUE_USER_STATS.list_rows([minute]), user_id):
        pass
    assert not DUE_USER_STATS.list_rows([minute])


def test_s80_a_run_with_much_to_do_leaves_the_rest_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, counted = make_sums(monkeypatch), list[UUID]()
    monkeypatch.setattr("orders.operations.count_user_stats", counted.append)
    minutes = DUE_USER_STATS.list_partitions(NOW - 4 * MINUTE, NOW)
    for done in range(1, len(rows) + 1):
        # Late enough that only the rows that are left make the next run read their partition again.
        sweep = Sweep(DUE_USER_STATS, minutes, NOW + KEEP_FOR, ends=0.0)
        count_due_user_stats(sweep)
        assert len(counted) == done
        assert (sweep.reached <= minutes[-1]) == (done < len(rows))
    assert sorted(counted) == sorted(rows)
