"""After a restore: no number twice, each payment is an order's or listed, nobody who was erased is back."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse

from accounts import queries as accounts
from accounts.operations import erase_account, repeat_erasures, request_erasure
from accounts.sessions import PASSED_AT, end_all_sessions
from analytics.days import shop_day
from backups.reconciliation import (
    EMPTY,
    MATCHED,
    SKIPPED_VERSIONS,
    UNMATCHED,
    catch_up,
    list_manual_orders,
    settle_gateway,
    settle_listed_payment,
    skip_numbers,
)
from books.queries import differences_from_rows, prefetch_differences
from cassandra_db.session import get_session
from consistency.findings import Scope
from consistency.runner import check_consistency
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank.gateway import TestBank
from demo.testbank.queries import get_payment
from jobs import leases
from jobs.leases import get_position, hold_lease, save_position
from jobs.registry import Job
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.payment_attempts import derive_payment_id
from orders.numbers import derive_order_number
from orders.operations.copies import write_copies
from orders.operations.placement import claim_order_number
from orders.papers.invoice import list_credits
from payments.gateways import ListedPayment, PaymentRequest, get_gateway
from payments.operations import list_unmatched_payment
from payments.queries import UnmatchedPayment, get_unmatched_payment
from shop_settings.queries import get_settings_at_quorum
from shop_settings.restores import get_number_series
from tests.clock import now
from tests.environment import KEYSPACE
from tests.factories import make_order, make_user
from tests.orders.attempts import ORIGIN, list_attempts
from tests.orders.crashes import first_writes, kill_at_write, record_writes
from tests.orders.test_payments import place_order_with
from tests.payments.bank import euros
from tests.reads import existing
from tests.shop_settings.saved import own_settings
from tests.threads import call_at_once
from text_pages.pages import TEXT_PAGES
from web.erasure_log import list_logged_erasures, log_erasure

__all__ = ["own_settings"]
PAGE, SETTLE = "/staff/books/unmatched/", "adminpanel:unmatched_payment_settle"


def pay_lost_order(cents: int = 3000, *, approve: bool = True) -> UUID:
    """Pay at the bank for an order that the shop does not have; return the payment's id."""
    number = derive_order_number(uuid4())
    at = "https://shop.example"
    request = PaymentRequest(
        uuid4(), uuid4(), number, euros(cents), number, f"{at}/back", f"{at}/left", f"{at}/notice"
    )
    get_gateway("testbank").start(request)
    if approve:
        bank.submit_card(request.payment_id, cards.APPROVED, now())
    return request.payment_id


def forget_references(order: Order) -> None:
    """Let the shop forget which payments it has started for an order."""
    get_session().execute(f"DELETE FROM {KEYSPACE}.payments WHERE order_id = {order.order_id}")  # noqa: S608


def list_bank_payments() -> Iterable[ListedPayment]:
    """Return the bank's payments, other tests' among them."""
    return get_gateway("testbank").list_payments(now() - timedelta(hours=1))


def settle(*payment_ids: UUID) -> list[str]:
    """Reconcile these payments alone, as the bank lists them."""
    gateway = get_gateway("testbank")
    listed = {each.payment_id: each for each in list_bank_payments()}
    return [settle_listed_payment("testbank", gateway, listed[each], now()) for each in payment_ids]


def refund(order: Order, cents: int) -> Order:
    """Refund a part of a paid order at once."""
    operations.decide_refund(order, euros(cents), {}, "scratched", actor="Ann", now=now())
    operations.apply_effects(order.order_id, now())
    return existing(queries.get_order(order.order_id))


@pytest.fixture
def erasure_log(tmp_path: Path) -> Iterator[Path]:
    """A folder for backups, beside which erasures are logged."""
    backend = {"BACKEND": "storefront.media.WholeFileStorage", "OPTIONS": {"location": tmp_path}}
    with override_settings(STORAGES=settings.STORAGES | {"backups": backend}):
        yield tmp_path


# ---- Numbers


@pytest.mark.usefixtures("own_settings")
def test_x557_numbers_after_a_restore_are_other_ones() -> None:
    order = refund(make_order(paid=True, price="30.00"), 500)
    lost_id = uuid4()
    number = claim_order_number(lost_id)
    since = now() - timedelta(hours=1)
    skip_numbers(since, now())
    series = get_number_series()
    assert claim_order_number(lost_id) == claim_order_number(lost_id) != number
    # The first attempt to pay an order, and each further one.
    waiting = make_order()
    first = operations.start_payment(waiting, ORIGIN, now()).payment_id
    bank.submit_card(first, cards.DECLINED, now())
    waiting = existing(operations.settle_payment(waiting.order_id, first, now()))
    second = operations.start_payment(waiting, ORIGIN, now()).payment_id
    lost = {derive_payment_id(waiting.order_id, count) for count in range(20)}
    assert first != second
    assert not lost & {first, second}
    # An invoice's credits keep their numbers.
    later = refund(order, 500)
    assert [credit[0] for credit in list_credits(later)] == [
        f"{order.number}-1",
        f"{order.number}-{2 + series}",
    ]
    # A run is repeated, then a later backup is restored.
    skip_numbers(since, now() + timedelta(hours=1))
    assert get_number_series() == series
    skip_numbers(since + timedelta(minutes=1), now() + timedelta(hours=1))
    assert get_number_series() == series + 60


@pytest.mark.usefixtures("own_settings")
def test_x557_a_page_of_text_gets_no_version_that_an_order_may_have_named() -> None:
    before, since = get_settings_at_quorum().get_values(TEXT_PAGES)["terms"], now()
    for _ in range(2):
        skip_numbers(since, now())
    after = get_settings_at_quorum().get_values(TEXT_PAGES)["terms"]
    assert (after.saved, after.heads) == (before.saved + SKIPPED_VERSIONS, before.heads)


@pytest.mark.usefixtures("own_settings")
def test_x557_the_copies_of_an_orders_lost_versions_are_replaced() -> None:
    order = make_order()
    write_copies(replace(order, version=order.version + 5))
    skip_numbers(now(), now())
    scope = Scope(orders=frozenset({order.order_id}))
    report = check_consistency(scope, ["I3"], repair=True, recheck_after=())
    assert report.fixed_violations
    assert report.is_clean, report.violations


# ---- Payments


def test_x558_each_payment_is_an_orders_or_listed() -> None:
    paid = make_order(paid=True)
    # The bank has decided, and the shop has forgotten that it started the payment.
    forgotten = make_order()
    started = operations.start_payment(forgotten, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    forget_references(forgotten)
    authorized, captured, returned = (pay_lost_order() for _ in range(3))
    for payment_id in (captured, returned):
        bank.capture_payment(payment_id, 3000, "take")
    bank.refund_payment(captured, 1000, "a part")
    bank.refund_payment(returned, 3000, "all")
    open_one = pay_lost_order(approve=False)
    payment_ids = [
        *(list_attempts(paid.order_id)[0].payment_id, started.payment_id),
        *(authorized, captured, returned, open_one),
    ]
    for _ in range(2):
        fates = settle(*payment_ids)
        assert fates == [MATCHED, MATCHED, UNMATCHED, UNMATCHED, EMPTY, EMPTY]
    assert existing(queries.get_order(forgotten.order_id)).state == "confirmed"
    # Nobody can pay any more for an order that is lost.
    assert existing(get_payment(open_one)).state == "voided"
    listed = {each: get_unmatched_payment(each) for each in payment_ids}
    assert [each for each in payment_ids if listed[each]] == [authorized, captured]
    assert existing(listed[captured]).amount == euros(2000)


def test_x558_a_gateway_that_is_not_set_up_is_named() -> None:
    said: list[str] = []
    with override_settings(STRIPE_SECRET_KEY=""):
        settle_gateway("stripe", now(), said.append)
    assert said == ["stripe: not set up, so not asked."]


def test_x558_a_payment_that_fails_is_listed_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(paid=True)
    (attempt,) = list_attempts(order.order_id)
    open_one, authorized = pay_lost_order(approve=False), pay_lost_order()
    known = {each.payment_id: each for each in list_bank_payments()}
    mine = [known[each] for each in (attempt.payment_id, open_one, authorized)]
    monkeypatch.setattr(TestBank, "list_payments", lambda self, since: mine)
    for name in ("get_outcome", "void"):
        monkeypatch.setattr(TestBank, name, Mock(side_effect=TimeoutError))
    said: list[str] = []
    settle_gateway("testbank", now(), said.append)
    assert [line.partition(" of ")[0] for line in said[:2]] == [
        f"left to staff: payment {each.hex}" for each in (attempt.payment_id, open_one)
    ]
    assert said[2] == "testbank: 1 payments have orders, 2 have none."
    assert get_unmatched_payment(open_one)
    assert get_unmatched_payment(authorized)
    listed = differences_from_rows(prefetch_differences(shop_day(now())).rows())
    assert [each.in_order for each in listed if each.order_id == order.order_id] == [None]


def test_x559_payments_and_people_are_complete_although_a_run_was_killed_at_any_write(
    erasure_log: Path,
) -> None:
    def prepare() -> tuple[list[UUID], UUID]:
        user = make_user("Alice")
        log_erasure(user.pk, now())
        return [pay_lost_order(), pay_lost_order(approve=False)], user.pk

    def run(payment_ids: list[UUID], user_id: UUID) -> list[str]:
        fates = settle(*payment_ids)
        repeat_erasures(now())
        return fates

    writes = first_writes(record_writes(partial(run, *prepare())))
    assert len(writes) > 10
    for write in writes:
        payment_ids, user_id = prepare()
        assert kill_at_write(write, partial(run, payment_ids, user_id)), write
        assert run(payment_ids, user_id) == [UNMATCHED, EMPTY], write
        assert get_unmatched_payment(payment_ids[0]), write
        assert existing(get_payment(payment_ids[1])).state == "voided", write
        assert accounts.get_user(user_id) is None, write


def test_x558_support_refunds_a_payment_once_however_often_the_button_is_pressed(
    staff_client: Callable[[str], Client],
) -> None:
    authorized, captured = pay_lost_order(1300), pay_lost_order(1700)
    bank.capture_payment(captured, 1700, "take")
    settle(authorized, captured)
    support = staff_client("support")
    page = support.get(PAGE).content.decode()
    urls = [reverse(SETTLE, args=[each]) for each in (authorized, captured)]
    assert all(f'action="{url}"' in page for url in urls)
    for url in urls:
        answers = call_at_once(*[lambda url=url: support.post(url).status_code] * 2)
        assert {*answers, support.post(url).status_code} == {303}
    assert existing(get_payment(authorized)).state == "voided"
    row = existing(get_payment(captured))
    assert (row.state, row.refunded) == ("refunded", 1700)
    page = support.get(PAGE).content.decode()
    assert not any(f'action="{url}"' in page for url in urls)
    assert "Refunded by Ann" in re.sub(r"<[^>]+>", "", page)
    assert staff_client("warehouse").get(PAGE).status_code == 403


def test_x558_a_large_refund_asks_for_a_code(staff_client: Callable[[str], Client]) -> None:
    payment_id = pay_lost_order(900_000)
    settle(payment_id)
    support = staff_client("support")
    session = support.session
    session[PASSED_AT] = session[PASSED_AT] - 3600
    session.save()
    answer = support.post(reverse(SETTLE, args=[payment_id]))
    assert answer.status_code == 422
    assert 'name="code"' in answer.content.decode()
    assert existing(get_payment(payment_id)).state == "authorized"


def test_x558_a_bank_that_does_not_answer_leaves_the_payment_on_the_list(
    staff_client: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    payment_id = pay_lost_order()
    settle(payment_id)
    monkeypatch.setattr(TestBank, "void", Mock(side_effect=TimeoutError))
    answer = staff_client("support").post(reverse(SETTLE, args=[payment_id]))
    assert answer.status_code == 503
    assert "reach the bank" in answer.content.decode()
    assert existing(get_unmatched_payment(payment_id)).is_open


def test_x558_orders_by_transfer_are_a_list_to_tick(staff_client: Callable[[str], Client]) -> None:
    order = place_order_with("transfer")
    operations.apply_effects(order.order_id, now())
    said: list[str] = []
    list_manual_orders(said.append)
    assert re.fullmatch(r"[1-9]\d* orders by transfer or on delivery to look up.*", said[0])
    support = staff_client("support")
    assert order.number in support.get(PAGE).content.decode()
    assert support.post(reverse(SETTLE, args=[order.order_id])).status_code == 303
    list_manual_orders(said.append)
    found = existing(get_unmatched_payment(order.order_id))
    assert (found.state, found.number) == ("checked", order.number)
    assert support.post(reverse(SETTLE, args=[uuid4()])).status_code == 404


def test_x558_the_rest_of_an_expired_row_is_no_payment(
    staff_client: Callable[[str], Client],
) -> None:
    payment_id = uuid4()
    get_session().execute(
        f"UPDATE {KEYSPACE}.unmatched_payments SET state = 'refunded' WHERE shop = 'shop' AND payment_id = {payment_id}"  # noqa: S608
    )
    assert staff_client("support").get(PAGE).status_code == 200
    assert get_unmatched_payment(payment_id) is None


def test_i55_a_listed_payment_that_has_an_order_leaves_the_list() -> None:
    order = make_order(paid=True)
    (attempt,) = list_attempts(order.order_id)
    list_unmatched_payment(
        UnmatchedPayment(
            *(attempt.payment_id, "testbank", attempt.reference, order.number),
            *(order.total, order.placed_at),
        )
    )
    scope = Scope(tables=frozenset({"unmatched_payments"}))
    report = check_consistency(scope, ["I55"], repair=True, recheck_after=())
    assert [str(attempt.payment_id) in str(each) for each in report.fixed_violations] == [True]
    assert get_unmatched_payment(attempt.payment_id) is None


# ---- People


def test_x556_who_was_erased_since_the_backup_is_erased_again(erasure_log: Path) -> None:
    erased, restored, staff, other = (
        make_user(name, role=role)
        for name, role in (("Alice", ""), ("Bob", ""), ("Cleo", "support"), ("Dan", ""))
    )
    request_erasure(erased.pk, now())
    assert len(list_logged_erasures()) == 1
    erase_account(erased.pk, now())
    # The log does not say who they were.
    names = [str(path) for path in erasure_log.rglob("*")]
    assert not any(str(erased.pk) in name or erased.pk.hex in name for name in names)
    # As if these had been erased, and a restore had brought them back.
    buyer = make_user("Eve")
    make_order(paid=True, user_id=buyer.pk)
    for user in (restored, staff, buyer):
        log_erasure(user.pk, now())
    assert repeat_erasures(now()) == (2, 1)
    assert repeat_erasures(now()) == (0, 1)
    left = [accounts.get_user(each.pk) for each in (restored, staff, other)]
    assert [bool(each) for each in left] == [False, False, True]
    # Whose order is under way is locked out, and erased by the worker.
    assert existing(accounts.get_user(buyer.pk)).erasing_at


def test_x556_without_backups_nothing_is_logged() -> None:
    log_erasure(uuid4(), now())
    assert repeat_erasures(now()) == (0, 0)


def test_x559_all_sessions_end(client: Client) -> None:
    client.force_login(make_user("Alice"))
    assert client.get("/account/").status_code == 200
    assert end_all_sessions() >= 1
    assert client.get("/account/").status_code == 302
    assert end_all_sessions() == 0


# ---- The worker's jobs, and the command


def test_x559_a_job_runs_until_it_is_not_behind_and_an_error_stops_no_other() -> None:
    name = f"test {uuid4()}"
    runs: list[datetime] = []

    def work(moment: datetime) -> str:
        runs.append(moment)
        reached = datetime.fromisoformat(get_position(name) or "2026-01-01T00:00:00+00:00")
        save_position(name, min(moment, reached + (moment - reached) / 2).isoformat())
        return ""

    with hold_lease(name):
        save_position(name, (now() - timedelta(hours=1)).isoformat())
    catch_up(Job(name, timedelta(seconds=1), work))
    assert len(runs) > 3
    assert now() - datetime.fromisoformat(get_position(name)) < timedelta(minutes=3)
    fails = Job(f"test {uuid4()}", timedelta(seconds=1), Mock(side_effect=ValueError))
    catch_up(fails)


def test_x559_the_lease_of_a_run_that_was_killed_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = Mock(return_value="")
    job = Job(f"test {uuid4()}", timedelta(seconds=1), work)
    with ExitStack() as killed:
        killed.enter_context(hold_lease(job.name))
        monkeypatch.setattr(leases, "sleep", lambda seconds: killed.close())
        catch_up(job)
    work.assert_called_once()


def test_x559_the_command_says_what_it_needs() -> None:
    with pytest.raises(CommandError, match="not restored"):
        call_command("reconcile_restore")
    with pytest.raises(CommandError, match="and zone"):
        call_command("reconcile_restore", "--since", "2026-11-27T18:00:00")
