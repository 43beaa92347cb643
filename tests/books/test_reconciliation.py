"""Orders are compared with the books and their gateways (X522)."""

from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.test import Client
from moneyed import EUR, Money

from adminpanel.books.pages import get_books_page
from analytics.days import SHARDS, order_shard, shop_day, shop_today
from books import queries
from books.entities import FEE
from books.operations import roll_up_day
from cassandra_db import count_statements
from demo.testbank.gateway import FEE_PER_MILLE
from jobs.leases import hold_lease
from jobs.rows import collect_failed_rows
from orders import jobs, operations, reconciliation
from orders.lifecycle.entities import Order
from orders.operations.books import record_order_books
from orders.queries import list_items, load_payment_references
from payments.errors import GatewayUnavailable
from pricing.money import to_minor_units
from tests.books.files import BOOKS, read_csv
from tests.clock import now
from tests.consistency.test_check_consistency import cql
from tests.factories import make_order, make_user, sign_in_staff


@pytest.fixture
def analyst() -> Client:
    return sign_in_staff(Client(), make_user("Cleo", role="analyst"))


def test_x522_fees_and_differences_come_from_the_gateway(analyst: Client) -> None:
    at = datetime(1977, 3, 4, 12, tzinfo=UTC)
    order = make_order(paid=True, now=at, price="50.00")
    day = shop_day(at)

    def reconcile() -> int:
        return reconciliation.reconcile_shard(day, order_shard(order.order_id), now())

    with count_statements() as meter:
        assert reconcile() == 1
    # Of these, two days of entries and twelve months of differences are read for a whole shard.
    assert meter.statement_count <= 14 + 10, meter
    reconcile()
    fee = to_minor_units(order.total) * FEE_PER_MILLE // 1000
    fees = [each for each in queries.list_day_entries(day) if each.kind == FEE]
    assert [(each.order_id, each.gross) for each in fees] == [(order.order_id, fee)]
    roll_up_day(day)
    page = get_books_page(day)
    (line,) = page.payments
    assert (line.received, line.fees) == (to_minor_units(order.total), fee)
    balance = line.amounts[3]
    assert balance
    assert to_minor_units(balance) == to_minor_units(order.total) - fee
    assert page.differences == ()
    # The bank has more than the order knows of.
    attempt = load_payment_references(order).payment_attempts[0]
    more = to_minor_units(order.total) + 700
    cql(
        "UPDATE testbank_payments SET captured = %s WHERE payment_id = %s", more, attempt.payment_id
    )
    reconcile()
    (difference,) = get_books_page(day).differences
    assert difference.number == order.number
    assert (difference.in_order, difference.at_gateway) == (more - 700, more)
    (row,) = read_csv(analyst, month="1977-03", format="differences")
    assert (row["Order"], Decimal(row["At the gateway"])) == (order.number, Decimal(more) / 100)
    assert order.number in analyst.get(BOOKS, {"month": "1977-03"}).content.decode()
    # Its fee was corrected, but no money of the order moved; with a refund the rest of the fee is booked.
    later = at + timedelta(hours=1)
    order = operations.decide_refund(order, Money(5, EUR), {}, "late", actor="staff", now=later)
    reconcile()
    booked = queries.list_order_entries(order.order_id, [day])
    assert sum(e.gross for e in booked if e.kind == FEE) == more * FEE_PER_MILLE // 1000
    # Settled, it goes on any later day.
    cql(
        "UPDATE testbank_payments SET captured = %s WHERE payment_id = %s",
        more - 700,
        attempt.payment_id,
    )
    shard = order_shard(order.order_id)
    reconciliation.reconcile_shard(day + timedelta(days=300), shard, now())
    assert get_books_page(day).differences == ()
    # The second comparison finds money that staff move at the gateway later, and a payment that the gateway does not know.
    for statement, left in (
        ("UPDATE testbank_payments SET refunded = 900 WHERE payment_id = %s", more - 700 - 900),
        ("DELETE FROM testbank_payments WHERE payment_id = %s", 0),
    ):
        cql(statement, attempt.payment_id)
        reconciliation.reconcile_shard(day + reconciliation.AGAIN_AFTER, shard, now())
        (difference,) = get_books_page(day).differences
        assert difference.at_gateway == left


def test_x522_a_gateway_that_is_away_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RECONCILIATION", f"reconciliation {uuid4()}")
    asked: list[tuple[date, int]] = []

    def reconcile(day: date, shard: int, at: datetime) -> int:
        asked.append((day, shard))
        if len(asked) == 3:
            raise GatewayUnavailable
        return 1

    monkeypatch.setattr(jobs, "reconcile_shard", reconcile)
    with hold_lease(jobs.RECONCILIATION):
        with pytest.raises(GatewayUnavailable):
            jobs.reconcile_orders(now())
        assert jobs.reconcile_orders(now()) == f"{SHARDS - 2} orders reconciled"
    yesterday = shop_today() - timedelta(days=1)
    shards = [*range(3), *range(2, SHARDS)]
    assert asked == [(yesterday, shard) for shard in shards]


@pytest.mark.parametrize("away", [2, 3])
def test_x522_an_order_that_no_gateway_answers_for_is_listed_and_three_end_the_run(
    monkeypatch: pytest.MonkeyPatch, away: int
) -> None:
    at = datetime(1977, 6 + away, 8, 12, tzinfo=UTC)
    orders = [make_order(paid=True, now=at) for _ in range(4)]
    orders.sort(key=lambda order: order.order_id)
    compared: list[UUID] = []

    def compare(order: Order, *_: object) -> None:
        compared.append(order.order_id)
        if len(compared) <= away:
            raise GatewayUnavailable

    # All in one shard, and none of the differences that other tests have left.
    monkeypatch.setattr(reconciliation, "order_shard", lambda _: 1)
    monkeypatch.setattr("books.operations.order_shard", lambda _: 0)
    monkeypatch.setattr("books.queries.order_shard", lambda _: 0)
    for order in orders:
        record_order_books(order, list_items(order))
    monkeypatch.setattr(reconciliation, "reconcile_order", compare)
    with (
        collect_failed_rows() as failed,
        pytest.raises(GatewayUnavailable) if away == 3 else nullcontext(),
    ):
        assert reconciliation.reconcile_shard(shop_day(at), 0, now()) == 4
    assert compared == [order.order_id for order in orders][: 4 if away == 2 else 3]
    assert len(failed.failures) == 2
    listed = [each.order_id for each in get_books_page(shop_day(at)).differences]
    assert sorted(listed) == compared[:2]
