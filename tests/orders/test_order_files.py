"""Files of orders: their columns, their memory, and a process that dies at any write of them."""

import csv
import gc
import io
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time
from django.core.files.storage import default_storage
from pypdf import PdfReader

from orders import operations as orders
from orders.board import OrderFilter
from orders.lifecycle.entities import Order
from orders.papers.order_files import ORDER_FILES
from spreadsheets import jobs, operations, queries
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations.exports import OUTGOING
from tests.factories import make_draft, make_order, make_payment, make_product
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.spreadsheets.files import go_on, stored


def start(
    kind: str, chosen: list[UUID] | OrderFilter, now: datetime | None = None
) -> SpreadsheetTask:
    now = now or datetime.now(UTC)
    return operations.start_order_file(uuid_from_time(now), ORDER_FILES[kind], chosen, uuid4(), now)


def content(task: SpreadsheetTask) -> bytes:
    assert task.state == "written", task.problem
    return b"".join(operations.iterate_export(task))


def table(task: SpreadsheetTask) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(task).decode("utf-8-sig"), newline="")))


def make_named(name: str) -> Order:
    product = make_product("Mug", price="12.00", stock=9)
    draft = make_draft((product, 2))
    address = replace(draft.delivery_address, name=name)
    draft = replace(draft, delivery_address=address, billing_address=address)
    return make_payment(orders.place_order(draft, datetime.now(UTC)))


def test_x177_a_table_has_a_line_for_each_order_or_each_line_and_no_formula() -> None:
    order = make_named("=HYPERLINK(1)")
    other = make_order(quantity=3)
    ids = [order.order_id, uuid4(), other.order_id]
    first, second = table(go_on(start("orders", ids)))
    assert (first["number"], second["number"]) == (order.number, other.number)
    assert first["name"] == "'=HYPERLINK(1)"
    assert first["total"] == f"{order.total.amount:.2f}"
    assert (first["currency"], first["country"], first["status"]) == ("EUR", "DE", "confirmed")
    assert "10115 Berlin" in first["delivery_address"]
    lines = table(go_on(start("order-lines", ids)))
    assert [(each["number"], each["units"], each["unit_price"]) for each in lines] == [
        (order.number, "2", "12.00"),
        (other.number, "3", "12.00"),
    ]


def test_x177_a_table_of_many_orders_needs_the_memory_of_some() -> None:
    ids = [make_order().order_id for _ in range(2)]
    peaks = []
    for count in (100, 300):
        # The same orders again and again: what is read and written is as much as of others.
        task = start("orders", [ids[n % 2] for n in range(count)])
        tracemalloc.start()
        while task.is_under_way:
            # What the driver has done with lies about in circles until it is collected; it is no more for more orders.
            gc.collect()
            operations.run_task(task, 100)
            task = stored(task)
        length = sum(map(len, operations.iterate_export(task)))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert length > count * 200
    assert peaks[1] < peaks[0] * 1.3, peaks


def test_x177_a_filter_finds_its_orders_once_and_each_run_goes_on_in_the_same_list() -> None:
    # A day that no other test has.
    now = datetime(2060, 1, 1, 12, tzinfo=UTC) + timedelta(days=uuid4().int % 9000)
    placed = [make_order(now=now + timedelta(minutes=n)) for n in range(2)]
    chosen = OrderFilter(status="to_pay", country="DE", first_day=now.date(), last_day=now.date())
    task = start("orders", chosen)
    operations.run_task(task, 100)
    assert stored(task).total == 2, "their ids stand in place of the filter"
    operations.run_task(task, 100)  # as another worker does that has read it before
    assert [each["number"] for each in table(go_on(task))] == [each.number for each in placed]
    nothing = go_on(start("orders", replace(chosen, country="FI")))
    assert nothing.state == "refused"
    assert nothing.problem


def test_x176_s96_a_paper_that_is_killed_at_any_write_is_made_once_and_encrypted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queries, "BUCKET_LENGTH", 2)
    order = make_named("Zoë Quillfeather")
    now = datetime.now(UTC)
    ids = [order.order_id] * 3

    def make(at: datetime) -> None:
        go_on(start("slips", ids, at))

    targets = [
        each
        for each in first_and_last_writes(record_writes(lambda: make(now)))
        if "spreadsheet" in each.tables
    ]
    assert len(targets) >= 3
    for number, target in enumerate(targets):
        at = now + timedelta(milliseconds=number + 1)
        assert kill_at_write(target, lambda at=at: make(at))  # type: ignore[misc]
        task = go_on(start("slips", ids, at))
        assert len(PdfReader(io.BytesIO(content(task))).pages) >= 1
    folder = f"{OUTGOING}/{task.task_id.hex}"
    names = default_storage.listdir(folder)[1]
    assert len(names) == 3, "two parts and what was drawn of them"
    for name in names:
        with default_storage.open(f"{folder}/{name}") as file:
            raw = file.read()
        assert b"Quillfeather" not in raw
        assert not raw.startswith(b"%PDF")
    # After an hour it cannot be fetched, and then nothing of it is there.
    later = datetime.now(UTC) + timedelta(hours=1, minutes=1)
    jobs.remove_old_exports(later)
    assert stored(task).state == "expired"
    jobs.remove_old_exports(later)
    assert default_storage.listdir(folder)[1] == [] if default_storage.exists(folder) else True
    assert task.task_id not in queries.list_unfinished([task.key["month"]])  # type: ignore[list-item]
