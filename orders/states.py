"""What an order can be, and what may happen to it.

Three axes and one word for the shopper. Only `state` is commanded; payment and fulfilment follow from events.

    state: pending_payment > confirmed > closed; pending_payment > expired | cancelled; confirmed <> on_hold;
           confirmed, on_hold > cancelled while nothing is shipped; expired > confirmed when it was paid too late
    payment: unpaid, paid, refunded, voided, failed (authorized, partially_refunded: not by any move yet)
    fulfilment: unfulfilled, partially_shipped, shipped, delivered; a parcel's own states will lead to these
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

PENDING, CONFIRMED, ON_HOLD, CLOSED = "pending_payment", "confirmed", "on_hold", "closed"
CANCELLED, EXPIRED = "cancelled", "expired"
# Not a state of an order: the mark of a checkout that was given up before it became one.
ABANDONED = "abandoned"

# The board's columns, from left to right.
COLUMNS = {
    "to_pay": "To pay",
    "payment_problem": "Payment problem",
    "to_pack": "To pack",
    "partly_shipped": "Partly shipped",
    "shipped": "Shipped",
    "on_hold": "On hold",
    "done": "Done",
    "cancelled": "Cancelled",
}
# Those whose orders are counted: the others only grow.
OPEN_COLUMNS = ("to_pay", "payment_problem", "to_pack", "partly_shipped", "shipped", "on_hold")


class Axes(Protocol):
    """What the questions below need to know of an order."""

    @property
    def state(self) -> str: ...
    @property
    def payment(self) -> str: ...
    @property
    def fulfilment(self) -> str: ...
    @property
    def packed(self) -> bool: ...


@dataclass(frozen=True)
class Move:
    """One thing that may happen to an order. Empty text: that axis stays as it is."""

    kind: str
    label: str  # on the staff's button; empty: it happens by itself
    told: str  # what the order's history says to the shopper; empty: staff only
    states: tuple[str, ...]
    to: str = ""
    payment: str = ""
    fulfilment: str = ""
    when_payment: tuple[str, ...] = ()
    when_fulfilment: tuple[str, ...] = ()
    when_packed: bool | None = None
    mailed: str = ""  # the headline of the mail about it

    def allowed(self, order: Axes) -> bool:
        """Tell whether this may happen to the order as it is."""
        return (
            order.state in self.states
            and (not self.when_payment or order.payment in self.when_payment)
            and (not self.when_fulfilment or order.fulfilment in self.when_fulfilment)
            and (self.when_packed is None or order.packed == self.when_packed)
        )

    def after(self, order: Axes) -> After:
        """Return what the order is after this has happened."""
        payment = self.payment or order.payment
        if self.to in (CANCELLED, EXPIRED) and payment in ("unpaid", "failed"):
            payment = "voided"
        packed = self.kind == "packed" or order.packed
        return After(self.to or order.state, payment, self.fulfilment or order.fulfilment, packed)


@dataclass(frozen=True)
class After:
    """An order's axes."""

    state: str
    payment: str
    fulfilment: str
    packed: bool


_UNSENT = ("unfulfilled",)
MOVES = {
    move.kind: move
    for move in (
        Move("paid", "", "We have your payment", (PENDING,), to=CONFIRMED, payment="paid"),
        Move(
            "paid_late", "", "We have your payment", (EXPIRED,), to=CONFIRMED, payment="paid", when_payment=("voided",)
        ),
        # The goods are sold meanwhile: the money goes back.
        Move("paid_too_late", "", "Your payment came too late", (EXPIRED,), payment="paid", when_payment=("voided",)),
        Move("payment_failed", "", "The payment did not go through", (PENDING,), payment="failed"),
        Move("expired", "", "Not paid in time", (PENDING,), to=EXPIRED),
        Move("packed", "Pack", "Packed", (CONFIRMED,), when_fulfilment=_UNSENT, when_packed=False),
        Move(
            "shipped",
            "Ship",
            "On its way",
            (CONFIRMED,),
            fulfilment="shipped",
            when_fulfilment=("unfulfilled", "partially_shipped"),
            mailed="Your order is on its way",
        ),
        Move("delivered", "Deliver", "Delivered", (CONFIRMED,), fulfilment="delivered", when_fulfilment=("shipped",)),
        Move(
            "held",
            "Put on hold",
            "On hold: we are checking something",
            (CONFIRMED,),
            to=ON_HOLD,
            when_fulfilment=_UNSENT,
        ),
        Move("resumed", "Resume", "Going on", (ON_HOLD,), to=CONFIRMED),
        Move("closed", "Close", "", (CONFIRMED,), to=CLOSED, when_fulfilment=("delivered",)),
        Move(
            "cancelled",
            "Cancel",
            "Cancelled",
            (PENDING, CONFIRMED, ON_HOLD),
            to=CANCELLED,
            when_fulfilment=_UNSENT,
            mailed="Your order was cancelled",
        ),
        Move(
            "refunded",
            "",
            "Your money is on its way back",
            (CANCELLED, EXPIRED),
            payment="refunded",
            when_payment=("paid",),
            mailed="Your money is on its way back",
        ),
    )
}
STAFF_MOVES = tuple(move for move in MOVES.values() if move.label)
# What an event's row may say.
KINDS = ("placed", *MOVES, "note")


def allowed_moves(order: Axes) -> Sequence[Move]:
    """Return what staff may do with the order now, in the order of their buttons."""
    return [move for move in STAFF_MOVES if move.allowed(order)]


def board_column(order: Axes) -> str:
    """Return the key of the board's column in which the order stands (see COLUMNS)."""
    match order.state:
        case "pending_payment":
            return "payment_problem" if order.payment == "failed" else "to_pay"
        case "on_hold":
            return "on_hold"
        case "closed":
            return "done"
        case "cancelled" | "expired":
            return "cancelled"
    return {"partially_shipped": "partly_shipped", "shipped": "shipped", "delivered": "done"}.get(
        order.fulfilment, "to_pack"
    )


def word(order: Axes) -> str:
    """Return the order's status in one word or two, for the shopper."""
    match order.state:
        case "pending_payment":
            return "Payment failed" if order.payment == "failed" else "Waiting for payment"
        case "on_hold":
            return "On hold"
        case "closed":
            return "Completed"
        case "cancelled":
            return "Cancelled and refunded" if order.payment == "refunded" else "Cancelled"
        case "expired":
            return {"paid": "Paid too late", "refunded": "Refunded"}.get(order.payment, "Not paid in time")
    sent = {"partially_shipped": "Partly sent", "shipped": "On its way", "delivered": "Delivered"}
    return sent.get(order.fulfilment) or ("Packed" if order.packed else "Confirmed")
