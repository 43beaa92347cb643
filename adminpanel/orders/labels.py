"""Staff's words for the states and events of an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from orders.lifecycle import parcels, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.parcels import Parcel
from orders.lifecycle.states import PICKUP_LABELS

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


# A word and its tone: how it looks (docs/style-guide.md, badges).
PAYMENTS = {
    "unpaid": (gettext_lazy("Not paid"), "warn"),
    "authorized": (gettext_lazy("Authorized"), "calm"),
    "paid": (gettext_lazy("Paid"), "good"),
    "partially_refunded": (gettext_lazy("Partly refunded"), "calm"),
    "refunded": (gettext_lazy("Refunded"), "calm"),
    "voided": (gettext_lazy("Nothing to pay"), "plain"),
    "failed": (gettext_lazy("Payment failed"), "bad"),
}


# What has become of an attempt to pay.
PAYMENT_ATTEMPTS = {
    "started": gettext_lazy("started"),
    "authorized": gettext_lazy("approved"),
    "captured": gettext_lazy("received"),
    "declined": gettext_lazy("declined"),
    "left_unpaid": gettext_lazy("left unpaid"),
    "failed": gettext_lazy("failed"),
    "voided": gettext_lazy("released"),
    "refunded": gettext_lazy("refunded"),
}


FULFILMENTS = {
    "unfulfilled": gettext_lazy("Not sent"),
    "partially_shipped": gettext_lazy("Partly sent"),
    "shipped": gettext_lazy("On its way"),
    "delivered": gettext_lazy("Delivered"),
}


COLUMN_TONES = {
    "unconfirmed": "warn",
    "to_pay": "warn",
    "payment_problem": "bad",
    "to_pack": "accent",
    "partly_shipped": "calm",
    "shipped": "calm",
    "late": "bad",
    "on_hold": "warn",
    "returns_waiting": "warn",
    "done": "good",
}


EVENTS = {
    "placed": gettext_lazy("Order placed"),
    "email_confirmed": gettext_lazy("Email address confirmed"),
    "authorized": gettext_lazy("Payment approved"),
    "confirmed": gettext_lazy("Confirmed"),
    "captured": gettext_lazy("Payment received"),
    "capture_refused": gettext_lazy("Payment refused by the bank"),
    "voided": gettext_lazy("Payment released"),
    "paid": gettext_lazy("Paid"),
    "paid_late": gettext_lazy("Paid late"),
    "paid_too_late": gettext_lazy("Paid too late: to be refunded"),
    "payment_started": gettext_lazy("Payment started"),
    "payment_failed": gettext_lazy("Payment failed"),
    "payment_closed": gettext_lazy("Payment closed"),
    "expired": gettext_lazy("Not paid in time"),
    "packed": gettext_lazy("Packed"),
    "shipped": gettext_lazy("Shipped"),
    "unpacked": gettext_lazy("Unpacked"),
    "delivered": gettext_lazy("Delivered"),
    "lost": gettext_lazy("Lost"),
    "allocated": gettext_lazy("Stock has arrived for it"),
    "late": gettext_lazy("Waiting to be packed for over 48 hours"),
    "tracked": gettext_lazy("Tracking updated"),
    "changed": gettext_lazy("Changed"),
    "withdrawn": gettext_lazy("Withdrawal from the contract"),
    "return_requested": gettext_lazy("Return requested"),
    "return_approved": gettext_lazy("Return approved"),
    "return_rejected": gettext_lazy("Return declined"),
    "return_received": gettext_lazy("Return received"),
    "return_closed": gettext_lazy("Return closed without a refund"),
    "refund_owed": gettext_lazy("Refund decided"),
    "held": gettext_lazy("Put on hold"),
    "resumed": gettext_lazy("Resumed"),
    "closed": gettext_lazy("Closed"),
    "cancelled": gettext_lazy("Cancelled"),
    "refunded": gettext_lazy("Refunded"),
    "erased": gettext_lazy("Customer data deleted"),
    "tagged": gettext_lazy("Tags changed"),
    "note": gettext_lazy("Note"),
}


ACTORS = {"shopper": gettext_lazy("the customer"), "system": gettext_lazy("the shop")}


_STAFF = "staff:"


def payment_label(payment: str) -> str:
    """Return an order's payment in words."""
    return str(PAYMENTS[payment][0]) if payment in PAYMENTS else payment


def payment_tone(payment: str) -> str:
    """Return how that word looks."""
    return PAYMENTS[payment][1] if payment in PAYMENTS else "plain"


def attempt_label(state: str) -> str:
    """Return in words what has become of an attempt to pay."""
    return str(PAYMENT_ATTEMPTS.get(state, state))


def fulfilment_label(fulfilment: str, *, is_pickup: bool = False) -> str:
    """Return in words how much of an order was sent, or can be picked up."""
    if is_pickup and fulfilment in PICKUP_LABELS:
        return _(PICKUP_LABELS[fulfilment])
    return str(FULFILMENTS.get(fulfilment, fulfilment))


def event_label(order: Order, event: Event) -> str:
    """Return what has happened to an order, in words for staff."""
    if event.kind in PICKUP_LABELS and not order.find_carrier(event.details.get("parcel")):
        return _(PICKUP_LABELS[event.kind])
    return str(EVENTS.get(event.kind) or event.staff_label)


def actor_label(event: Event) -> str:
    """Return who did it, in words: for one of the staff the name that was theirs then."""
    return name_actor(event.actor)


def name_actor(actor: str) -> str:
    """Return an actor in words, as `actor_label`."""
    if actor.startswith(_STAFF):
        return actor.split(":", 2)[2]
    return str(ACTORS.get(actor, actor))


def staff_actor(user: User) -> str:
    """Return the actor that an order's history keeps for a member of staff. Anybody may be called "system"."""
    return f"{_STAFF}{user.pk}:{user.name}"


PARCELS = {
    parcels.PACKED: (gettext_lazy("Packed"), "accent"),
    parcels.SHIPPED: (gettext_lazy("On its way"), "calm"),
    parcels.DELIVERED: (gettext_lazy("Delivered"), "good"),
    parcels.LOST: (gettext_lazy("Lost"), "bad"),
    parcels.CANCELLED: (gettext_lazy("Unpacked"), "plain"),
}


RETURNS = {
    returns.REQUESTED: (gettext_lazy("Waiting for an answer"), "warn"),
    returns.APPROVED: (gettext_lazy("Approved, on its way to us"), "calm"),
    returns.REJECTED: (gettext_lazy("Declined"), "plain"),
    returns.RECEIVED: (gettext_lazy("Received, to be refunded"), "warn"),
    returns.REFUNDED: (gettext_lazy("Refunded"), "good"),
    returns.CLOSED: (gettext_lazy("Closed without a refund"), "plain"),
}


def _words_and_tone(shown: tuple[StrOrPromise, str]) -> tuple[str, str]:
    return str(shown[0]), shown[1]


def _parcel_words_and_tone(order: Order, parcel: Parcel) -> tuple[str, str]:
    words, tone = _words_and_tone(PARCELS[parcel.state])
    if parcel.state in PICKUP_LABELS and not order.find_carrier(parcel.parcel_id):
        words = _(PICKUP_LABELS[parcel.state])
    return words, tone
