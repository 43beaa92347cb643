"""Transfers between warehouses: units leave once and arrive once, whoever dies on the way and whoever says so twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from cassandra_db import CassandraUnavailable, statements
from cassandra_db.session import get_session
from consistency.findings import Scope
from inventory import operations, queries
from inventory.entities import LEAVING, StockTransfer, WantedLine
from inventory.errors import NotEnoughAvailable, TooManyTransfers, TransferRefused
from inventory.operations import transfers
from inventory.queries import get_stock_numbers, get_transfer
from tests.consistency.test_check_consistency import cql, found, repair
from tests.factories import make_product
from tests.lost_answers import AnswerLosingSession
from tests.orders.crashes import kill_at_write, record_writes
from tests.reads import existing
from tests.threads import map_at_once


def make_transfer(units: int = 4, stock: int = 10) -> StockTransfer:
    """A transfer of a product's only variant from Berlin to Cork, where there never was any; nothing of it is done."""
    product = make_product(stock=stock)
    variant_id = product.variants[0].variant_id
    # Not in the same millisecond as the receipt, beside which it stands in the history.
    now = datetime.now(UTC) + timedelta(milliseconds=1)
    return StockTransfer(
        *(uuid4(), product.product_id, variant_id, "berlin", "cork", units),
        reason="for the shop window",
        state=LEAVING,
        actor="Wim",
        started_at=now,
    )


def end(transfer: StockTransfer, warehouse: str = "cork") -> StockTransfer:
    stored = existing(get_transfer(transfer.transfer_id))
    return operations.end_transfer(stored, warehouse, "Cem", datetime.now(UTC))


def on_hand(transfer: StockTransfer) -> tuple[int, int]:
    berlin, cork = (get_stock_numbers(transfer.variant_id, each) for each in ("berlin", "cork"))
    return berlin.on_hand, cork.on_hand


def scope(*sent: StockTransfer) -> Scope:
    return Scope(
        transfers=frozenset(each.transfer_id for each in sent),
        variants=frozenset(each.variant_id for each in sent),
        products=frozenset(each.product_id for each in sent),
    )


def is_open(transfer: StockTransfer) -> bool:
    rows = queries.prefetch_open_transfers().rows()
    return transfer.transfer_id in {row.transfer_id for row in rows}


def kinds(variant_id: UUID) -> list[tuple[str, str, int, str]]:
    """The history, the newest first."""
    rows, _ = queries.list_stock_history(variant_id)
    return [(row.kind, row.warehouse_id, row.units, row.actor or "") for row in rows]


def test_x151_units_leave_are_in_transit_and_arrive_and_each_form_counts_once() -> None:
    transfer = make_transfer()
    for _ in range(2):
        assert operations.start_transfer(transfer).state == "in_transit"
        assert (on_hand(transfer), is_open(transfer)) == ((6, 0), True)
    # Nobody can buy what is in transit.
    wanted = [WantedLine(1, transfer.product_id, transfer.variant_id, 7)]
    with pytest.raises(Exception, match="not enough"):
        operations.reserve_stock(uuid4(), wanted, datetime.now(UTC))
    for _ in range(2):
        assert end(transfer).state == "arrived"
        assert (on_hand(transfer), is_open(transfer)) == ((6, 4), False)
    with pytest.raises(TransferRefused):
        end(transfer, "berlin")
    assert operations.start_transfer(transfer).state == "arrived", "the first form, once more"
    assert (on_hand(transfer), is_open(transfer)) == ((6, 4), False)
    with pytest.raises(TransferRefused):
        operations.start_transfer(replace(transfer, units=5))
    assert kinds(transfer.variant_id)[:2] == [
        ("transferred", "cork", 4, "Cem"),
        ("transferred", "berlin", -4, "Wim"),
    ]
    assert operations.rebuild_stock_numbers(transfer.variant_id, "berlin")[1].received == 6
    assert found(scope(transfer), "I1", "I13", "I27", "I28") == []


def test_x151_what_is_called_off_is_back_and_too_few_units_send_nothing() -> None:
    back, short = make_transfer(), make_transfer(units=11)
    operations.start_transfer(back)
    assert end(back, "berlin").arrived_in == "berlin"
    assert (on_hand(back), is_open(back)) == ((10, 0), False)
    for available in (10, 15):
        with pytest.raises(NotEnoughAvailable) as refused:
            operations.start_transfer(short)
        assert refused.value.available == available
        # It never leaves, also when there are enough later: somebody has read that it did not.
        receipt = (short.product_id, short.variant_id, "berlin", 5, 3, short.product_id)
        operations.receive_stock(*receipt, datetime.now(UTC))
        operations.copy_stock(short.product_id)
    assert (on_hand(short), is_open(short)) == ((15, 0), False)
    with pytest.raises(TransferRefused):
        end(short)
    for wrong in (replace(back, units=0), replace(back, destination="berlin")):
        with pytest.raises(ValueError, match="two warehouses"):
            operations.start_transfer(wrong)
    with pytest.raises(LookupError):
        operations.start_transfer(replace(back, source="cork", destination="berlin"))
    with pytest.raises(ValueError, match="does not arrive"):
        operations.end_transfer(back, "ahead", "Cem", datetime.now(UTC))
    assert found(scope(back, short), "I1", "I13", "I27", "I28") == []


def test_x151_a_retry_when_there_are_enough_does_not_send_what_was_too_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short, move = make_transfer(units=11), transfers._move

    def be_overtaken(*args: Any) -> StockTransfer:
        # Another process retries, before this one has stored that the transfer is refused.
        monkeypatch.setattr(transfers, "_move", move)
        receipt = (short.product_id, short.variant_id, "berlin", 5, 3, uuid4())
        operations.receive_stock(*receipt, datetime.now(UTC))
        operations.copy_stock(short.product_id)
        with pytest.raises(NotEnoughAvailable):
            operations.start_transfer(short)
        return move(*args)

    monkeypatch.setattr(transfers, "_move", be_overtaken)
    with pytest.raises(NotEnoughAvailable):
        operations.start_transfer(short)
    assert (on_hand(short), is_open(short)) == ((15, 0), False)
    assert found(scope(short), "I1", "I13", "I27", "I28") == []


def test_x151_units_arrive_also_where_more_is_promised_than_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transfer, lost = make_transfer(), make_transfer()
    for each in (transfer, lost):
        operations.open_stock_item(each.product_id, each.variant_id, "cork", 3)
        cql(
            "UPDATE inventory SET available = -3, committed = 3 WHERE variant_id = %s AND warehouse_id = 'cork'",
            each.variant_id,
        )
        operations.start_transfer(each)
    assert end(transfer).state == "arrived"
    assert get_stock_numbers(transfer.variant_id, "cork").available == 1
    # What can't be booked has not arrived, and nobody is told that it has.
    with monkeypatch.context() as patched:
        patched.setattr(transfers, "book_leg", lambda *_: "")
        with pytest.raises(CassandraUnavailable):
            end(lost)
    stored = existing(get_transfer(lost.transfer_id))
    assert (stored.state, is_open(lost)) == ("arriving", True)
    assert operations.advance_open_transfers(datetime.now(UTC) + timedelta(minutes=10))
    assert (on_hand(lost), is_open(lost)) == ((6, 4), False)


def test_x151_more_than_the_lists_can_show_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_transfer(), make_transfer()
    operations.start_transfer(first)
    monkeypatch.setattr(transfers, "MAX_OPEN_TRANSFERS", 1)
    with pytest.raises(TooManyTransfers):
        operations.start_transfer(second)
    assert get_transfer(second.transfer_id) is None
    assert operations.start_transfer(first).state == "in_transit", "it is one of them"


def test_x151_arrived_and_called_off_at_once_is_one_of_both() -> None:
    transfer = make_transfer()
    operations.start_transfer(transfer)

    def come(warehouse: str) -> bool:
        try:
            return bool(end(transfer, warehouse))
        except TransferRefused:
            return False

    said = map_at_once(come, ["berlin", "cork"] * 2, 4)
    assert said.count(True) == 2, "both clicks of one button"
    assert on_hand(transfer) in ((10, 0), (6, 4))
    assert found(scope(transfer), "I1", "I27", "I28") == []


def test_x151_i27_a_transfer_that_is_killed_at_any_write_is_finished_and_loses_no_unit() -> None:
    def move(transfer: StockTransfer) -> None:
        operations.start_transfer(transfer)
        end(transfer)

    recorded = make_transfer()
    writes = record_writes(lambda: move(recorded))
    assert len(writes) >= 12
    killed: list[StockTransfer] = []
    later = datetime.now(UTC) + timedelta(minutes=10)
    for target in writes:
        transfer = make_transfer()
        assert kill_at_write(target, lambda transfer=transfer: move(transfer))  # type: ignore[misc]
        stored = get_transfer(transfer.transfer_id)
        # The worker finishes what has been begun, at whatever it was cut off.
        if is_open(transfer):
            operations.advance_open_transfers(later)
            stored = existing(get_transfer(transfer.transfer_id))
            assert stored.state in ("in_transit", "arrived"), target
            assert on_hand(transfer) == ((6, 0) if stored.state == "in_transit" else (6, 4)), target
        elif stored is None or stored.state == LEAVING:
            assert on_hand(transfer) == (10, 0), target
        # The pages know it, too, and who sends the form again, and says that they have come, finds it done.
        assert found(scope(transfer), "I1", "I13", "I27", "I28") == [], target
        move(transfer)
        assert (on_hand(transfer), is_open(transfer)) == ((6, 4), False), target
        killed.append(transfer)
    assert found(scope(*killed), "I1", "I13", "I27", "I28") == []


def test_x151_answers_that_get_lost_move_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    transfer = make_transfer()
    flaky = AnswerLosingSession(get_session())
    with monkeypatch.context() as patched:
        patched.setattr(statements, "get_session", lambda: flaky)
        operations.start_transfer(transfer)
        end(transfer)
    assert flaky.lost_count >= 6
    assert (on_hand(transfer), is_open(transfer)) == ((6, 4), False)
    assert found(scope(transfer), "I1", "I27", "I28") == []


def test_i27_i28_what_is_lost_between_two_warehouses_or_in_no_history_is_named() -> None:
    unseen, wrong, half = make_transfer(), make_transfer(), make_transfer()
    for each in (unseen, wrong, half):
        operations.start_transfer(each)
    transfers.DELETE_OPEN_TRANSFER.run(shop=queries.SHOP, transfer_id=unseen.transfer_id)
    cql("UPDATE stock_transfers SET state = 'arrived' WHERE transfer_id = %s", wrong.transfer_id)
    cql(
        "UPDATE stock_transfers SET state = 'leaving', started_at = '2026-01-01' WHERE transfer_id = %s",
        half.transfer_id,
    )
    named = {
        unseen: "is in transit and nobody sees it",
        wrong: "not all that has left is in transit or has arrived (4 left, 0 in transit, 0 arrived: arrived)",
        half: "was left half done (4 left, 0 in transit, 0 arrived: leaving)",
    }
    for transfer, fault in named.items():
        what = f"I27 transfer {transfer.transfer_id} of variant {transfer.variant_id}: {fault}"
        assert found(scope(transfer), "I27") == [what]
        assert repair(scope(transfer), "I27").is_clean == (transfer is not wrong)
    assert is_open(unseen)
    cql("DELETE FROM stock_transfers WHERE transfer_id = %s", wrong.transfer_id)
    (named_one,) = found(scope(wrong), "I27")
    assert named_one.endswith("has left, and is none")
    cql("DELETE FROM stock_history WHERE variant_id = %s", unseen.variant_id)
    missing = found(scope(unseen), "I28")
    assert len(missing) == 2, "what arrived first, and what has left"
    assert all("is in the ledger, and not in the history" in each for each in missing)
    assert repair(scope(unseen), "I28").is_clean
    assert len(kinds(unseen.variant_id)) == 2
