"""Over which tax rates an order's payments and refunds are divided (X520)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from books.entities import PAYMENT, REFUND, BookEntry
from orders.lifecycle import balance
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TransitionRefused
from orders.lifecycle.items import Item
from orders.operations.books import build_entries
from pricing.money import to_minor_units
from tests.orders.paper_orders import apply_event, change_order, make_items, make_paper_order

STANDARD, REDUCED = Decimal(19), Decimal(7)


def make_pair(quantity: int = 3, cents: int = 1070) -> tuple[Item, ...]:
    """A line of the standard rate, and one of the reduced."""
    lamp, tin = make_items(2, quantity, cents=cents)
    return lamp, replace(tin, tax_class="reduced")


def pay(order: Order, cents: int) -> Order:
    details = {"payment_id": str(uuid4()), "amount": cents, "key": str(uuid4())}
    return apply_event(order, "captured", **details)


def refund(order: Order, cents: int, **details: object) -> Order:
    """Decide and send a refund."""
    named = {"refund": str(uuid4()), "amount": cents, "lines": {}, "reason": ""} | details
    return send(apply_event(order, "refund_owed", **named))


def send(order: Order) -> Order:
    for due in order.due_refunds:
        sources = balance.refund_sources(order, due.amount)
        parts = {str(payment): to_minor_units(part) for payment, part in sources.items()}
        cents = to_minor_units(due.amount)
        order = apply_event(order, "refunded", refund=due.refund_id, amount=cents, of=parts)
    return order


def gross(entry: BookEntry) -> dict[Decimal, int]:
    return {part.rate: part.gross for part in entry.amounts}


def add_up(entries: Sequence[BookEntry], kind: str) -> Counter[tuple[Decimal, str]]:
    """Return the net sums and the taxes of the entries of a kind, without zeros."""
    found = Counter[tuple[Decimal, str]]()
    for entry in entries:
        for part in entry.amounts if entry.kind == kind else ():
            found += Counter({(part.rate, "net"): part.net, (part.rate, "tax"): part.tax})
    return found


def test_x520_a_refund_has_the_rates_of_its_units_and_of_the_delivery() -> None:
    items = make_pair()
    whole = to_minor_units(make_paper_order(items).total)  # 21.40 and 4.90 at 19 %, 32.10 at 7 %
    paid = pay(apply_event(make_paper_order(items), "confirmed"), whole)
    cases: list[tuple[int, dict[str, Any], dict[Decimal, int]]] = [
        (1070, {"lines": {"2": 1}}, {REDUCED: 1070}),
        (490, {"delivery": True}, {STANDARD: 490}),
        (whole, {"lines": {"1": 2, "2": 3}, "delivery": True}, {STANDARD: 2630, REDUCED: 3210}),
        # More than its units are worth, and less.
        (1170, {"lines": {"2": 1}}, {STANDARD: 55, REDUCED: 1115}),
        (500, {"lines": {"2": 1}}, {REDUCED: 500}),
    ]
    for cents, details, expected in cases:
        assert gross(build_entries(refund(paid, cents, **details), items)[-1]) == expected
    # What went back for a rate does not go back again.
    after = refund(paid, 3210, lines={"2": 3})
    for lines in ({}, {"2": 1}):
        assert gross(build_entries(refund(after, 490, lines=lines), items)[-1]) == {STANDARD: 490}


@settings(max_examples=150)
@given(st.data())
def test_x520_an_order_paid_in_full_has_its_invoices_taxes_and_one_refunded_in_full_none(
    data: st.DataObject,
) -> None:
    items = make_pair(data.draw(st.integers(1, 4)), data.draw(st.integers(1, 2000)))
    order = apply_event(make_paper_order(items), "confirmed")
    taxes = {
        (part.rate, name): to_minor_units(amount)
        for part in order.taxes
        for name, amount in (("net", part.net), ("tax", part.tax))
        if amount.amount
    }
    first = data.draw(st.integers(0, to_minor_units(order.total)))
    for cents in (first, to_minor_units(order.total) - first):
        order = pay(order, cents) if cents else order
    assert add_up(build_entries(order, items), PAYMENT) == taxes
    for _ in range(data.draw(st.integers(0, 4))):
        left = to_minor_units(balance.refundable_amount(order))
        if not left:
            break
        try:
            order = send(change_order(order, items, {data.draw(st.integers(1, 2)): 1}))
        except TransitionRefused:
            named = {"lines": {"2": data.draw(st.integers(0, 4))}}
            order = refund(
                order, data.draw(st.integers(1, left)), delivery=data.draw(st.booleans()), **named
            )
    entries = build_entries(order, items)
    held = add_up(entries, PAYMENT)
    held.subtract(add_up(entries, REFUND))
    assert all(held[rate, "net"] + held[rate, "tax"] >= 0 for rate, _ in held)
    if left := to_minor_units(balance.refundable_amount(order)):
        order = refund(order, left)
    later = build_entries(order, items)
    assert later[: len(entries)] == entries, "an entry never changes"
    assert add_up(later, REFUND) == taxes
