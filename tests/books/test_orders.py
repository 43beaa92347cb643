"""What orders bring into the books, by the day on which their money moved; what is compared; the pages and files (X520 to X523)."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from unittest.mock import Mock
from uuid import UUID, uuid4
from zipfile import ZipFile

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html
from moneyed import EUR, Money

from adminpanel.books.pages import get_books_page, get_open_invoices
from analytics.days import order_shard, shop_day, shop_today
from books import queries
from books.entities import FEE, INVOICE, PAYMENT, REFUND, BookEntry, TaxedAmount
from books.operations import LATEST_ENTRY, close_month, entry_row, remove_entry, roll_up_day
from cassandra_db import count_statements, write_batch
from consistency.findings import Scope
from jobs.rows import collect_failed_rows
from jobs.schema import Backfill
from orders import jobs, operations, rebuild, reconciliation
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import effects
from orders.operations.books import build_entries, record_order_books
from orders.operations.payments import record_manual_payment
from orders.papers.invoice import render_invoice
from orders.queries import get_order, list_items
from payments.gateways import METHODS
from payments.methods import CASH_ON_DELIVERY, TRANSFER
from pricing.money import to_minor_units
from spreadsheets import operations as files
from spreadsheets import queries as tasks
from spreadsheets.entities import WRITTEN
from tests.adminpanel.people.audit_entries import list_entries_this_month
from tests.books.files import BOOKS, read_csv
from tests.clock import now
from tests.consistency.test_check_consistency import found, repair
from tests.factories import (
    make_draft,
    make_order,
    make_payment,
    make_product,
    make_user,
    sign_in_staff,
)
from tests.orders.consistency_checks import assert_order_consistent
from tests.orders.crashes import kill_in
from tests.reads import existing

# Half an hour after midnight of the first of June by the shop's clock. No other test moves money in these months.
PAID = datetime(1976, 5, 31, 23, 30, tzinfo=UTC)
JUNE, JULY = date(1976, 6, 1), date(1976, 7, 1)
REFUNDED = datetime(1976, 7, 31, 22, 30, tzinfo=UTC)


def of(order: Order) -> list[BookEntry]:
    fresh = existing(get_order(order.order_id))
    return queries.list_booked(build_entries(fresh, list_items(fresh)))


def roll_up(*orders: Order) -> None:
    for day in {entry.day for order in orders for entry in of(order)}:
        roll_up_day(day)


def round_up(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))


@pytest.fixture
def analyst() -> Client:
    return sign_in_staff(Client(), make_user("Cleo", role="analyst"))


@pytest.fixture
def support() -> Client:
    return sign_in_staff(Client(), make_user("Bea", role="support"))


def test_x520_taxes_and_payments_are_those_of_the_orders(analyst: Client) -> None:
    lamp = make_product("Lamp", price="20.00", stock=9)
    tin = make_product("Tin", price="10.70", stock=9, tax_class="reduced")
    german = operations.place_order(make_draft((lamp, 2), (tin, 3)), PAID)
    german = make_payment(german, now=PAID)
    french = operations.place_order(make_draft((lamp, 1), country="FR"), PAID)
    french = make_payment(french, now=PAID)
    staff: dict[str, Any] = {"actor": "staff", "now": REFUNDED}
    refunded = operations.decide_refund(german, Money("10.70", EUR), {2: 1}, "broken", **staff)
    refunded = operations.change_order(refunded, {1: 1}, **staff)
    refunded = operations.decide_refund(refunded, Money("3.00", EUR), {}, "late", **staff)
    roll_up(refunded, french)

    june, july = get_books_page(JUNE), get_books_page(JULY)
    sales = {(line.country, line.rate): line.sales for line in june.taxes}
    expected = {
        (order.country, part.rate): (to_minor_units(part.net), to_minor_units(part.tax))
        for order in (german, french)
        for part in order.taxes
    }
    assert {key: (each.net, each.tax) for key, each in sales.items()} == expected
    assert len(expected) == 3
    refunds = {line.rate: line.refunds for line in july.taxes}
    # A tin, a lamp, and three euros over what is left: a lamp with the delivery, and two tins.
    left = to_minor_units(Money("20.00", EUR) + german.delivery), 2140
    spread = round_up(Decimal(300 * left[0]) / sum(left))
    gross = {Decimal(19): 2000 + spread, Decimal(7): 1070 + 300 - spread}
    assert {rate: each.gross for rate, each in refunds.items()} == gross
    for line in july.taxes:
        assert line.rate
        assert line.refunds.tax == round_up(line.refunds.gross * line.rate / (100 + line.rate))
    assert not any(line.sales.gross for line in july.taxes)

    (received,), (sent,) = june.payment_totals, july.payment_totals
    captured = german.captured + french.captured
    assert (received.received, received.refunded) == (to_minor_units(captured), 0)
    assert (sent.received, sent.refunded) == (0, to_minor_units(refunded.refunded))
    assert [line.day for line in june.payments] == [date(1976, 6, 1)]
    assert [line.day for line in july.payments] == [date(1976, 7, 31)]
    assert_order_consistent(german.order_id)

    for month, page in (("1976-06", june), ("1976-07", july)):
        (total,), (totals,) = page.tax_totals, page.payment_totals
        for name, amounts in (("taxes", total.amounts), ("payments", totals.amounts)):
            *rows, last = read_csv(analyst, month=month, format=name)
            assert "Total" in last.values()
            for column, amount in zip(list(last)[3:], amounts, strict=True):
                assert Decimal(last[column] or 0) == (amount.amount if amount else 0)
                assert sum(Decimal(row[column] or 0) for row in rows) == Decimal(last[column] or 0)
        shown = analyst.get(BOOKS, {"month": month}).content.decode()
        assert all(f"{abs(amount.amount):,.2f}" in shown for amount in total.amounts)


def test_x521_a_late_refund_leaves_the_bytes_of_a_closed_month(analyst: Client) -> None:
    at = datetime(1975, 1, 15, 12, tzinfo=UTC)
    order, lost = (make_order(paid=True, now=at, price="11.90") for _ in range(2))
    for entry in of(lost):
        remove_entry(entry)
    roll_up(order, lost)
    january = date(1975, 1, 1)

    def read_files() -> list[bytes]:
        return [
            analyst.get(BOOKS, {"month": "1975-01", "format": name}).content
            for name in ("taxes", "payments")
        ]

    before, began = read_files(), now()
    assert "Open" in analyst.get(BOOKS, {"month": "1975-01"}).content.decode()
    close_month(january, began)
    close_month(january, began + LATEST_ENTRY)
    # A refund in March, and what was not booked in January.
    march = at + timedelta(days=60)
    order = operations.decide_refund(
        order, Money("5.00", EUR), {}, "late", actor="staff", now=march
    )
    record_order_books(lost, list_items(lost))
    roll_up(order, lost)
    assert read_files() == before
    assert "Closed on" in analyst.get(BOOKS, {"month": "1975-01"}).content.decode()
    assert {entry.day for entry in of(lost)} == {shop_today()}
    (sent,) = get_books_page(shop_day(march)).payment_totals
    assert (sent.received, sent.refunded) == (0, 500)
    for each in (order, lost):
        assert_order_consistent(each.order_id)


@pytest.fixture
def unbooked(monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    """Paid orders of before the books began."""
    with monkeypatch.context() as patch:
        patch.setattr(effects, "record_order_books", lambda *_: None)
        return [make_order(paid=True, now=PAID) for _ in range(3)]


def test_x520_orders_of_before_are_booked_by_a_backfill_and_no_month_is_closed_before(
    unbooked: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Parts:
        def iterate_part(self, part: int, parts: int) -> Iterator[Any]:
            assert parts == 3
            return iter([type("Row", (), {"order_id": unbooked[part].order_id})])

    monkeypatch.setattr(rebuild, "ORDER_IDS", Parts())
    monkeypatch.setattr(rebuild, "FILL_PARTS", 3)
    assert not any(of(order) for order in unbooked)
    assert [position for position, _ in rebuild.fill_books("")] == ["1", "2", "3"]
    assert list(rebuild.fill_books("2")) == [("3", "1 orders, 3 of 3 parts")]
    for order in unbooked:
        assert sorted(entry.kind for entry in of(order)) == [INVOICE, PAYMENT]
        assert_order_consistent(order.order_id)
    asked = Mock(return_value=PAID.date())
    monkeypatch.setattr("books.operations.close_due_month", asked)
    assert jobs.close_due_month(now()) == f"closing {PAID:%Y-%m}", "a new shop has nothing to book"
    monkeypatch.setattr(jobs, "BOOKS", Backfill(uuid4().hex, "", rebuild.fill_books))
    assert "before `manage.py migrate --backfill`" in jobs.close_due_month(now())
    assert asked.call_count == 1


def test_s110_an_order_that_fails_holds_up_no_other(
    unbooked: list[Order], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [type("Row", (), {"order_id": order.order_id}) for order in unbooked]
    parts = type("Parts", (), {"iterate_part": lambda *_: iter(rows)})
    monkeypatch.setattr(rebuild, "ORDER_IDS", parts())
    monkeypatch.setattr(rebuild, "FILL_PARTS", 1)
    first, read = unbooked[0], get_order

    def fail_first(order_id: UUID) -> Order | None:
        if order_id == first.order_id:
            raise ValueError
        return read(order_id)

    monkeypatch.setattr("orders.queries.get_order", fail_first)
    with collect_failed_rows() as failed:
        assert list(rebuild.fill_books("")) == [("1", "2 orders, 1 of 1 parts")]
    assert [str(row) for row, _ in failed.failures] == [f"books of order {first.order_id}"]
    record_order_books(first, list_items(first))
    shards = {order_shard(order.order_id) for order in unbooked}
    with collect_failed_rows() as failed:
        for shard in shards:
            reconciliation.reconcile_shard(JUNE, shard, now())
    (failure,) = failed.failures
    assert str(failure[0]) == f"money of order {first.order_id}"
    # It is listed as not compared, and compared with those of a later day.
    (difference,) = get_books_page(JUNE).differences
    assert (difference.number, difference.amounts) == (first.number, (None,) * 3)
    monkeypatch.undo()
    reconciliation.reconcile_shard(JUNE + timedelta(days=99), order_shard(first.order_id), now())
    assert get_books_page(JUNE).differences == ()
    for order in unbooked:
        entries = queries.list_order_entries(order.order_id, [JUNE])
        assert sorted(each.kind for each in entries) == [FEE, INVOICE, PAYMENT]


def test_i53_what_disagrees_is_named_and_repaired(unbooked: list[Order]) -> None:
    order, moved, _ = unbooked
    only = Scope(orders=frozenset({order.order_id}))
    named = sorted(each.partition("): ")[2].partition(" (")[0] for each in found(only, "I53"))
    assert named == ["its invoice is not booked", "its payment is not booked"]
    assert repair(only, "I53").is_clean
    # A copy of a payment on another day; and sums that lack it.
    record_order_books(moved, list_items(moved))
    (payment,) = (entry for entry in of(moved) if entry.kind == PAYMENT)
    wrong_day = date(1976, 8, 9)
    write_batch([entry_row(replace(payment, day=wrong_day))])
    only = Scope(orders=frozenset({moved.order_id}), days=frozenset({wrong_day}))
    named = found(only, "I53")
    assert any("it belongs to another day" in each for each in named)
    assert any("the sums are not those of the entries" in each for each in named)
    repair(only, "I53")
    assert queries.list_day_entries(wrong_day) == []
    other_rate = (TaxedAmount(Decimal(7), payment.gross, 0),)
    wrongs: list[dict[str, Any]] = [{"country": "FR"}, {"amounts": other_rate}]
    for wrong in wrongs:
        write_batch([entry_row(replace(payment, **wrong))])
        here = replace(only, days=frozenset({payment.day}))
        assert any("not what the event says" in each for each in found(here, "I53"))
        repair(here, "I53")
    assert payment in of(moved)
    roll_up_day(wrong_day)
    assert found(only, "I53") == []


def test_i53_an_entry_written_behind_a_closed_month_is_booked_again_today() -> None:
    at = datetime(1974, 6, 4, 12, tzinfo=UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effects, "record_order_books", lambda *_: None)
        order = make_order(paid=True, now=at)
    day, began = shop_day(at), now()
    close_month(day.replace(day=1), began - 2 * LATEST_ENTRY)
    close_month(day.replace(day=1), began)
    # A process that had looked before the month was marked writes now.
    entries = build_entries(order, list_items(order))
    fee = replace(entries[-1], kind=FEE, amounts=(TaxedAmount(Decimal(0), 9, 0),))
    write_batch(list(map(entry_row, [*entries, fee])))
    only = Scope(orders=frozenset({order.order_id}), days=frozenset({day}))
    assert any("the month was closed before" in each for each in found(only, "I53"))
    repair(only, "I53")
    assert found(only, "I53") == []
    assert {entry.day for entry in of(order)} == {shop_today()}
    assert FEE in {entry.kind for entry in of(order)}
    assert get_books_page(day).payments == ()


def test_x522_open_invoices_are_what_orders_still_owe(support: Client) -> None:
    at = now()
    product = make_product(price="30.00", stock=9)
    transfer, delivery = (
        operations.place_order(replace(make_draft((product, 1)), payment_method=method), at)
        for method in (TRANSFER, CASH_ON_DELIVERY)
    )
    card = operations.place_order(make_draft((product, 1)), at)

    def list_open() -> dict[str, int]:
        numbers = {each.number for each in (transfer, delivery, card)}
        page = get_open_invoices(shop_today(), only_overdue=False)
        lines = (line.invoice for line in page.lines)
        return {each.number: each.amount for each in lines if each.number in numbers}

    total = to_minor_units(transfer.total)
    assert list_open() == {transfer.number: total}
    delivery = existing(get_order(delivery.order_id))
    operations.start_payment(delivery, "http://testserver", at)
    assert list_open()[delivery.number] == to_minor_units(delivery.total)
    part = Money("10.00", EUR)
    transfer, _ = record_manual_payment(transfer, part, key="1", actor="staff", now=at)
    assert list_open()[transfer.number] == total - 1000
    shown = support.get(reverse("adminpanel:open_invoices")).content.decode()
    assert transfer.number in shown
    assert "not overdue" in shown
    due_days = {
        line.invoice.number: line.invoice.due
        for line in get_open_invoices(shop_today(), only_overdue=False).lines
    }
    due = due_days[transfer.number]
    assert due == shop_today() + METHODS[TRANSFER].pay_within, "the last day, as the mail says"
    assert due_days[delivery.number] == delivery.method.last
    overdue = [
        line.days_over
        for today in (due, due + timedelta(days=2))
        for line in get_open_invoices(today, only_overdue=True).lines
        if line.invoice.number == transfer.number
    ]
    assert overdue == [2]
    answer = support.get(reverse("adminpanel:open_invoices"), {"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    amounts = {row["Order"]: Decimal(row["Amount"]) for row in rows if row["Currency"] == "EUR"}
    sum_of_all = amounts.pop("Total")
    assert amounts[transfer.number] == Decimal(total - 1000) / 100
    assert sum(amounts.values()) == sum_of_all
    rest = transfer.total - part
    transfer, _ = record_manual_payment(transfer, rest, key="2", actor="staff", now=at)
    assert transfer.number not in list_open()
    counts = []
    for is_fill in (False, True):
        with count_statements() as meter:
            record_order_books(transfer, list_items(transfer), is_fill=is_fill)
        counts.append(meter.statement_count)
    assert counts[0] - counts[1] == 1, "a fill leaves no tombstone"
    delivery = existing(get_order(delivery.order_id))
    cancelled = Transition("cancelled", actor="shopper", at=at)
    operations.transition_order(delivery, cancelled)
    assert list_open() == {}
    for order in (transfer, delivery, card):
        assert_order_consistent(order.order_id)


def test_x523_the_invoices_of_a_month_are_one_file(analyst: Client) -> None:
    bea = make_user("Bea", role="support")
    support = sign_in_staff(Client(), bea)
    at = datetime(1978, 2, 3, 12, tzinfo=UTC)
    first, second = (make_order(paid=True, now=at) for _ in range(2))
    other = make_order(paid=True, now=at + timedelta(days=40))
    page = support.get(BOOKS, {"month": "1978-02"})
    form = next(
        each
        for each in html.fromstring(page.content).forms
        if each.get("action") == reverse("adminpanel:book_invoices")
    )
    fields = {each.name: each.value or "" for each in form.inputs if each.name}
    answer = support.post(reverse("adminpanel:book_invoices"), fields)
    again = support.post(reverse("adminpanel:book_invoices"), fields)
    assert answer.status_code == again.status_code == 303
    assert answer["Location"] == again["Location"], "a form that is sent twice makes one file"
    task_id = UUID(answer["Location"].rstrip("/").rpartition("/")[2])
    while (task := existing(tasks.get_task(task_id))).state != WRITTEN:
        assert files.run_task(task, 100)
    assert task.total == 2
    fetched = support.post(f"{answer['Location']}file/")
    assert fetched["Content-Type"] == "application/zip"
    assert "invoices-1978-02-" in fetched["Content-Disposition"]
    sent = b"".join(fetched.streaming_content)  # type: ignore[attr-defined]
    with ZipFile(io.BytesIO(sent)) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted(
            f"{each.number}.pdf" for each in (first, second)
        )
        fresh = existing(get_order(first.order_id))
        assert archive.read(f"{first.number}.pdf") == render_invoice(fresh, list_items(fresh))
    assert other.number not in str(archive.namelist())
    assert "adminpanel:book_invoices" in {each.act for each in list_entries_this_month(bea)}
    assert "Create ZIP" not in analyst.get(BOOKS).content.decode()
    assert analyst.post(reverse("adminpanel:book_invoices"), fields).status_code == 403


@pytest.mark.parametrize("month", ["1976-13", "76-01", "3000-01", "0000-01", "1500-01", "x"])
def test_x521_a_month_that_cannot_be_read_is_refused_beside_its_field(
    analyst: Client, month: str
) -> None:
    answer = analyst.get(BOOKS, {"month": month})
    assert answer.status_code == 422
    assert "Enter a month" in answer.content.decode()


def test_a_kill_in_an_effect_leaves_an_order_that_the_worker_books() -> None:
    order = make_order(now=PAID)
    kill_in(effects, "record_order_books", lambda: make_payment(order, now=PAID))
    operations.apply_effects(order.order_id, now())
    assert [each.kind for each in of(order)].count(REFUND) == 0
    assert_order_consistent(order.order_id)
