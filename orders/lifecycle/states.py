"""What an order can be, and what may happen to it.

Three statuses and one label for the shopper. Only `state` is set by transitions; payment and fulfilment follow from events.

    state: pending_payment > confirmed > closed; pending_payment > expired | cancelled; confirmed <> on_hold;
           an order that nobody pays before it is sent is confirmed only after its e-mail address (decision 023);
           confirmed, on_hold > cancelled while nothing is shipped; expired > confirmed when it was paid late;
           confirmed, closed > on_hold when its payment cannot be captured: then it is cancelled, or closed if it was sent
    payment: unpaid, authorized, paid, partially_refunded, refunded, voided, failed; with the sums of orders.lifecycle.balance
    fulfilment: unfulfilled, partially_shipped, shipped, delivered; it follows from the parcels (orders.lifecycle.parcels)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from orders.lifecycle.labels import ORDER_LABELS

PENDING, CONFIRMED, ON_HOLD, CLOSED = "pending_payment", "confirmed", "on_hold", "closed"
CANCELLED, EXPIRED = "cancelled", "expired"
# Not a state of an order: the mark of a checkout that was abandoned before it became one.
ABANDONED = "abandoned"

# The board's columns in words, from left to right.
BOARD_COLUMNS = {column: label.staff for column, label in ORDER_LABELS["column"].items()}
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
    def has_open_withdrawal(self) -> bool:
        """Whether its buyer has withdrawn, and something of it has not reached them yet."""

    @property
    def has_manual_refund_due(self) -> bool:
        """Whether a refund is due that staff have to send themselves."""

    @property
    def lacks_email_confirmation(self) -> bool:
        """Whether it was never confirmed that its e-mail address is its shopper's, where that is needed."""


@dataclass(frozen=True)
class NextStatus:
    """An order's three statuses, and what its labels depend on."""

    state: str
    payment: str
    fulfilment: str
    has_packed_parcel: bool
    is_late: bool = False
    has_open_return: bool = False
    has_open_withdrawal: bool = False
    has_manual_refund_due: bool = False
    lacks_email_confirmation: bool = False

    @property
    def has_units_to_pack(self) -> bool:
        return self.fulfilment == "unfulfilled" and not self.has_packed_parcel

    @property
    def has_parcel_under_way(self) -> bool:
        return self.fulfilment == "shipped"


@dataclass(frozen=True)
class TransitionRule:
    """One thing that may happen to an order. Empty text: that status stays as it is."""

    kind: str
    from_states: tuple[str, ...]
    next_state: str = ""
    payment: str = ""
    fulfilment: str = ""
    when_payment: tuple[str, ...] = ()
    when_fulfilment: tuple[str, ...] = ()
    when_packed: bool | None = None
    when_to_pack: bool | None = None
    when_under_way: bool | None = None

    @property
    def label(self) -> str:
        """What staff's button says; '' if it happens by itself."""
        return ORDER_LABELS["event"][self.kind].button

    @property
    def customer_label(self) -> str:
        """What it is called in the shopper's history; '' if only staff see it."""
        return ORDER_LABELS["event"][self.kind].customer

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
        """Return what the order is after this has happened to all of it (what happens to a parcel: orders.lifecycle.projection)."""
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


_UNSENT = ("unfulfilled",)
_ENDED = (CONFIRMED, ON_HOLD, CLOSED, CANCELLED, EXPIRED)
_ANY = (PENDING, *_ENDED)
_SENDING_BACK = (CONFIRMED, CLOSED)
TRANSITION_RULES = {
    rule.kind: rule
    for rule in (
        # Details: payment_id, amount. The money is only authorised; `captured` is when we have it.
        TransitionRule("authorized", (PENDING,), next_state=CONFIRMED, payment="authorized"),
        # Whoever reads the mail of its address has pressed the button there. Details: pay_until.
        TransitionRule("email_confirmed", (PENDING,)),
        # The customer pays on delivery, or a bank transfer is complete.
        TransitionRule("confirmed", (PENDING,), next_state=CONFIRMED),
        TransitionRule(
            "paid_late",
            (EXPIRED,),
            next_state=CONFIRMED,
            payment="authorized",
            when_payment=("voided", "paid"),
        ),
        # Its units were sold meanwhile: the money goes back.
        TransitionRule(
            "paid_too_late", (EXPIRED,), payment="authorized", when_payment=("voided", "paid")
        ),
        # Details: payment_id, amount, key. An order may be paid in parts: it is paid when all is there.
        TransitionRule(
            "captured",
            _ANY,
            payment="paid",
            # Also after a partial refund: orders.lifecycle.balance says what is still to be captured.
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
        # The authorised amount cannot be captured any more: staff look at it. Details: payment_id.
        TransitionRule(
            "capture_refused",
            (CONFIRMED, ON_HOLD, CLOSED),
            next_state=ON_HOLD,
            payment="failed",
            when_payment=("authorized",),
        ),
        # Details: payment_id.
        TransitionRule(
            "voided", (CANCELLED, EXPIRED), payment="voided", when_payment=("authorized",)
        ),
        # Details: payment_id, gateway, amount. The first one is placed with the order.
        TransitionRule("payment_started", (PENDING,)),
        # Details: payment_id, cause (orders.lifecycle.payment_failures).
        TransitionRule("payment_failed", (PENDING,), payment="failed"),
        # A payment that does not pay the order, whatever has become of it. Details: payment_id, amount, outcome.
        TransitionRule("payment_closed", _ANY),
        TransitionRule("expired", (PENDING,), next_state=EXPIRED),
        # Of a parcel each, or of all that is left (orders.lifecycle.parcels).
        TransitionRule("packed", (CONFIRMED,), when_to_pack=True),
        TransitionRule(
            "shipped",
            (CONFIRMED,),
            fulfilment="shipped",
            when_fulfilment=("unfulfilled", "partially_shipped"),
        ),
        TransitionRule("unpacked", (CONFIRMED, ON_HOLD), when_packed=True),
        TransitionRule(
            "delivered", (CONFIRMED, ON_HOLD), fulfilment="delivered", when_under_way=True
        ),
        TransitionRule("lost", (CONFIRMED, ON_HOLD), when_under_way=True),
        # The carrier or the number of a parcel that was sent. Details: parcel, carrier, tracking, mail.
        TransitionRule(
            "tracked",
            (CONFIRMED, ON_HOLD, CLOSED),
            when_fulfilment=("partially_shipped", "shipped", "delivered"),
        ),
        # Backordered units have arrived: other units are reserved for the order now.
        TransitionRule("allocated", (CONFIRMED, ON_HOLD)),
        # It has been to pack for too long.
        TransitionRule("late", (CONFIRMED,), when_fulfilment=_UNSENT),
        # Fewer units of a line, or another delivery address: for what is not packed yet.
        TransitionRule(
            "changed", (CONFIRMED, ON_HOLD), when_fulfilment=("unfulfilled", "partially_shipped")
        ),
        # Staff have put tags on it, or taken some off. Details: added, removed.
        TransitionRule("tagged", _ANY),
        TransitionRule("held", (CONFIRMED,), next_state=ON_HOLD, when_fulfilment=_UNSENT),
        # Not an order whose payment has failed.
        TransitionRule(
            "resumed",
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
        # Also what was lost on the way, all of it; and what was sent before its payment failed.
        TransitionRule(
            "closed",
            (CONFIRMED, ON_HOLD),
            next_state=CLOSED,
            when_fulfilment=("delivered", "shipped"),
            when_under_way=False,
        ),
        TransitionRule(
            "cancelled",
            (PENDING, CONFIRMED, ON_HOLD),
            next_state=CANCELLED,
            when_fulfilment=_UNSENT,
            when_packed=False,
        ),
        # Details: name, as it was typed. What follows from it: orders.operations.withdrawals.
        TransitionRule("withdrawn", _ANY),
        # Of a return each (orders.lifecycle.returns).
        TransitionRule("return_requested", _SENDING_BACK),
        TransitionRule("return_approved", _SENDING_BACK),
        TransitionRule("return_rejected", _SENDING_BACK),
        TransitionRule("return_received", _SENDING_BACK),
        # No money goes back for it; its note says why.
        TransitionRule("return_closed", (CONFIRMED, ON_HOLD, CLOSED)),
        # Details: refund, amount, lines, reason; `refunded` (refund, amount) is when it is done.
        TransitionRule("refund_owed", _ENDED),
        TransitionRule("refunded", _ENDED, payment="refunded"),
    )
}
# By which of them an order becomes one that is sent.
CONFIRMING_EVENTS = ("authorized", "confirmed", "paid_late")
STAFF_TRANSITIONS = tuple(rule for rule in TRANSITION_RULES.values() if rule.label)
# The event after which an order has no personal data any more. It changes none of the statuses.
ERASED = "erased"
# The kinds of event that a row may have.
EVENT_KINDS = tuple(ORDER_LABELS["event"])


def allowed_transitions(order: OrderState) -> Sequence[TransitionRule]:
    """Return what staff may do with the order now, in the order of their buttons."""
    return [rule for rule in STAFF_TRANSITIONS if rule.is_allowed(order)]


def board_column(order: OrderState) -> str:
    """Return the key of the order's column on the board (see BOARD_COLUMNS)."""
    if order.has_manual_refund_due:
        return "payment_problem"  # only staff can send the refund, whatever the order's state
    match order.state:
        case "pending_payment":
            if order.lacks_email_confirmation:
                return "unconfirmed"
            return "payment_problem" if order.payment == "failed" else "to_pay"
        case "on_hold":
            return "on_hold"
        case "cancelled" | "expired":
            return "cancelled"
    if order.has_open_withdrawal:
        return "returns_waiting"  # nobody is to send it by mistake
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


def customer_status(order: OrderState) -> str:
    """Return what the shopper is told of the order's state: a key of ORDER_LABELS["status"]."""
    match order.state:
        case "pending_payment":
            if order.lacks_email_confirmation:
                return "unconfirmed"
            return "payment_failed" if order.payment == "failed" else order.state
        case "cancelled":
            return "cancelled_and_refunded" if order.payment == "refunded" else order.state
        case "expired":
            if order.lacks_email_confirmation:
                return "expired_unconfirmed"
            return {
                "authorized": "paid_too_late",
                "paid": "paid_too_late",
                "refunded": "expired_and_refunded",
            }.get(order.payment, order.state)
        case "on_hold" | "closed":
            return order.state
    is_packed = order.has_packed_parcel and not order.has_units_to_pack
    return "packed" if order.fulfilment == "unfulfilled" and is_packed else order.fulfilment
