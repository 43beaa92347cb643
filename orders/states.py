"""What an order can be, and what may happen to it.

Three statuses and one label for the shopper. Only `state` is set by transitions; payment and fulfilment follow from events.

    state: pending_payment > confirmed > closed; pending_payment > expired | cancelled; confirmed <> on_hold;
           confirmed, on_hold > cancelled while nothing is shipped; expired > confirmed when it was paid late;
           confirmed, closed > on_hold for good when its payment cannot be captured
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
# Not a state of an order: the mark of a checkout that was abandoned before it became one.
ABANDONED = "abandoned"

# The board's columns, from left to right.
BOARD_COLUMNS = {
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
# After so long an order that is still to be packed is late.
LATE_AFTER = timedelta(hours=48)
# The columns whose orders are counted: the others only grow.
OPEN_BOARD_COLUMNS = tuple(
    column for column in BOARD_COLUMNS if column not in ("done", "cancelled")
)


class OrderState(Protocol):
    """What the rules below need to know of an order."""

    @property
    def state(self) -> str: ...
    @property
    def payment(self) -> str: ...
    @property
    def fulfilment(self) -> str: ...
    @property
    def has_packed_parcel(self) -> bool:
        """Whether a parcel is packed and not sent."""

    @property
    def has_units_to_pack(self) -> bool:
        """Whether something is still to be packed."""

    @property
    def has_parcel_under_way(self) -> bool:
        """Whether a parcel is on its way."""

    @property
    def is_late(self) -> bool:
        """Whether it has been to pack for too long."""

    @property
    def has_open_return(self) -> bool:
        """Whether something of it is being sent back."""

    @property
    def has_manual_refund_due(self) -> bool:
        """Whether a refund is due that staff have to send themselves."""


@dataclass(frozen=True)
class TransitionRule:
    """One thing that may happen to an order. Empty text: that status stays as it is."""

    kind: str
    label: str  # on the staff's button; empty: it happens by itself
    customer_label: str  # in the order's history for the shopper; empty: staff only
    from_states: tuple[str, ...]
    next_state: str = ""
    payment: str = ""
    fulfilment: str = ""
    when_payment: tuple[str, ...] = ()
    when_fulfilment: tuple[str, ...] = ()
    when_packed: bool | None = None
    when_to_pack: bool | None = None
    when_under_way: bool | None = None

    def is_allowed(self, order: OrderState) -> bool:
        """Return whether this may happen to the order as it is."""
        return (
            order.state in self.from_states
            and (not self.when_payment or order.payment in self.when_payment)
            and (not self.when_fulfilment or order.fulfilment in self.when_fulfilment)
            and (self.when_packed is None or order.has_packed_parcel == self.when_packed)
            and (self.when_to_pack is None or order.has_units_to_pack == self.when_to_pack)
            and (self.when_under_way is None or order.has_parcel_under_way == self.when_under_way)
        )

    def next_status(self, order: OrderState) -> NextStatus:
        """Return what the order is after this has happened to all of it (what happens to a parcel: orders.projection)."""
        payment = self.payment or order.payment
        if self.next_state in (CANCELLED, EXPIRED) and payment in ("unpaid", "failed"):
            payment = "voided"
        has_packed_parcel = self.kind == "packed" or (
            order.has_packed_parcel and not self.fulfilment
        )
        return NextStatus(
            self.next_state or order.state,
            payment,
            self.fulfilment or order.fulfilment,
            has_packed_parcel,
        )


@dataclass(frozen=True)
class NextStatus:
    """An order's three statuses, and what its labels depend on."""

    state: str
    payment: str
    fulfilment: str
    has_packed_parcel: bool
    is_late: bool = False
    has_open_return: bool = False
    has_manual_refund_due: bool = False

    @property
    def has_units_to_pack(self) -> bool:
        return self.fulfilment == "unfulfilled" and not self.has_packed_parcel

    @property
    def has_parcel_under_way(self) -> bool:
        return self.fulfilment == "shipped"


_UNSENT = ("unfulfilled",)
_ENDED = (CONFIRMED, ON_HOLD, CLOSED, CANCELLED, EXPIRED)
_ANY = (PENDING, *_ENDED)
_SENDING_BACK = (CONFIRMED, CLOSED)
TRANSITION_RULES = {
    rule.kind: rule
    for rule in (
        # Details: payment_id, amount. The money is only authorised; `captured` is when we have it.
        TransitionRule(
            "authorized",
            "",
            "Your payment is confirmed",
            (PENDING,),
            next_state=CONFIRMED,
            payment="authorized",
        ),
        # Cash on delivery, or a transfer that is complete.
        TransitionRule("confirmed", "", "Confirmed", (PENDING,), next_state=CONFIRMED),
        TransitionRule(
            "paid_late",
            "",
            "Your payment is confirmed",
            (EXPIRED,),
            next_state=CONFIRMED,
            payment="authorized",
            when_payment=("voided", "paid"),
        ),
        # Its units were sold meanwhile: the money goes back.
        TransitionRule(
            "paid_too_late",
            "",
            "Your payment came too late",
            (EXPIRED,),
            payment="authorized",
            when_payment=("voided", "paid"),
        ),
        # Details: payment_id, amount, key. An order may be paid in parts: it is paid when all is there.
        TransitionRule(
            "captured",
            "",
            "We have your payment",
            _ANY,
            payment="paid",
            # Also after a partial refund: orders.balance says what is still to be captured.
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
        # The authorised amount cannot be captured any more: staff look at it.
        TransitionRule(
            "capture_refused",
            "",
            "The payment did not go through",
            (CONFIRMED, ON_HOLD, CLOSED),
            next_state=ON_HOLD,
            payment="failed",
            when_payment=("authorized",),
        ),
        TransitionRule(
            "voided",
            "",
            "Your payment was let go, nothing was charged",
            (CANCELLED, EXPIRED),
            payment="voided",
            when_payment=("authorized",),
        ),
        TransitionRule(
            "payment_failed", "", "The payment did not go through", (PENDING,), payment="failed"
        ),
        TransitionRule("expired", "", "Not paid in time", (PENDING,), next_state=EXPIRED),
        # Of a parcel each, or of all that is left (orders.parcels).
        TransitionRule("packed", "Pack", "Packed", (CONFIRMED,), when_to_pack=True),
        TransitionRule(
            "shipped",
            "Ship",
            "On its way",
            (CONFIRMED,),
            fulfilment="shipped",
            when_fulfilment=("unfulfilled", "partially_shipped"),
        ),
        TransitionRule("unpacked", "", "", (CONFIRMED, ON_HOLD), when_packed=True),
        TransitionRule(
            "delivered",
            "Deliver",
            "Delivered",
            (CONFIRMED,),
            fulfilment="delivered",
            when_under_way=True,
        ),
        TransitionRule("lost", "", "A parcel was lost", (CONFIRMED,), when_under_way=True),
        # Stock has arrived for a backorder: units in a warehouse are reserved for it now.
        TransitionRule("allocated", "", "", (CONFIRMED, ON_HOLD)),
        # It has been to pack for too long.
        TransitionRule("late", "", "", (CONFIRMED,), when_fulfilment=_UNSENT),
        # Fewer units of a line, or another delivery address: for what is not packed yet.
        TransitionRule(
            "changed",
            "",
            "Changed",
            (CONFIRMED, ON_HOLD),
            when_fulfilment=("unfulfilled", "partially_shipped"),
        ),
        TransitionRule(
            "held",
            "Put on hold",
            "On hold: we are checking something",
            (CONFIRMED,),
            next_state=ON_HOLD,
            when_fulfilment=_UNSENT,
        ),
        # Not an order whose payment has failed.
        TransitionRule(
            "resumed",
            "Resume",
            "Going on",
            (ON_HOLD,),
            next_state=CONFIRMED,
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
        TransitionRule(
            "closed",
            "Close",
            "",
            (CONFIRMED,),
            next_state=CLOSED,
            when_fulfilment=("delivered", "shipped"),
            when_under_way=False,
        ),
        TransitionRule(
            "cancelled",
            "Cancel",
            "Cancelled",
            (PENDING, CONFIRMED, ON_HOLD),
            next_state=CANCELLED,
            when_fulfilment=_UNSENT,
            when_packed=False,
        ),
        # Of a return each (orders.returns).
        TransitionRule(
            "return_requested",
            "",
            "You want to send something back",
            _SENDING_BACK,
        ),
        TransitionRule("return_approved", "", "You can send it back", _SENDING_BACK),
        TransitionRule("return_rejected", "", "It cannot be sent back", _SENDING_BACK),
        TransitionRule(
            "return_received",
            "",
            "What you sent back has arrived",
            _SENDING_BACK,
        ),
        # Details: refund, amount, lines, reason; `refunded` (refund, amount) is when it is done.
        TransitionRule("refund_owed", "", "", _ENDED),
        TransitionRule(
            "refunded",
            "",
            "Your money is on its way back",
            _ENDED,
            payment="refunded",
        ),
    )
}
# Labels of former event kinds, which older orders still have.
FORMER_LABELS = {"paid": "We have your payment"}
# The events after which an order is to be sent.
CONFIRMING_EVENTS = ("authorized", "confirmed", "paid_late")
STAFF_TRANSITIONS = tuple(rule for rule in TRANSITION_RULES.values() if rule.label)
# The event after which an order has no personal data any more. It changes none of the statuses.
ERASED = "erased"
# The kinds of event that a row may have.
EVENT_KINDS = ("placed", *TRANSITION_RULES, *FORMER_LABELS, ERASED, "note")


def allowed_transitions(order: OrderState) -> Sequence[TransitionRule]:
    """Return what staff may do with the order now, in the order of their buttons."""
    return [rule for rule in STAFF_TRANSITIONS if rule.is_allowed(order)]


def event_customer_label(kind: str) -> str:
    """Return what an event means, in words for the shopper; '' for what is not for them."""
    if kind in TRANSITION_RULES:
        return TRANSITION_RULES[kind].customer_label
    return "Ordered" if kind == "placed" else FORMER_LABELS.get(kind, "")


def board_column(order: OrderState) -> str:
    """Return the key of the order's column on the board (see BOARD_COLUMNS)."""
    if order.has_manual_refund_due:
        return "payment_problem"  # only staff can send the refund, whatever the order's state
    match order.state:
        case "pending_payment":
            return "payment_problem" if order.payment == "failed" else "to_pay"
        case "on_hold":
            return "on_hold"
        case "cancelled" | "expired":
            return "cancelled"
    # What is still to be sent comes before returns.
    if order.fulfilment in ("unfulfilled", "partially_shipped") and order.state != CLOSED:
        return (
            "partly_shipped"
            if order.fulfilment == "partially_shipped"
            else "late"
            if order.is_late
            else "to_pack"
        )
    if order.has_open_return:
        return "returns_waiting"
    return "shipped" if order.fulfilment == "shipped" and order.state != CLOSED else "done"


def order_customer_label(order: OrderState) -> str:
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
        "Packed" if order.has_packed_parcel and not order.has_units_to_pack else "Confirmed"
    )
