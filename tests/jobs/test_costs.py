"""What orders and expired reservations cost the worker, in statements: counts, for times mean nothing on a busy machine."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine

from analytics import queries as sales
from analytics.days import shop_today
from benchmarks.guest_checkout import GuestCheckout
from cassandra_db import Row, Statement, count_statements
from catalogue.entities import Product
from inventory.entities import WantedLine
from inventory.operations import RESERVATION_DURATION, record_reservation_expiries, reserve_stock
from inventory.operations.reservations import DUE_EXPIRIES
from inventory.queries import RESERVATION_EXPIRIES, get_stock_numbers
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE, minutes_between
from jobs.registry import Job, list_jobs
from jobs.worker import Worker
from mail import queries as mails
from orders import jobs as order_jobs
from orders.operations.pending_effects import DUE_EFFECTS
from orders.queries import PENDING_EFFECTS
from shop_settings.queries import SETTINGS
from tests.clock import now
from tests.factories import make_stocked_product
from tests.shards import ItemsShard

# The jobs for which a guest's order leaves work, and the time after which none is left.
FAMILIES = ("orders", "holds", "mail", "sales", "book sums")
SPAN, STEP = timedelta(minutes=15), timedelta(seconds=15)
ORDERS, MAX_STATEMENTS = 3, 60
# The reads that tell a job whether there is work, which an idle shop's worker makes, too; and that of settings every five seconds.
POLLS = (PENDING_EFFECTS, RESERVATION_EXPIRIES, mails.OUTBOX_ENTRIES, sales.CHANGED, SETTINGS)


@pytest.fixture
def only_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker have leases of its own, begin at the present, and find nothing that other tests have left."""
    bind, suffix, there = Statement.bind, f" {uuid4()}", set[UUID]()
    list_rows, list_changed_days = DueRows.list_rows, sales.list_changed_days
    list_entries = mails.list_outbox_entries

    def bind_own(statement: Statement, **params: Any) -> Any:
        if statement.question == "lease":
            params["job"] += suffix
        return bind(statement, **params)

    def list_newer(table: DueRows, partitions: Any) -> list[Row]:
        rows = list_rows(table, partitions)
        if table.job == "book sums":
            return [row for row in rows if row.day.date() == shop_today()]
        return [row for row in rows if row.order_id not in there]

    there |= {
        each.mail_id for each in list_entries(minutes_between(now() - SPAN, now() + SPAN), 99)
    }
    for table in (DUE_EFFECTS, DUE_EXPIRIES):
        there |= {row.order_id for row in table.list_between(now() - SPAN, now() + SPAN)}
    monkeypatch.setattr(Statement, "bind", bind_own)
    monkeypatch.setattr(DueRows, "list_rows", list_newer)
    monkeypatch.setattr(
        mails,
        "list_outbox_entries",
        lambda *args: [each for each in list_entries(*args) if each.mail_id not in there],
    )
    monkeypatch.setattr(
        sales,
        "list_changed_days",
        lambda: [each for each in list_changed_days() if each[0] == shop_today()],
    )
    for module in ("jobs.due_rows", "mail.operations"):
        monkeypatch.setattr(f"{module}.FIRST_LOOK_BACK", timedelta(0))


def test_an_order_costs_the_worker_sixty_statements(
    mug: Product, only_newer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls, start = Counter[Statement](), Statement.start

    def start_counted(statement: Statement, **params: Any) -> Any:
        polls[statement] += statement in POLLS
        return start(statement, **params)

    monkeypatch.setattr(Statement, "start", start_counted)
    costs: list[tuple[str, str, int]] = []

    def measured(job: Job) -> Job:
        def run(at: datetime) -> str:
            polls.clear()
            with count_statements() as meter:
                did = job.run(at)
            # With the read, the claim, the position and the release of its lease.
            costs.append((job.name, did, meter.statement_count - polls.total() + 4))
            return did

        return replace(job, run=run)

    jobs = [measured(job) for job in list_jobs() if (job.family or job.name) in FAMILIES]
    worker = Worker(jobs)
    worker.run_due_jobs()
    for _ in range(ORDERS):
        guest = GuestCheckout()
        guest.add(mug.product_id, mug.variants[0].sku)
        for _ in guest.buy():
            pass
    costs.clear()
    begins = now()
    with time_machine.travel(begins, tick=True) as traveller:
        for step in range(SPAN // STEP + 1):
            traveller.move_to(begins + step * STEP)
            worker.run_due_jobs()
    found = [cost for cost in costs if cost[1]]
    for cost in found:
        print(*cost)
    assert {re.sub(r" \d of \d$", "", name) for name, _, _ in found} == set(FAMILIES)
    assert sum(count for *_, count in found) <= MAX_STATEMENTS * ORDERS


def test_reservations_that_expire_together_cost_three_statements_each() -> None:
    count = 40
    product = make_stocked_product(count)
    variant_id, began = product.variants[0].variant_id, now()
    wanted = [WantedLine(1, product.product_id, variant_id, 1)]
    orders = [uuid4() for _ in range(count)]
    for order_id in orders[::2]:
        (allocation,) = reserve_stock(order_id, wanted, began)
    # A reservation that was refused has an expiry, too.
    for order_id in orders[1::2]:
        refused = replace(allocation, reservation_id=uuid4(), order_id=order_id)
        record_reservation_expiries(order_id, [refused], began + RESERVATION_DURATION)
    minutes = minutes_between(began, began + RESERVATION_DURATION + MINUTE)
    shard = ItemsShard("holds", item_ids=frozenset(orders))
    with count_statements() as meter:
        assert order_jobs.expire_reservations(minutes, began + SPAN, shard) == set()
    assert get_stock_numbers(variant_id, allocation.warehouse_id).available == count
    print(meter)
    assert meter.statement_count <= 3 * count
