"""What staff and the jobs do with orders, also at once, killed, and while the bank is away."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from unittest.mock import Mock, patch
from uuid import UUID, uuid4, uuid5

import pytest
import time_machine
from moneyed import Money

from accounts.addresses import Address
from cassandra_db import current_microseconds, write
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank.gateway import TestBank
from inventory.operations.reservations import DUE_EXPIRIES
from jobs.leases import get_position, hold_lease
from jobs.minutes import floor_to_minute
from jobs.rows import FIRST_RETRY_DELAY, collect_failed_rows
from jobs.shards import Shard
from mail import queries as mails
from orders import board_queries, jobs, operations, queries
from orders.lifecycle.errors import OrderChanged, TransitionRefused
from orders.lifecycle.transitions import Transition
from orders.operations import copies, effects
from orders.operations.pending_effects import DUE_EFFECTS, has_effects
from orders.operations.user_stats import DUE_USER_STATS
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.methods import TRANSFER
from tests.clock import now
from tests.factories import make_draft, make_order, make_stocked_product
from tests.orders.attempts import ORIGIN, settle
from tests.orders.consistency_checks import (
    assert_order_consistent,
    assert_stock_adds_up,
    get_stock_numbers,
)
from tests.orders.crashes import kill_in, run_worker_after
from tests.orders.reads import fresh, get_bank_state
from tests.orders.sweeps import apply_pending_effects
from tests.shards import ItemsShard, SingleItemShard
from tests.threads import map_at_once

# ---- Staff


def test_the_whole_way_to_the_delivery() -> None:
    order = make_order(quantity=2, user_id=uuid4(), paid=True)
    for kind in ("packed", "shipped", "delivered", "closed"):
        order = operations.transition_order(order, Transition(kind, actor="Ann", at=now()))
        assert_order_consistent(order.order_id)
    assert assert_stock_adds_up(queries.list_items(order)[0].variant_id)["shipped"] == 2
    assert [event.kind for event in order.events] == [
        "closed",
        "delivered",
        "shipped",
        "packed",
        "captured",
        "authorized",
        "payment_started",
        "placed",
    ]
    assert "closed" not in {event.kind for event in order.history}


def test_of_two_at_once_one_wins_and_the_other_reads_who() -> None:
    order = make_order(paid=True)

    lost: list[tuple[str, OrderChanged]] = []

    def transition(who: str) -> str:
        try:
            operations.transition_order(
                order, Transition("held" if who == "Ann" else "packed", actor=who, at=now())
            )
        except OrderChanged as stale:
            lost.append((who, stale))
            return "lost"
        return "won"

    assert sorted(map_at_once(transition, ["Ann", "Bob"])) == ["lost", "won"]
    ((loser, stale),) = lost
    assert stale.event
    assert stale.event.actor != loser
    assert stale.order.version == order.version + 1
    assert_order_consistent(order.order_id)


def test_a_cancelled_order_gives_back_the_units_and_the_money() -> None:
    order = make_order(quantity=2, stock=5, paid=True)
    assert order.payment_id
    operations.transition_order(
        order, Transition("cancelled", actor="Ann", at=now(), note="Changed their mind")
    )
    done = assert_order_consistent(order.order_id)
    assert done.customer_label == "Cancelled and refunded"
    assert get_bank_state(order.payment_id) == "refunded"
    assert assert_stock_adds_up(queries.list_items(done)[0].variant_id)["available"] == 5


def test_killed_while_cancelling(subtests: pytest.Subtests) -> None:
    for name in ("sync_stock", "settle_captures_and_refunds", "write_copies"):
        order = make_order(quantity=2, stock=5, paid=True)
        cancel = partial(
            operations.transition_order, order, Transition("cancelled", actor="Ann", at=now())
        )
        with subtests.test(name):
            kill_in(effects, name, cancel)
            run_worker_after(order.order_id, 3)
            assert (
                assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"
            )


def test_two_at_once_may_return_the_money(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_order(paid=True)
    refund = TestBank.refund
    raced: list[str] = []

    def refund_twice(self: TestBank, reference: str, amount: Money, key: str) -> None:
        refund(self, reference, amount, key)
        if not raced:
            raced.append(reference)
            operations.apply_effects(order.order_id, now())  # as the worker may

    monkeypatch.setattr(TestBank, "refund", refund_twice)
    assert (
        operations.transition_order(
            order, Transition("cancelled", actor="Ann", at=now())
        ).customer_label
        == "Cancelled and refunded"
    )
    assert raced
    assert [event.kind for event in assert_order_consistent(order.order_id).events].count(
        "refunded"
    ) == 1


def test_with_the_bank_away_the_rest_is_done_and_the_money_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order(quantity=2, stock=5, paid=True)
    with monkeypatch.context() as patch:
        patch.setattr(TestBank, "refund", Mock(side_effect=ConnectionError("no bank")))
        operations.transition_order(order, Transition("cancelled", actor="Ann", at=now()))
        assert assert_order_consistent(order.order_id).customer_label == "Cancelled"
        with pytest.raises(GatewayUnavailable):
            operations.apply_effects(order.order_id, now())
        run_worker_after(order.order_id, 2)  # still away: the worker tries again
    run_worker_after(order.order_id, 12)
    assert assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"


def test_with_another_bank_than_it_was_paid_at_all_but_the_money_is_done(
    subtests: pytest.Subtests,
) -> None:
    for error in (
        LookupError("no such payment"),
        ValueError("nothing was taken"),
        GatewayMissing(),
    ):
        with subtests.test(error=error):
            order = make_order(quantity=2, stock=5, paid=True)
            with patch.object(TestBank, "refund", side_effect=error):
                operations.transition_order(
                    order, Transition("cancelled", actor="Ann", at=now()), with_effects=False
                )
                with pytest.raises(GatewayUnavailable):
                    operations.apply_effects(order.order_id, now())
            assert assert_order_consistent(order.order_id).customer_label == "Cancelled", (
                "its copies and its stock are right"
            )
            assert get_stock_numbers(queries.list_items(order)[0].variant_id)["available"] == 5
            run_worker_after(order.order_id, 12)
            assert (
                assert_order_consistent(order.order_id).customer_label == "Cancelled and refunded"
            )


def test_an_order_whose_bank_is_no_longer_ours_expires_and_is_paid_late_if_it_answers(
    subtests: pytest.Subtests,
) -> None:
    for error in (LookupError("no such payment"), GatewayMissing()):
        with subtests.test(error=error):
            order = make_order(quantity=3, stock=5)
            started = operations.start_payment(order, ORIGIN, now())
            bank.submit_card(started.payment_id, cards.APPROVED, now())
            with patch.object(TestBank, "get_outcome", side_effect=error):
                run_worker_after(order.order_id, 12)
                assert assert_order_consistent(order.order_id).customer_label == "Not paid in time"
                assert get_stock_numbers(queries.list_items(order)[0].variant_id)["available"] == 5
            settle(order, started.payment_id)()
            assert assert_order_consistent(order.order_id).customer_label == "Confirmed"


def test_a_bank_that_only_does_not_answer_ends_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    order = make_order()
    started = operations.start_payment(order, ORIGIN, now())
    bank.submit_card(started.payment_id, cards.APPROVED, now())
    monkeypatch.setattr(TestBank, "get_outcome", Mock(side_effect=ConnectionError("no bank")))
    run_worker_after(order.order_id, 12)
    assert fresh(order).state == "pending_payment"


def test_what_needs_no_bank_is_done_while_a_payment_cannot_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = make_order()
    operations.start_payment(order, ORIGIN, now())
    done: list[UUID] = []
    monkeypatch.setattr(TestBank, "get_outcome", Mock(side_effect=ConnectionError("no bank")))
    monkeypatch.setattr(operations, "apply_effects", lambda order_id, _: done.append(order_id))
    with pytest.raises(GatewayUnavailable):
        jobs.recover_order(order.order_id, now())
    assert done == [order.order_id]


def test_what_is_not_allowed_is_refused() -> None:
    order = make_order(paid=True)
    with pytest.raises(TransitionRefused):
        operations.transition_order(order, Transition("delivered", actor="Ann", at=now()))
    assert fresh(order) == order


def test_a_note_makes_nobody_stale() -> None:
    order = make_order(paid=True)
    noted = operations.add_note(order, "Called; wants blue ribbon", actor="Ann", now=now())
    assert noted.events[0].note == "Called; wants blue ribbon"
    assert noted.history == order.history
    assert operations.transition_order(
        order, Transition("packed", actor="Bob", at=now())
    ).has_packed_parcel


def test_events_stand_in_order_whatever_the_clock_says() -> None:
    order = make_order(paid=True)
    order = operations.transition_order(
        order, Transition("packed", actor="Ann", at=order.placed_at - timedelta(hours=1))
    )
    assert order.events[0].kind == "packed"


# ---- The board


def test_a_late_copy_of_an_older_version_loses() -> None:
    order = make_order(paid=True)
    later = operations.transition_order(order, Transition("held", actor="Ann", at=now()))
    copies.write_copies(order)
    assert assert_order_consistent(later.order_id).board_column == "on_hold"


def test_the_board_pages_over_days_the_oldest_first() -> None:
    start = datetime(2019, 3, 1, 23, tzinfo=UTC)
    order_ids = [
        make_order(now=start + timedelta(hours=9 * n), paid=True).order_id for n in range(5)
    ]
    seen: list[UUID] = []
    after = ""
    while not set(order_ids) <= set(seen):
        entries, after = board_queries.list_board_orders("to_pack", after, limit=2)
        seen += [entry.order_id for entry in entries]
        assert after or set(order_ids) <= set(seen)
    assert [order_id for order_id in seen if order_id in order_ids] == order_ids
    assert len(seen) == len(set(seen))
    counts = operations.count_board_orders().numbers
    assert counts["to_pack"].number >= 5


def test_counts_are_exact_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    make_order()
    before = operations.count_board_orders().numbers["to_pay"]
    make_order()
    assert operations.count_board_orders().numbers["to_pay"].number == before.number + 1
    monkeypatch.setattr(board_queries, "MAX_COUNTED", 1)
    assert str(operations.count_board_orders().numbers["to_pay"]) == "1+"


def test_an_emptied_day_is_forgotten_later_and_a_fresh_one_stays() -> None:
    day = datetime(2018, 7, 1, 12, tzinfo=UTC)
    order = make_order(now=day, paid=True)
    operations.transition_order(order, Transition("packed", actor="Ann", at=day))
    assert day.date() in board_queries.list_board_days("to_pay")
    operations.delete_empty_days(now())
    assert day.date() in board_queries.list_board_days("to_pay"), (
        "it was written less than an hour ago"
    )
    old = current_microseconds() - 2 * 3600 * 10**6
    stale = write(
        "test",
        "INSERT INTO order_days_by_status (status, order_date) VALUES (:status, :day) USING TIMESTAMP :at",
    )
    stale.run(status="on_hold", day=day.date() - timedelta(days=9), at=old)
    assert operations.delete_empty_days(now()) >= 1
    assert day.date() - timedelta(days=9) not in board_queries.list_board_days("on_hold")
    assert day.date() in board_queries.list_board_days("to_pack")


# ---- The jobs


def test_the_jobs_remember_how_far_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.due_rows.FIRST_LOOK_BACK", timedelta(minutes=20))
    order = make_order()
    moment = now()
    orders_shard, reservations_shard = (
        SingleItemShard(f"{name} {order.order_id}", item_id=order.order_id)
        for name in ("orders", "holds")
    )
    with hold_lease(orders_shard.job_name), hold_lease(reservations_shard.job_name):
        jobs.sweep_pending_effects(moment, orders_shard)
        jobs.sweep_expired_reservations(moment, reservations_shard)
        assert datetime.fromisoformat(get_position(orders_shard.job_name)) <= moment
        jobs.sweep_pending_effects(moment, orders_shard)
    assert fresh(order).customer_label == "Waiting for payment"
    assert jobs.sweep_empty_board_days(moment) is not None


def test_one_order_that_fails_does_not_keep_others_from_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, other = make_order(), make_order()
    pending = [operations.record_pending_effects(order.order_id) for order in (broken, other)]
    seen = []

    def recover(order_id: UUID, at: datetime) -> None:
        seen.append(order_id)
        if order_id == broken.order_id:
            raise ValueError("broken")

    monkeypatch.setattr(jobs, "recover_order", recover)
    at = now()
    # Nor does it keep the worker at its minute: it is postponed.
    ours = ItemsShard("orders", item_ids=frozenset({broken.order_id, other.order_id}))
    minutes = [pending[0].minute, pending[1].minute]
    with collect_failed_rows():
        assert not apply_pending_effects(minutes, at, ours)
    assert {broken.order_id, other.order_id} == set(seen)
    remaining = {row.order_id for row in DUE_EFFECTS.list_rows(minutes)}
    assert not {broken.order_id, other.order_id} & remaining
    assert has_pending_effect(floor_to_minute(at + FIRST_RETRY_DELAY), broken.order_id)


def test_pending_effects_of_the_last_minute_are_left_alone() -> None:
    # A pending effect of 12:00:59 may be of an event that is written at 12:01:01.
    at, shard = now(), Shard(f"test {uuid4()}")
    for table in (DUE_EFFECTS, DUE_EXPIRIES, DUE_USER_STATS):
        with hold_lease(shard.job_name), table.sweep(at, shard) as sweep:
            assert sweep.partitions[-1] == floor_to_minute(at) - timedelta(minutes=2)


def test_dropping_pending_effects_spares_later_ones() -> None:
    order_id = uuid4()
    first = operations.record_pending_effects(order_id)
    second = operations.record_pending_effects(order_id, first.minute)
    operations.clear_pending_effects(first)
    assert has_pending_effect(second.minute, order_id)
    operations.clear_pending_effects(second)
    assert not has_pending_effect(second.minute, order_id)


def has_pending_effect(minute: datetime, order_id: UUID) -> bool:
    return order_id in {row.order_id for row in DUE_EFFECTS.list_rows([minute])}


def are_effects_pending(minute: datetime, order_id: UUID) -> bool:
    return any(
        row.order_id == order_id and has_effects(row) for row in DUE_EFFECTS.list_rows([minute])
    )


def test_who_is_too_late_leaves_the_pending_effects_of_who_was_faster() -> None:
    order = make_order(paid=True)
    moment = now()
    faster = operations.transition_order(
        order, Transition("held", actor="Ann", at=moment), with_effects=False
    )
    with pytest.raises(OrderChanged):
        operations.transition_order(order, Transition("held", actor="Bob", at=moment))
    assert faster.state == "on_hold"
    assert any(
        has_pending_effect(floor_to_minute(moment + timedelta(minutes=n)), order.order_id)
        for n in (-1, 0, 1)
    )


def test_an_event_in_the_minute_of_a_later_look_spares_its_pending_effects() -> None:
    order_id = uuid4()
    with time_machine.travel(now() + timedelta(days=1), tick=False) as travel:
        later = operations.record_payment_inquiry(order_id, now())
        travel.move_to(later.minute + timedelta(seconds=59))
        assert not are_effects_pending(later.minute, order_id)
        event = operations.record_pending_effects(order_id)
        assert event.minute == later.minute
        assert are_effects_pending(later.minute, order_id)
        operations.clear_pending_effects(event)
        assert has_pending_effect(later.minute, order_id)
        assert not are_effects_pending(later.minute, order_id)
        # The worker, which processes all orders, comes two minutes later, whenever in its minute it was due.
        travel.move_to(later.minute + timedelta(minutes=2))
        apply_pending_effects([later.minute], now())
        assert not has_pending_effect(later.minute, order_id)


def test_the_worker_asks_no_bank_about_an_order_by_transfer() -> None:
    began = now()
    draft = make_draft((make_stocked_product(), 1))
    drafts = [draft, replace(draft, order_id=uuid4(), payment_method=TRANSFER)]
    by_card, by_transfer = (operations.place_order(each, began).order_id for each in drafts)
    due = {row.order_id for row in DUE_EFFECTS.list_between(began, now() + timedelta(minutes=3))}
    assert by_card in due
    assert by_transfer not in due


def test_an_old_order_writes_no_mail_and_takes_nothing_from_a_cart() -> None:
    order = make_order(paid=True, now=now() - timedelta(days=30))
    assert mails.get_mail(uuid5(order.order_id, "confirmed")) is None
    assert_order_consistent(order.order_id)


def test_an_address_is_kept_as_it_was() -> None:
    order = make_order()
    assert order.delivery_address == Address("Ada Lovelace", "Torstraße 1", "10115", "Berlin", "DE")
