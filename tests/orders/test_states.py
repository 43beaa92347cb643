"""What an order can be: every state has one word, one column, and moves that lead somewhere."""

from dataclasses import replace
from itertools import product

import pytest

from orders import states
from orders.states import MOVES, After, allowed_moves, board_column, word

FRESH = After("pending_payment", "unpaid", "unfulfilled", packed=False)


def moved(order: After, *kinds: str) -> After:
    for kind in kinds:
        assert MOVES[kind].allowed(order), f"{kind} is refused for {order}"
        order = MOVES[kind].after(order)
    return order


def reachable() -> set[After]:
    found, new = set[After](), {FRESH}
    while new:
        found |= new
        new = {move.after(order) for order, move in product(new, MOVES.values()) if move.allowed(order)} - found
    return found


@pytest.mark.parametrize(
    ("kinds", "column", "said"),
    [
        ((), "to_pay", "Waiting for payment"),
        (("payment_failed",), "payment_problem", "Payment failed"),
        (("payment_failed", "paid"), "to_pack", "Confirmed"),
        (("paid", "packed"), "to_pack", "Packed"),
        (("paid", "packed", "shipped"), "shipped", "On its way"),
        (("paid", "shipped", "delivered"), "done", "Delivered"),
        (("paid", "shipped", "delivered", "closed"), "done", "Completed"),
        (("paid", "held"), "on_hold", "On hold"),
        (("paid", "held", "resumed"), "to_pack", "Confirmed"),
        (("cancelled",), "cancelled", "Cancelled"),
        (("paid", "held", "cancelled", "refunded"), "cancelled", "Cancelled and refunded"),
        (("expired",), "cancelled", "Not paid in time"),
        (("expired", "paid_late"), "to_pack", "Confirmed"),
        (("expired", "paid_too_late"), "cancelled", "Paid too late"),
        (("expired", "paid_too_late", "refunded"), "cancelled", "Refunded"),
    ],
)
def test_each_state_has_a_column_and_a_word(kinds: tuple[str, ...], column: str, said: str) -> None:
    order = moved(FRESH, *kinds)
    assert (board_column(order), word(order)) == (column, said)


def test_every_reachable_state_stands_on_the_board() -> None:
    for order in reachable():
        assert board_column(order) in states.COLUMNS
        assert word(order)


def test_nothing_that_is_sent_can_be_cancelled() -> None:
    for order in reachable():
        if order.fulfilment != "unfulfilled":
            assert "cancelled" not in {move.kind for move in allowed_moves(order)}


def test_a_partly_shipped_order_has_its_own_column() -> None:
    order = replace(moved(FRESH, "paid"), fulfilment="partially_shipped")
    assert (board_column(order), word(order)) == ("partly_shipped", "Partly sent")


def test_staff_are_offered_what_is_allowed_and_nothing_that_happens_by_itself() -> None:
    def offered(*kinds: str) -> list[str]:
        return [move.label for move in allowed_moves(moved(FRESH, *kinds))]

    assert offered() == ["Cancel"]
    assert offered("paid") == ["Pack", "Ship", "Put on hold", "Cancel"]
    assert offered("paid", "packed") == ["Ship", "Put on hold", "Cancel"]
    assert offered("paid", "shipped") == ["Deliver"]
    assert offered("paid", "shipped", "delivered") == ["Close"]
    assert offered("expired") == []


def test_an_unpaid_order_that_ends_owes_nothing() -> None:
    assert moved(FRESH, "cancelled").payment == moved(FRESH, "payment_failed", "expired").payment == "voided"
