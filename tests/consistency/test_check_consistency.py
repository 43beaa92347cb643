"""The consistency check: each invariant is broken by hand, behind the shop's back, and the check names it, and fixes what it promises to."""

import threading
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command

from accounts.models import User
from analytics.days import order_shard
from analytics.figures import SoldLine
from analytics.operations import DAY_DONE, Sale, record_sale, roll_up_day
from analytics.queries import SHOP, list_changed_days, list_order_facts
from cassandra_db import CassandraUnavailable, meter
from cassandra_db.session import get_session
from consistency import runner
from consistency.findings import Report, Scope
from consistency.management.commands import check_consistency as command
from consistency.runner import check_consistency
from consistency.sales import _iterate_days
from inventory.operations.ledger import LedgerSource, write_ledger_entries
from inventory.queries import get_stock_numbers
from jobs.minutes import floor_to_minute
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import apply_effects, place_order, transition_order
from orders.operations.copies import copy_timestamp
from orders.operations.pending_effects import clear_pending_effects
from orders.operations.transitions import append_event
from promotions.operations import release_voucher
from promotions.queries import CODE, get_promotion
from promotions.rules import code_key
from tests.environment import KEYSPACE
from tests.factories import make_draft, make_order, make_product, make_stock, make_user
from tests.orders.reads import fresh
from tests.orders.test_changes import pack_parcel, place_paid_order, sent
from tests.promotions.test_vouchers import make_voucher

QUICK = (0.0, 0.0)  # looked at again, at once: no other process works on these things meanwhile


def cql(statement: str, *values: object) -> None:
    """Write behind the shop's back."""
    words = statement.replace("FROM ", f"FROM {KEYSPACE}.").replace("INTO ", f"INTO {KEYSPACE}.")
    get_session().execute(words.replace("UPDATE ", f"UPDATE {KEYSPACE}."), values)


def of(*orders: Order) -> Scope:
    variants = {item.variant_id for order in orders for item in queries.list_items(order)}
    return Scope(frozenset(order.order_id for order in orders), frozenset(variants))


def found(only: Scope, *rules: str) -> list[str]:
    report = check_consistency(
        only, rules or runner.RULES, recheck_after=QUICK, grace_period=timedelta(0)
    )
    return [str(violation) for violation in report.violations]


def repair(only: Scope, *rules: str) -> Report:
    report = check_consistency(
        only, rules or runner.RULES, repair=True, recheck_after=QUICK, grace_period=timedelta(0)
    )
    assert found(only, *rules) == [str(violation) for violation in report.violations]
    return report


def without_effects(order: Order, kind: str, **more: object) -> Order:
    """What is left when a process dies after an event, and its pending effects are lost, too."""
    changed, pending_effects = append_event(
        order,
        Transition(kind, actor="system", at=datetime.now(UTC), **more),  # type: ignore[arg-type]
    )
    clear_pending_effects(pending_effects)
    return changed


def stock_item_of(order: Order) -> tuple[UUID, str, UUID]:
    (each,) = order.list_allocations(queries.list_items(order))
    return each.variant_id, each.warehouse_id, each.reservation_id


def test_an_order_as_it_should_be_breaks_nothing() -> None:
    orders = [make_order(paid=paid, quantity=2, user_id=uuid4()) for paid in (False, True)]
    report = check_consistency(of(*orders), recheck_after=QUICK, grace_period=timedelta(0))
    assert [str(violation) for violation in report.violations] == []
    assert report.checked_counts["orders"] == 2


# ---- I1


def test_i1_numbers_that_do_not_add_up_are_named_and_made_anew_from_ledger_and_reservations() -> (
    None
):
    order = make_order(stock=20, quantity=2)
    variant_id, warehouse_id, _ = stock_item_of(order)
    cql(
        "UPDATE inventory SET available = 25 WHERE variant_id = %s AND warehouse_id = %s",
        variant_id,
        warehouse_id,
    )
    named = found(of(order), "I1")
    assert any(
        f"I1 variant {variant_id} in {warehouse_id}: what was received is not where" in each
        for each in named
    )
    assert repair(of(order)).is_clean
    assert get_stock_numbers(variant_id, warehouse_id).available == 18


def test_i1_less_than_nothing_is_named_though_it_adds_up() -> None:
    order = make_order(stock=5)
    variant_id, warehouse_id, _ = stock_item_of(order)
    cql(
        "UPDATE inventory SET available = -3, shipped = 7 WHERE variant_id = %s AND warehouse_id = %s",
        variant_id,
        warehouse_id,
    )
    assert any("there is less than nothing available" in each for each in found(of(order), "I1"))
    assert repair(of(order)).is_clean


# ---- I2


def test_i2_units_that_are_gone_from_a_paid_order_are_named_and_reserved_again() -> None:
    # As in a backup that has the stock of a moment before the order.
    order = make_order(paid=True, quantity=2, stock=5)
    variant_id, warehouse_id, reservation_id = stock_item_of(order)
    cql(
        "DELETE FROM inventory WHERE variant_id = %s AND warehouse_id = %s AND reservation_id = %s",
        variant_id,
        warehouse_id,
        reservation_id,
    )
    (named,) = found(of(order), "I2")
    assert named.startswith(
        f"I2 order {order.number} ({order.order_id}), line 1, variant {variant_id} in {warehouse_id}:"
    )
    assert "nothing, not 2 committed" in named
    cql(
        "UPDATE inventory SET available = 1 WHERE variant_id = %s AND warehouse_id = %s",
        variant_id,
        warehouse_id,
    )
    assert not repair(of(order), "I2").is_clean  # there are too few
    assert repair(of(order)).is_clean
    numbers = get_stock_numbers(variant_id, warehouse_id)
    assert (numbers.available, numbers.committed, numbers.received) == (3, 2, 5)


def test_i2_units_that_only_the_ledger_has_for_an_order_that_is_lost_are_free() -> None:
    order, lost_id = make_order(paid=True, stock=5), uuid4()
    variant_id, warehouse_id, _ = stock_item_of(order)
    source = LedgerSource(lost_id, 1, uuid4())
    write_ledger_entries(variant_id, warehouse_id, source, [("committed", 3)])
    assert any(f"order {lost_id}, which is none" in each for each in found(of(order), "I2"))
    assert repair(of(order)).is_clean
    numbers = get_stock_numbers(variant_id, warehouse_id)
    assert (numbers.available, numbers.committed) == (4, 1)


def test_i2_what_was_sent_is_not_reserved_again_with_what_is_gone() -> None:
    order = place_paid_order(1, 2)
    allocations = order.list_allocations(queries.list_items(order))
    sent_part, gone = sorted(allocations, key=lambda each: each.line_number)
    sent(pack_parcel(order, sent_part.warehouse_id, line1=1))
    cql(
        "DELETE FROM inventory WHERE variant_id = %s AND warehouse_id = %s AND reservation_id = %s",
        gone.variant_id,
        gone.warehouse_id,
        gone.reservation_id,
    )
    assert repair(of(order)).is_clean
    left = [get_stock_numbers(each.variant_id, each.warehouse_id) for each in (sent_part, gone)]
    assert [(each.available, each.committed, each.shipped) for each in left] == [
        (19, 0, 1),
        (18, 2, 0),
    ]


def test_i2_units_of_a_paid_order_that_are_only_reserved_are_named_and_committed() -> None:
    order = without_effects(make_order(quantity=2), "confirmed")
    assert any("2 held, not 2 committed" in each for each in found(of(order), "I2"))
    assert repair(of(order)).is_clean
    variant_id, warehouse_id, _ = stock_item_of(order)
    assert get_stock_numbers(variant_id, warehouse_id).committed == 2


def test_i2_units_that_an_ended_order_has_not_given_back_are_named_and_given_back() -> None:
    order = without_effects(make_order(quantity=2, stock=20), "cancelled")
    variant_id, warehouse_id, _ = stock_item_of(order)
    assert any("2 held, not nothing" in each for each in found(of(order), "I2"))
    assert repair(of(order)).is_clean
    assert get_stock_numbers(variant_id, warehouse_id).available == 20


def test_i2_money_that_is_too_much_is_named() -> None:
    assert (
        unnamed(
            "I2",
            {
                "refunded": "more was refunded than taken",
                "captured": "more was taken than it costs",
            },
        )
        == []
    )


def unnamed(rule: str, faults: dict[str, str]) -> list[str]:
    """Falsify each of these columns in an order of its own; return those whose fault the check does not name there."""
    orders = {column: make_order(paid=rule == "I2") for column in faults}
    for column, order in orders.items():
        wrong = 999999 if rule == "I2" else 7
        cql(f"UPDATE orders SET {column} = %s WHERE order_id = %s", wrong, order.order_id)  # noqa: S608
    named = found(of(*orders.values()), rule)
    expected = {
        column: f"{rule} order {order.number} ({order.order_id}): {faults[column]}"
        for column, order in orders.items()
    }
    return [
        column
        for column, words in expected.items()
        if not any(each.startswith(words) for each in named)
    ]


# ---- I3


def test_i3_an_order_that_stands_where_it_stood_before_is_named_and_written_anew() -> None:
    order = without_effects(make_order(paid=True, user_id=uuid4()), "held")
    named = found(of(order), "I3")
    assert (
        f"I3 order {order.number} ({order.order_id}): is missing on the board, in on_hold" in named
    )
    assert any("reads otherwise in its person's list (customer_label)" in each for each in named)
    assert any(
        f"stands on the board in to_pack, {order.placed_at.date()}" in each for each in named
    )
    report = repair(of(order))
    assert report.is_clean
    # The day's own row may be missing, too: no other order is on hold that day, or one is.
    assert {each.fault for each in report.fixed_violations} >= {
        "is missing on the board, in on_hold",
        "reads otherwise in its person's list",
    }


def test_i3_a_second_copy_on_the_board_is_named_and_removed() -> None:
    order = make_order()
    cql(
        """INSERT INTO orders_by_status (status, order_date, placed_at, order_id, number, version)
           VALUES ('done', %s, %s, %s, %s, 1) USING TIMESTAMP %s""",
        order.placed_at.date(),
        order.placed_at,
        order.order_id,
        order.number,
        copy_timestamp(order) - 1,
    )
    (named,) = found(of(order), "I3")
    assert "stands on the board in done" in named
    assert repair(of(order)).is_clean


def test_i3_copies_without_an_order_are_named_and_removed() -> None:
    order_id, user_id, now = uuid4(), uuid4(), datetime.now(UTC).replace(microsecond=0)
    cql(
        """INSERT INTO orders_by_status (status, order_date, placed_at, order_id, number, version)
           VALUES ('to_pay', %s, %s, %s, 'NONE-NONE', 1)""",
        now.date(),
        now,
        order_id,
    )
    cql(
        "INSERT INTO orders_by_user (user_id, year, placed_at, order_id, number) VALUES (%s, %s, %s, %s, 'NONE-NONE')",
        user_id,
        now.year,
        now,
        order_id,
    )
    email = f"{uuid4().hex}@example.com"
    cql(
        """INSERT INTO orders_by_email_and_year (email, year, placed_at, order_id, number)
           VALUES (%s, %s, %s, %s, 'NONE-NONE')""",
        email,
        now.year,
        now,
        order_id,
    )
    cql(
        "INSERT INTO order_years_by_email (email, year, order_id) VALUES (%s, %s, %s)",
        email,
        now.year - 1,
        order_id,
    )
    only = Scope(orders=frozenset({order_id}))
    named = found(only, "I3")
    assert len(named) == 4
    assert all(f"order {order_id}, which is none," in each for each in named)
    assert repair(only).is_clean


def test_i3_a_copy_that_says_something_else_is_named_with_what() -> None:
    order = make_order(user_id=uuid4())
    cql(
        "UPDATE orders_by_user SET total = 1 WHERE user_id = %s AND year = %s AND placed_at = %s AND order_id = %s",
        order.user_id,
        order.placed_at.year,
        order.placed_at,
        order.order_id,
    )
    (named,) = found(of(order), "I3")
    assert named.endswith("reads otherwise in its person's list (total)")
    # It was written at a later time than the order's own: its next event alone is later still, or nothing is.
    assert not repair(of(order), "I3").is_clean


# ---- I4


def remove_expiries(order: Order, at: datetime | None = None) -> None:
    """Remove the expiries of the order's reservation; `at`: leave one at this minute."""
    variant_id, warehouse_id, reservation_id = stock_item_of(order)
    now = floor_to_minute(datetime.now(UTC))
    for minutes in range(15):
        cql(
            "DELETE FROM reservations_by_minute WHERE minute = %s AND variant_id = %s AND warehouse_id = %s AND reservation_id = %s",
            now + timedelta(minutes=minutes),
            variant_id,
            warehouse_id,
            reservation_id,
        )
    if at:
        cql(
            """INSERT INTO reservations_by_minute (minute, variant_id, warehouse_id, reservation_id, order_id, quantity)
               VALUES (%s, %s, %s, %s, %s, %s)""",
            floor_to_minute(at),
            variant_id,
            warehouse_id,
            reservation_id,
            order.order_id,
            order.item_count,
        )


def test_i4_a_reservation_without_its_expiry_is_named_and_gets_one() -> None:
    order = make_order()
    remove_expiries(order)
    (named,) = found(of(order), "I4")
    assert str(stock_item_of(order)[2]) in named
    assert str(order.order_id) in named
    assert "the worker will not look" in named
    assert repair(of(order)).is_clean


def test_i4_a_reservation_that_has_run_out_is_named_and_released_by_the_workers_own_function() -> (
    None
):
    then = datetime.now(UTC) - timedelta(minutes=30)
    order = make_order(stock=20, quantity=2, now=then)
    remove_expiries(order, at=then + timedelta(minutes=10))
    assert any("has run out and is still reserved" in each for each in found(of(order), "I4"))
    assert repair(of(order)).is_clean
    assert fresh(order).state == "expired"
    variant_id, warehouse_id, _ = stock_item_of(order)
    assert get_stock_numbers(variant_id, warehouse_id).available == 20


# ---- I6


def test_i6_a_code_used_more_often_than_its_limit_is_named() -> None:
    key = code_key(make_voucher(uses=1))
    order_id = uuid4()
    cql("UPDATE voucher_uses SET used = 2 WHERE key = %s", key)
    cql(
        "INSERT INTO voucher_uses (key, claim, order_id) VALUES (%s, %s, %s)",
        key,
        f"order:{order_id}",
        order_id,
    )
    named = found(Scope(codes=frozenset({key})), "I6")
    assert any(f"I6 code {key}: is used more often than its limit of 1" in each for each in named)
    assert any("its uses are not its claims (2 used, 1 claims)" in each for each in named)


def test_i6_a_use_of_a_checkout_that_came_to_nothing_is_named_and_given_back() -> None:
    key, order_id = uuid4().hex, uuid4()
    then = datetime.now(UTC) - timedelta(hours=1)
    cql("UPDATE voucher_uses SET used = 1 WHERE key = %s", key)
    cql(
        """INSERT INTO voucher_uses (key, claim, order_id, person, person_claim, claimed_at)
           VALUES (%s, %s, %s, '', '', %s)""",
        key,
        f"order:{order_id}",
        order_id,
        then,
    )
    cql("INSERT INTO vouchers_by_order (order_id, key) VALUES (%s, %s)", order_id, key)
    only = Scope(codes=frozenset({key}))
    (named,) = found(only, "I6")
    assert "has not given its use back" in named
    assert repair(only).is_clean


def test_i6_an_order_that_stands_and_has_no_use_of_its_code_is_named_and_gets_it() -> None:
    code = make_voucher(uses=3)
    product = make_product(stock=5)
    terms = get_promotion(CODE, code_key(code))
    assert terms
    order = place_order(
        replace(make_draft((product, 1)), voucher=code, promotions=(terms,)), datetime.now(UTC)
    )
    release_voucher(code, order.order_id)
    only = Scope(orders=frozenset({order.order_id}))
    (named,) = found(only, "I6")
    assert "has no use of it" in named
    assert repair(only).is_clean


# ---- I7


def noted_no_more(day: date) -> None:
    """As if the worker had added the day up, and forgotten it, long ago."""
    for noted, written in list_changed_days():
        if noted == day:
            DAY_DONE.run(shop=SHOP, day=day, written=written)


def test_i7_figures_that_are_not_the_sum_of_their_facts_are_named_and_added_up_anew() -> None:
    line = SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000)
    sale = Sale(uuid4(), datetime(1979, 5, 5, 12, tzinfo=UTC), 2, "EUR", (line,), "DE", "card")
    record_sale(sale)
    roll_up_day(sale.day)
    noted_no_more(sale.day)
    only = Scope(days=frozenset({sale.day}))
    assert found(only) == []
    for statement in (
        "UPDATE daily_sales_by_dimension SET gross = 1",
        "DELETE FROM daily_sales_by_dimension",
    ):
        for dimension, key in (("hour", "13"), ("country", "DE")):
            cql(
                f"{statement} WHERE month = %s AND dimension = %s AND day = %s AND key = %s AND currency = 'EUR'",
                *(sale.day.replace(day=1), dimension, sale.day, key),
            )
        (named,) = found(only, "I7")
        assert named.startswith("I7 sales of 1979-05-05: the figures are not the sum of the facts")
        assert "by hour, country" in named
        assert repair(only).is_clean


def test_i7_sums_of_a_day_that_has_lost_its_facts_are_found() -> None:
    line = SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000)
    sale = Sale(uuid4(), datetime(1979, 5, 15, 12, tzinfo=UTC), 2, "EUR", (line,))
    record_sale(sale)
    roll_up_day(sale.day)
    cql(
        "DELETE FROM sales_facts WHERE day = %s AND shard = %s",
        *(sale.day, order_shard(sale.order_id)),
    )
    noted_no_more(sale.day)
    assert sale.day in _iterate_days(None)
    assert repair(Scope(days=frozenset({sale.day})), "I7").is_clean


def test_i7_facts_of_no_sale_are_named_and_removed() -> None:
    sale = Sale(
        uuid4(),
        datetime(1979, 6, 6, 12, tzinfo=UTC),
        2,
        "EUR",
        (SoldLine(1, uuid4(), uuid4(), 2, 2380, 2000),),
    )
    record_sale(sale)
    only = Scope(orders=frozenset({sale.order_id}))
    (named,) = found(only)
    assert named == f"I7 facts of 1979-06-06, order {sale.order_id}: there is no such sale"
    assert repair(only).is_clean


def test_i7_an_orders_facts_that_are_behind_it_are_named_and_written_anew() -> None:
    order = make_order(paid=True, quantity=2, price="12.00")
    about = {"refund": "1", "amount": 1200, "lines": {"1": 1}, "reason": "broken"}
    order = without_effects(order, "refund_owed", details=about)
    order = without_effects(
        order,
        "refunded",
        details={"refund": "1", "amount": 1200, "of": {str(order.payment_id): 1200}},
    )
    named = found(of(order), "I7")
    assert len(named) == 1
    assert "are not what it sold (lines [1])" in named[0]
    assert repair(of(order), "I7").is_clean
    (fact,) = list_order_facts(order.placed_at.astimezone().date(), order.order_id)
    assert (fact.line.refunded_units, fact.line.refunded_gross) == (1, 1200)


# ---- I8


def test_i8_two_users_with_one_address_are_named() -> None:
    first, second = make_user(password=None), make_user(password=None)
    cql("UPDATE users SET email = %s WHERE user_id = %s", first.email, second.user_id)
    only = Scope(users=frozenset({first.user_id, second.user_id}))
    (named,) = found(only)
    assert named == f"I8 user {second.user_id}: the address is that of user {first.user_id}"


def test_i8_an_address_that_nobody_has_claimed_is_named_and_claimed() -> None:
    user: User = make_user(password=None)
    cql("DELETE FROM users_by_email WHERE email = %s", user.email)
    only = Scope(users=frozenset({user.user_id}))
    assert found(only) == [f"I8 user {user.user_id}: nobody has claimed the address"]
    assert repair(only).is_clean


# ---- I9


def test_i9_sums_that_do_not_add_up_are_named() -> None:
    faults = {
        "total": "net and tax do not add up to the total",
        "subtotal": "the lines do not add up to the subtotal",
        "discount": "the lines' discounts do not add up to the discount",
        "tax": "the tax by rate does not add up to the tax",
        "delivery": "lines, delivery, tax and discount do not add up to the total",
    }
    assert unnamed("I9", faults) == []


def test_i9_a_line_that_is_not_units_at_their_price_is_named() -> None:
    order = make_order()
    cql(
        "UPDATE order_items SET unit_price = 7 WHERE order_id = %s AND line_number = 1",
        order.order_id,
    )
    assert found(of(order), "I9") == [
        f"I9 order {order.number} ({order.order_id}), line 1: units at their price are not the line's sum"
    ]


def test_i29_what_was_promised_and_cannot_be_is_named() -> None:
    faults = {
        "delivery_title = ''": "its delivery method has no name",
        "estimated_delivery = '2020-01-01'": "it was expected before it was placed, or before itself",
        'tax_rates = \'{"standard": "16", "reduced": "5"}\'': "it was taxed at other rates than those it was placed with",
    }
    for broken, sentence in faults.items():
        order = make_order()
        assert found(of(order), "I29") == []
        cql(f"UPDATE orders SET {broken} WHERE order_id = %s", order.order_id)  # noqa: S608
        (named,) = found(of(order), "I29")
        assert sentence in named


# ---- While the shop runs


def test_an_order_with_pending_effects_is_under_way() -> None:
    order = transition_order(
        make_order(),
        Transition("confirmed", actor="system", at=datetime.now(UTC)),
        with_effects=False,
    )
    report = check_consistency(of(order), recheck_after=QUICK)
    assert report.violations == []
    assert order.order_id in report.in_progress
    assert found(of(order)) != []
    apply_effects(order.order_id, datetime.now(UTC))
    assert found(of(order)) == []


def test_buyers_who_come_and_go_meanwhile_are_no_violation() -> None:
    product = make_product()
    variant_id = make_stock(
        200, product_id=product.product_id, variant_id=product.variants[0].variant_id
    )
    placed: list[Order] = []
    enough = threading.Event()

    def buy() -> None:
        while not enough.is_set():
            order = place_order(make_draft((product, 1)), datetime.now(UTC))
            transition_order(order, Transition("cancelled", actor="shopper", at=datetime.now(UTC)))
            placed.append(order)

    buyers = [threading.Thread(target=buy) for _ in range(3)]
    for buyer in buyers:
        buyer.start()
    try:
        for _ in range(4):
            orders = frozenset(order.order_id for order in placed[-10:])
            report = check_consistency(
                Scope(orders, frozenset({variant_id})), recheck_after=(0.2, 0.5)
            )
            assert [str(violation) for violation in report.violations] == []
    finally:
        enough.set()
        for buyer in buyers:
            buyer.join()
    assert placed


# ---- The command


def run(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("audit", *arguments, stdout=out, stderr=out)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return 0, out.getvalue()


def test_its_slow_reads_do_not_bury_what_the_check_says(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def read_slowly(*_: object, **__: object) -> Report:
        for question in ("Q12", "Q17", "Q12"):
            meter.log_if_slow(question, "SELECT number FROM orders", took=9.0)
        return Report()

    monkeypatch.setattr(command, "check_consistency", read_slowly)
    status, said = run()
    assert status == 0
    assert not caplog.records
    assert "3 of its statements took longer than 5000 ms; most of them: Q12 2, Q17 1." in said
    meter.log_if_slow("Q12", "SELECT number FROM orders", took=9.0)
    assert len(caplog.records) == 1, "anybody else's are logged"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(only: Scope | None, rules: Collection[str], **more: object) -> Report:
        quickly: dict[str, Any] = {"recheck_after": QUICK, "grace_period": timedelta(0)}
        return check_consistency(only, rules, **quickly | more)

    monkeypatch.setattr(command, "check_consistency", hasty)


@pytest.mark.usefixtures("quick")
def test_the_commands_status_distinguishes_clean_violations_and_not_finished() -> None:
    order = make_order()
    assert run("--order", order.number)[0] == 0
    remove_expiries(order)
    status, output = run("--order", order.number.lower(), "--rule", "I4")
    assert status == 1
    assert "the worker will not look when it runs out" in output
    status, output = run("--order", order.number, "--repair")
    assert status == 0
    assert "fixed: I4 reservation" in output
    assert "0 violations, 1 fixed" in output
    assert run("--order", "AAAA-AAAA")[0] == 2


def test_the_command_says_when_it_could_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        command, "check_consistency", Mock(side_effect=CassandraUnavailable("no node answers"))
    )
    assert run() == (2, "Could not finish, Cassandra is away: no node answers\n")
