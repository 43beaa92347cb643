"""What an order can be, and what may happen to it.

Three axes and one word for the shopper. Only `state` is commanded; payment and fulfilment follow from events.

    state: pending_payment > confirmed > closed; pending_payment > expired | cancelled; confirmed <> on_hold;
           confirmed, on_hold > cancelled while nothing is shipped; expired > confirmed when it was paid too late;
           confirmed, closed > on_hold for good when its money cannot be had
    payment: unpaid, authorized, paid, partially_refunded, refunded, voided, failed; with the sums of orders.balance
    fulfilment: unfulfilled, partially_shipped, shipped, delivered; it follows from the parcels (orders.parcels)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
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
    "late": "Late",
    "on_hold": "On hold",
    "returns_waiting": "Returns waiting",
    "done": "Done",
    "cancelled": "Cancelled",
}
# So long may an order be to pack.
LATE_AFTER = timedelta(hours=48)
# Those whose orders are counted: the others only grow.
OPEN_COLUMNS = tuple(column for column in COLUMNS if column not in ("done", "cancelled"))


class Axes(Protocol):
    """What the questions below need to know of an order."""

    @property
    def state(self) -> str: ...
    @property
    def payment(self) -> str: ...
    @property
    def fulfilment(self) -> str: ...
    @property
    def packed(self) -> bool:
        """Whether a parcel stands packed."""

    @property
    def to_pack(self) -> bool:
        """Whether something is still to be packed."""

    @property
    def under_way(self) -> bool:
        """Whether a parcel is on its way."""

    @property
    def late(self) -> bool:
        """Whether it has been to pack for too long."""

    @property
    def returning(self) -> bool:
        """Whether something of it is being sent back."""

    @property
    def owed_by_hand(self) -> bool:
        """Whether money is to go back that staff have to send themselves."""


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
    when_to_pack: bool | None = None
    when_under_way: bool | None = None

    def allowed(self, order: Axes) -> bool:
        """Tell whether this may happen to the order as it is."""
        return (
            order.state in self.states
            and (not self.when_payment or order.payment in self.when_payment)
            and (not self.when_fulfilment or order.fulfilment in self.when_fulfilment)
            and (self.when_packed is None or order.packed == self.when_packed)
            and (self.when_to_pack is None or order.to_pack == self.when_to_pack)
            and (self.when_under_way is None or order.under_way == self.when_under_way)
        )

    def after(self, order: Axes) -> After:
        """Return what the order is after this has happened to all of it (what happens to a parcel: orders.following)."""
        payment = self.payment or order.payment
        if self.to in (CANCELLED, EXPIRED) and payment in ("unpaid", "failed"):
            payment = "voided"
        packed = self.kind == "packed" or (order.packed and not self.fulfilment)
        return After(self.to or order.state, payment, self.fulfilment or order.fulfilment, packed)


@dataclass(frozen=True)
class After:
    """An order's axes."""

    state: str
    payment: str
    fulfilment: str
    packed: bool
    late: bool = False
    returning: bool = False
    owed_by_hand: bool = False

    @property
    def to_pack(self) -> bool:
        return self.fulfilment == "unfulfilled" and not self.packed

    @property
    def under_way(self) -> bool:
        return self.fulfilment == "shipped"


_UNSENT = ("unfulfilled",)
_ENDED = (CONFIRMED, ON_HOLD, CLOSED, CANCELLED, EXPIRED)
_ANY = (PENDING, *_ENDED)
_SENDING_BACK = (CONFIRMED, CLOSED)
MOVES = {
    move.kind: move
    for move in (
        # Details: payment_id, amount. The money is set aside for us; `captured` is when we have it.
        Move(
            "authorized",
            "",
            "Your payment is confirmed",
            (PENDING,),
            to=CONFIRMED,
            payment="authorized",
        ),
        # By one who pays at the door, or whose transfer is complete.
        Move("confirmed", "", "Confirmed", (PENDING,), to=CONFIRMED),
        Move(
            "paid_late",
            "",
            "Your payment is confirmed",
            (EXPIRED,),
            to=CONFIRMED,
            payment="authorized",
            when_payment=("voided", "paid"),
        ),
        # The goods are sold meanwhile: the money goes back.
        Move(
            "paid_too_late",
            "",
            "Your payment came too late",
            (EXPIRED,),
            payment="authorized",
            when_payment=("voided", "paid"),
        ),
        # Details: payment_id, amount, key. An order may be paid in parts: it is paid when all is there.
        Move(
            "captured",
            "",
            "We have your payment",
            _ANY,
            payment="paid",
            # Also after some of it went back: what is still to be taken is the balance's to say.
            when_payment=(
                "unpaid",
                "authorized",
                "failed",
                "voided",
                "paid",
                "partially_refunded",
                "refunded",
            ),
        ),
        # What was set aside can be had no more: staff look at it.
        Move(
            "capture_refused",
            "",
            "The payment did not go through",
            (CONFIRMED, ON_HOLD, CLOSED),
            to=ON_HOLD,
            payment="failed",
            when_payment=("authorized",),
        ),
        Move(
            "voided",
            "",
            "Your payment was let go, nothing was charged",
            (CANCELLED, EXPIRED),
            payment="voided",
            when_payment=("authorized",),
        ),
        Move("payment_failed", "", "The payment did not go through", (PENDING,), payment="failed"),
        Move("expired", "", "Not paid in time", (PENDING,), to=EXPIRED),
        # Of a parcel each, or of all that is left (orders.parcels).
        Move("packed", "Pack", "Packed", (CONFIRMED,), when_to_pack=True),
        Move(
            "shipped",
            "Ship",
            "On its way",
            (CONFIRMED,),
            fulfilment="shipped",
            when_fulfilment=("unfulfilled", "partially_shipped"),
        ),
        Move("unpacked", "", "", (CONFIRMED, ON_HOLD), when_packed=True),
        Move(
            "delivered",
            "Deliver",
            "Delivered",
            (CONFIRMED,),
            fulfilment="delivered",
            when_under_way=True,
        ),
        Move("lost", "", "A parcel was lost", (CONFIRMED,), when_under_way=True),
        # Goods have come for what was sold ahead of them: other units are kept for it now.
        Move("allocated", "", "", (CONFIRMED, ON_HOLD)),
        # It has been to pack for too long.
        Move("late", "", "", (CONFIRMED,), when_fulfilment=_UNSENT),
        # Fewer of a line, or another door: for what is not packed yet.
        Move(
            "changed",
            "",
            "Changed",
            (CONFIRMED, ON_HOLD),
            when_fulfilment=("unfulfilled", "partially_shipped"),
        ),
        Move(
            "held",
            "Put on hold",
            "On hold: we are checking something",
            (CONFIRMED,),
            to=ON_HOLD,
            when_fulfilment=_UNSENT,
        ),
        # Not what nobody has paid for.
        Move(
            "resumed",
            "Resume",
            "Going on",
            (ON_HOLD,),
            to=CONFIRMED,
            when_payment=(
                "unpaid",
                "authorized",
                "paid",
                "partially_refunded",
                "refunded",
                "voided",
            ),
        ),
        # Also what was lost on the way, all of it.
        Move(
            "closed",
            "Close",
            "",
            (CONFIRMED,),
            to=CLOSED,
            when_fulfilment=("delivered", "shipped"),
            when_under_way=False,
        ),
        Move(
            "cancelled",
            "Cancel",
            "Cancelled",
            (PENDING, CONFIRMED, ON_HOLD),
            to=CANCELLED,
            when_fulfilment=_UNSENT,
            when_packed=False,
        ),
        # Of a return each (orders.returns).
        Move(
            "return_requested",
            "",
            "You want to send something back",
            _SENDING_BACK,
        ),
        Move("return_approved", "", "You can send it back", _SENDING_BACK),
        Move("return_rejected", "", "It cannot be sent back", _SENDING_BACK),
        Move(
            "return_received",
            "",
            "What you sent back has arrived",
            _SENDING_BACK,
        ),
        # Details: refund, amount, lines, reason; `refunded` (refund, amount) is when it is done.
        Move("refund_owed", "", "", _ENDED),
        Move(
            "refunded",
            "",
            "Your money is on its way back",
            _ENDED,
            payment="refunded",
        ),
    )
}
# What orders of former days say of themselves.
FORMER = {"paid": "We have your payment"}
# By which of them an order becomes one that is sent.
CONFIRMING = ("authorized", "confirmed", "paid_late")
STAFF_MOVES = tuple(move for move in MOVES.values() if move.label)
# The event after which an order tells nothing about a person any more. It changes none of the axes.
ERASED = "erased"
# What an event's row may say.
KINDS = ("placed", *MOVES, *FORMER, ERASED, "note")


def allowed_moves(order: Axes) -> Sequence[Move]:
    """Return what staff may do with the order now, in the order of their buttons."""
    return [move for move in STAFF_MOVES if move.allowed(order)]


def told(kind: str) -> str:
    """Return what an event means, in words for the shopper; '' for what is none of theirs."""
    if kind in MOVES:
        return MOVES[kind].told
    return "Ordered" if kind == "placed" else FORMER.get(kind, "")


def board_column(order: Axes) -> str:
    """Return the key of the board's column in which the order stands (see COLUMNS)."""
    if order.owed_by_hand:
        return "payment_problem"  # nobody else sends it, however the order stands
    match order.state:
        case "pending_payment":
            return "payment_problem" if order.payment == "failed" else "to_pay"
        case "on_hold":
            return "on_hold"
        case "cancelled" | "expired":
            return "cancelled"
    # What is still to be sent comes before what comes back.
    if order.fulfilment in ("unfulfilled", "partially_shipped") and order.state != CLOSED:
        return (
            "partly_shipped"
            if order.fulfilment == "partially_shipped"
            else "late"
            if order.late
            else "to_pack"
        )
    if order.returning:
        return "returns_waiting"
    return "shipped" if order.fulfilment == "shipped" and order.state != CLOSED else "done"


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
            return {
                "authorized": "Paid too late",
                "paid": "Paid too late",
                "refunded": "Refunded",
            }.get(order.payment, "Not paid in time")
    sent = {"partially_shipped": "Partly sent", "shipped": "On its way", "delivered": "Delivered"}
    return sent.get(order.fulfilment) or (
        "Packed" if order.packed and not order.to_pack else "Confirmed"
    )
