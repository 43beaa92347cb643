"""The states of an order, and the rules that allow its events.

state: pending_payment > confirmed > closed; pending_payment > expired | cancelled; confirmed <> on_hold;
       an order that is paid after it is sent is confirmed only after its e-mail address (decision 023);
       confirmed, on_hold > cancelled while nothing is shipped; expired > confirmed when it was paid late;
       confirmed, closed > on_hold when its payment cannot be captured: then it is cancelled, or closed if it was sent
payment: unpaid, authorized, paid, partially_refunded, refunded, voided, failed (orders.lifecycle.balance)
fulfilment: unfulfilled, partially_shipped, shipped, delivered (orders.lifecycle.parcels)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from orders.lifecycle.labels import ORDER_LABELS

PENDING, CONFIRMED, ON_HOLD, CLOSED = "pending_payment", "confirmed", "on_hold", "closed"
CANCELLED, EXPIRED = "cancelled", "expired"
# The mark of a checkout that was abandoned before it became an order.
ABANDONED = "abandoned"

# The board's columns and their labels, from left to right.
BOARD_COLUMNS = {column: label.staff for column, label in ORDER_LABELS["column"].items()}
# An order that has waited this long to be packed is late.
LATE_AFTER = timedelta(hours=48)
# The columns whose orders are counted; the others only grow.
OPEN_BOARD_COLUMNS = tuple(
    column for column in BOARD_COLUMNS if column not in ("done", "cancelled")
)


class OrderState(Protocol):
    """The properties of an order on which the rules depend."""

    @property
    def state(self) -> str: ...
    @property
    def payment(self) -> str: ...
    @property
    def fulfilment(self) -> str: ...
    @property
    def has_packed_parcel(self) -> bool: ...
    @property
    def has_units_to_pack(self) -> bool: ...
    @property
    def has_parcel_under_way(self) -> bool: ...
    @property
    def is_late(self) -> bool: ...
    @property
    def has_open_return(self) -> bool: ...
    @property
    def has_open_withdrawal(self) -> bool: ...
    @property
    def has_manual_refund_due(self) -> bool: ...
    @property
    def lacks_email_confirmation(self) -> bool: ...


@dataclass(frozen=True)
class NextStatus:
    """An order's three statuses, and the other properties of OrderState."""

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
    """The rule for one kind of event. An empty status means no change; an empty condition allows all orders."""

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
        """The label of the staff's button; '' if staff do not cause the event."""
        return ORDER_LABELS["event"][self.kind].button

    @property
    def customer_label(self) -> str:
        """The event's label in the shopper's history; '' if only staff see the event."""
        return ORDER_LABELS["event"][self.kind].customer

    def is_allowed(self, order: OrderState) -> bool:
        """Return whether the order allows the event."""
        return (
            order.state in self.from_states
            and (not self.when_payment or order.payment in self.when_payment)
            and (not self.when_fulfilment or order.fulfilment in self.when_fulfilment)
            and (self.when_packed is None or order.has_packed_parcel == self.when_packed)
            and (self.when_to_pack is None or order.has_units_to_pack == self.when_to_pack)
            and (self.when_under_way is None or order.has_parcel_under_way == self.when_under_way)
        )

    def next_status(self, order: OrderState) -> NextStatus:
        """Return the order's status after the event, which must be for the whole order, not for one parcel."""
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
        # Details: payment_id, amount. The money is authorised; `captured` follows when we have it.
        TransitionRule("authorized", (PENDING,), next_state=CONFIRMED, payment="authorized"),
        # The reader of the mail to its address has confirmed the order. Details: pay_until.
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
        # Its units were sold meanwhile, so the money is refunded.
        TransitionRule(
            "paid_too_late", (EXPIRED,), payment="authorized", when_payment=("voided", "paid")
        ),
        # Details: payment_id, amount, key. An order may be paid in parts.
        TransitionRule(
            "captured",
            _ANY,
            payment="paid",
            # Also after a partial refund; orders.lifecycle.balance limits the amount.
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
        # The authorised amount can no longer be captured, so staff decide. Details: payment_id.
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
        # An attempt ended without paying the order. Details: payment_id, amount, outcome.
        TransitionRule("payment_closed", _ANY),
        TransitionRule("expired", (PENDING,), next_state=EXPIRED),
        # About one parcel, or about all remaining units (orders.lifecycle.parcels).
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
        # A sent parcel gets another carrier or number. Details: parcel, carrier, tracking, mail.
        TransitionRule(
            "tracked",
            (CONFIRMED, ON_HOLD, CLOSED),
            when_fulfilment=("partially_shipped", "shipped", "delivered"),
        ),
        # Backordered units have arrived, and are reserved for the order now.
        TransitionRule("allocated", (CONFIRMED, ON_HOLD)),
        # It has waited LATE_AFTER to be packed.
        TransitionRule("late", (CONFIRMED,), when_fulfilment=_UNSENT),
        # Fewer unpacked units of a line, or another delivery address.
        TransitionRule(
            "changed", (CONFIRMED, ON_HOLD), when_fulfilment=("unfulfilled", "partially_shipped")
        ),
        # Staff have added or removed tags. Details: added, removed.
        TransitionRule("tagged", _ANY),
        TransitionRule("held", (CONFIRMED,), next_state=ON_HOLD, when_fulfilment=_UNSENT),
        # Any payment status except "failed".
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
        # Also an order whose parcels were all lost, and one that was sent before its payment failed.
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
        # Details: name, as it was typed. orders.operations.withdrawals follows it.
        TransitionRule("withdrawn", _ANY),
        # About one return each (orders.lifecycle.returns).
        TransitionRule("return_requested", _SENDING_BACK),
        TransitionRule("return_approved", _SENDING_BACK),
        TransitionRule("return_rejected", _SENDING_BACK),
        TransitionRule("return_received", _SENDING_BACK),
        # The return is not refunded; the note says why.
        TransitionRule("return_closed", (CONFIRMED, ON_HOLD, CLOSED)),
        # Details: refund, amount, lines, reason. `refunded` (refund, amount) follows once it is sent.
        TransitionRule("refund_owed", _ENDED),
        TransitionRule("refunded", _ENDED, payment="refunded"),
    )
}
# The events that confirm an order.
CONFIRMING_EVENTS = ("authorized", "confirmed", "paid_late")
STAFF_TRANSITIONS = tuple(rule for rule in TRANSITION_RULES.values() if rule.label)
# The event that deletes an order's personal data. It changes none of the statuses.
ERASED = "erased"


def allowed_transitions(order: OrderState) -> Sequence[TransitionRule]:
    """Return the rules of the events that staff may cause now, in the order of their buttons."""
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
        return "returns_waiting"  # so that nobody sends it by mistake
    # Units to send come before returns.
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
    """Return the order's status for the shopper: a key of ORDER_LABELS["status"]."""
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
