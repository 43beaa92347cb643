"""A process that dies at a write of an order: the worker finds the order, and completes it or leaves nothing of it.

Dying after a write is the same as dying before the next one: so only one of the two is tested. Each distinct statement's
first write is tested by `make test`, all others by `make prove`, and each of them again by `make prove LONG=1`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from uuid import uuid4

import pytest

from cassandra_db import read
from catalogue.entities import Product
from demo.testbank import cards
from demo.testbank import operations as bank
from demo.testbank import queries as bank_queries
from mail import queries as mails
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.states import ABANDONED, BOARD_COLUMNS
from orders.lifecycle.transitions import Transition
from orders.operations import OrderDraft, PaymentRedirect
from promotions.queries import CODE, get_promotion
from promotions.rules import code_key
from tests.clock import now
from tests.factories import make_draft, make_product, make_stock
from tests.orders.attempts import list_attempts
from tests.orders.consistency_checks import (
    assert_order_consistent,
    assert_stock_adds_up,
    get_stock_numbers,
)
from tests.orders.crashes import (
    Write,
    expire_claim,
    first_writes,
    kill_at_write,
    record_writes,
    run_worker,
)
from tests.promotions.test_vouchers import make_voucher, used
from tests.proof import LONG, ProofReport
from tests.reads import existing

ORIGIN = "http://testserver"
SINCE = read(
    "test",
    "SELECT order_id FROM orders_by_status WHERE status = :status AND order_date = :day AND placed_at >= :since",
)


def listed() -> Product:
    return make_product(listed=True)


def sort_by_variant_id(*products: Product) -> tuple[Product, ...]:
    return tuple(sorted(products, key=lambda product: product.variants[0].variant_id))


@dataclass
class Case:
    """An order to be placed, with a voucher, of two products, one of which has to be sent from two warehouses.

    The other is reserved first, so that it has to be released when the first plan fails. Both are in lists, whose cards
    are updated when few are left.
    """

    began: datetime = field(default_factory=now)
    products: tuple[Product, ...] = field(
        default_factory=lambda: sort_by_variant_id(listed(), listed())
    )
    code: str = field(default_factory=lambda: make_voucher(uses=5))
    email: str = field(default_factory=lambda: f"crash-{uuid4().hex}@example.com")
    draft: OrderDraft = field(init=False)

    def __post_init__(self) -> None:
        for product in self.products:
            make_stock(
                2, cork=2, product_id=product.product_id, variant_id=product.variants[0].variant_id
            )
        lines = zip(self.products, (1, 3), strict=True)
        code = existing(get_promotion(CODE, code_key(self.code)))
        draft = make_draft(*lines, user_id=uuid4(), email=self.email)
        self.draft = replace(draft, voucher=self.code, promotions=(code,))

    @property
    def order(self) -> Order:
        return existing(queries.get_order(self.draft.order_id))

    # ---- what happens to it

    def placed(self) -> Order:
        return operations.place_order(self.draft, now())

    def started(self) -> PaymentRedirect:
        return operations.start_payment(self.placed(), ORIGIN, now())

    def card_given(self) -> PaymentRedirect:
        started = self.started()
        bank.submit_card(started.payment_id, cards.APPROVED, now())
        return started

    def settled(self) -> Order:
        (attempt,) = list_attempts(self.draft.order_id)
        return existing(operations.settle_payment(self.draft.order_id, attempt.payment_id, now()))

    def paid(self) -> Order:
        self.card_given()
        return self.settled()

    def run_out(self) -> None:
        """It is not paid, and the worker runs."""
        run_worker(self.began, now() + timedelta(minutes=15), self.draft.order_id)

    def run_out_then_paid_for(self) -> None:
        started = self.started()
        self.run_out()
        bank.submit_card(started.payment_id, cards.APPROVED, now())

    def cancelled(self) -> Order:
        return operations.transition_order(
            self.order, Transition("cancelled", actor="staff", at=now())
        )

    def sent(self) -> Order:
        """Ship a parcel from each warehouse; both arrive."""
        order = self.order
        for warehouse in ("berlin", "cork"):
            lines = {
                each.line_number: each.quantity
                for each in order.list_allocations(queries.list_items(order))
                if each.warehouse_id == warehouse
            }
            order = operations.pack_parcel(order, warehouse, lines, actor="staff", now=now())
        for parcel in order.parcels():
            order = operations.ship_parcel(
                order, parcel.parcel_id, tracking=f"T {order.number}", actor="staff", now=now()
            )
        for parcel in order.parcels():
            order = operations.mark_parcel_delivered(
                order, parcel.parcel_id, actor="staff", now=now()
            )
        return order

    def paid_and_sent(self) -> None:
        self.paid()
        self.sent()

    def sent_back(self) -> Order:
        """Return two of the three units; one of them is restocked, and both are refunded."""
        order = operations.request_return(
            self.order, {2: 2}, "too many", actor="shopper", now=now()
        )
        order = operations.approve_return(order, "1", actor="staff", now=now())
        order = operations.receive_return(order, "1", {2: 1}, actor="staff", now=now())
        amount = queries.list_items(order)[1].units_total(2)
        return operations.decide_refund(
            order, amount, {2: 2}, "return", actor="staff", now=now(), return_id="1"
        )

    # ---- what is left afterwards

    def whole(self) -> Order | None:
        """Check that all of it is consistent, and return the order, or None if nothing at all is left of it."""
        order = queries.get_order(self.draft.order_id)
        variants = [product.variants[0].variant_id for product in self.products]
        if order is None or order.state == ABANDONED:
            numbers = [assert_stock_adds_up(variant_id) for variant_id in variants]
            assert [(each["reserved"], each["available"]) for each in numbers] == [(0, 4), (0, 4)]
            self._nothing_left()
            assert used(self.code) == 0
            return None
        order = assert_order_consistent(order.order_id)  # with its stock items
        numbers = [get_stock_numbers(variant_id) for variant_id in variants]
        assert all(each["reserved"] == 0 for each in numbers)
        restocked_units = sum((each.restock or {}).get(2, 0) for each in order.returns)
        is_confirmed = order.state in ("confirmed", "closed")
        assert [each["available"] for each in numbers] == (
            [3, 1 + restocked_units] if is_confirmed else [4, 4]
        )
        assert used(self.code) == (1 if is_confirmed else 0)
        written = [mail.text for mail in mails.list_recipient_mails(self.email)]
        assert len(written) == len(set(written)), written
        self._money_is_the_banks(order)
        return order

    def _nothing_left(self) -> None:
        assert not queries.ITEMS.all(order_id=self.draft.order_id)
        assert not mails.list_recipient_mails(self.email)
        for column in BOARD_COLUMNS:
            rows = SINCE.all(status=column, day=self.began.date(), since=self.began)
            assert self.draft.order_id not in {row.order_id for row in rows}

    def _money_is_the_banks(self, order: Order) -> None:
        """Check that the order's money is the same as at the bank."""
        bank_rows = [
            bank_queries.get_payment(each.payment_id) for each in list_attempts(order.order_id)
        ]
        taken = sum((row.captured or 0) - (row.refunded or 0) for row in bank_rows if row)
        assert taken == int((order.captured - order.refunded).amount * 100)
        assert not any(row.state == "authorized" for row in bank_rows if row)


@dataclass(frozen=True)
class Journey:
    """What has happened to an order before, what is done while the process dies, and how it may end."""

    before: Callable[[Case], object]
    act: Callable[[Case], object]
    ends: set[str]
    writes: int  # at least so many, or the test does not see them any more
    minutes: int = 16  # after which all that was due is done


NOTHING, UNPAID, PAID = "nothing", "expired voided unfulfilled", "confirmed paid unfulfilled"
BACK = "confirmed partially_refunded delivered"
JOURNEYS = {
    "placed": Journey(lambda case: None, Case.placed, {NOTHING, UNPAID}, 35),
    "paid": Journey(Case.placed, Case.paid, {UNPAID, PAID}, 23),
    "not paid in time": Journey(Case.placed, Case.run_out, {UNPAID}, 35),
    "paid too late": Journey(Case.run_out_then_paid_for, Case.settled, {PAID}, 38, minutes=40),
    "given up": Journey(Case.placed, Case.cancelled, {UNPAID, "cancelled voided unfulfilled"}, 22),
    "cancelled and refunded": Journey(
        Case.paid, Case.cancelled, {PAID, "cancelled refunded unfulfilled"}, 44
    ),
    "sent": Journey(
        Case.paid,
        Case.sent,
        {
            f"confirmed paid {word}"
            for word in ("unfulfilled", "partially_shipped", "shipped", "delivered")
        },
        74,
    ),
    "sent back": Journey(
        Case.paid_and_sent, Case.sent_back, {"confirmed paid delivered", BACK}, 52
    ),
}


def get_end(order: Order | None) -> str:
    return f"{order.state} {order.payment} {order.fulfilment}" if order else NOTHING


def end_case(case: Case, journey: Journey) -> str:
    """Let the worker look after an order, check that all of it is consistent, and return how it has ended."""
    expire_claim(case.draft.order_id)
    run_worker(case.began, now() + timedelta(minutes=journey.minutes), case.draft.order_id)
    return get_end(case.whole())


def further_writes(writes: Sequence[Write]) -> list[Write]:
    """Return the writes at which `make test` kills no process; with LONG=1 all."""
    return [write for write in writes if LONG or write.occurrence > 1]


@cache
def record_journey(name: str) -> tuple[list[Write], str]:
    """Let nobody die on a journey, once for all who ask; return its writes and how it ends."""
    case, journey = Case(), JOURNEYS[name]
    journey.before(case)
    writes = record_writes(lambda: journey.act(case))
    end = end_case(case, journey)
    assert end in journey.ends, end
    return writes, end


def check_crashes(
    name: str,
    chosen: Callable[[Sequence[Write]], Sequence[Write]],
    report: ProofReport | None = None,
) -> None:
    """Kill the process at the chosen writes of a journey, each time with another order; in the end each is consistent."""
    journey, (writes, end) = JOURNEYS[name], record_journey(name)
    ends, wrong, died = Counter[str](), list[str](), 0
    if report:
        report.add_row("not killed", "all of it is done", end, is_match=True)
    targets = chosen(writes)
    for target in targets:
        case, end = Case(), ""
        journey.before(case)
        died += kill_at_write(target, lambda: journey.act(case))  # noqa: B023 called at once
        where = f"killed before it writes to {target.tables}, for the {target.occurrence}. time"
        try:
            ends[end := end_case(case, journey)] += 1
            assert end in journey.ends, end
        except AssertionError as error:
            wrong.append(f"{name}, {where}: {error}")
        if report:
            report.add_row(
                where,
                "no answer: the process is dead",
                end or "does not fit together",
                is_match=end in journey.ends,
            )
    assert not wrong, "\n".join(wrong)
    assert len(writes) >= journey.writes, "they are not seen any more"
    # Now and then a process waits for another and writes something more, or less, than the first time.
    assert died >= len(targets) * 0.9
    print(
        f"{name}: {len(writes)} writes, killed at {died} of {len(targets)}, whole each time: {dict(ends)}"
    )


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("name", JOURNEYS)
def test_killed_at_each_statements_first_write(name: str, half: int) -> None:
    check_crashes(name, lambda writes: first_writes(writes)[half::2])


@pytest.mark.proof
@pytest.mark.timeout(600)
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("name", JOURNEYS)
def test_killed_at_every_further_write(name: str, half: int, proof_report: ProofReport) -> None:
    proof_report.state_claim(
        f"A process dies at each write of an order that is {name}, part {half + 1} of 2",
        "The first write of each statement is left to `make test`. Each time another order, and the process dies before this write; then the worker looks. The order is whole, or nothing of it is left: its lines, its"
        " units in stock, its copies, its code, its mails and the bank's money fit together (`manage.py audit`).",
    )
    check_crashes(name, lambda writes: further_writes(writes)[half::2], proof_report)


def check_resubmit(
    chosen: Callable[[Sequence[Write]], Sequence[Write]], report: ProofReport | None = None
) -> None:
    """Kill the process at the chosen writes of a checkout, and let its shopper submit again at once."""
    wrong: list[str] = []
    writes, _ = record_journey("placed")
    for target in chosen(writes):
        case = Case()
        kill_at_write(target, case.placed)
        expire_claim(case.draft.order_id)
        order = case.paid()
        run_worker(case.began, now() + timedelta(minutes=16), case.draft.order_id)
        end = ""
        try:
            end = get_end(case.whole())
            assert end == PAID
            assert order.order_id == case.draft.order_id
        except AssertionError as error:
            wrong.append(f"killed at {target}: {error}")
        if report:
            report.add_row(
                f"killed before it writes to {target.tables}, and submitted again",
                f"paid, order {order.number}",
                end,
                is_match=end == PAID,
            )
    assert not wrong, "\n".join(wrong)
    assert len(writes) >= 35, "they are not seen any more"


def test_who_was_cut_off_submits_again_and_has_one_order() -> None:
    check_resubmit(first_writes)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_who_was_cut_off_at_a_further_write_submits_again_and_has_one_order(
    proof_report: ProofReport,
) -> None:
    proof_report.state_claim(
        "Who was cut off submits again",
        "The process dies at a write of a checkout, each time of another one, and its shopper submits again at once: there is one order, paid once, and no other.",
    )
    check_resubmit(further_writes, proof_report)
