"""The words for the states and events of an order.

They are stored untranslated; `customer_label` and `staff_label` translate them. CSV files and the audit log hold the keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _


@dataclass(frozen=True)
class Label:
    """The words for a state or an event. An empty text is not shown. `tone` is the tone of its badge (docs/style-guide.md)."""

    staff: str
    customer: str = ""  # an event without this word is left out of the shopper's history
    tone: str = "plain"
    customer_tone: str = ""
    pickup: str = ""  # replaces `customer` and `staff` if the order is picked up
    explanation: str = ""  # tells the shopper what comes next
    # The halves of "This order has been shipped and can’t be packed.": of a state, and of an event.
    situation: str = ""
    impossible: str = _("doesn’t allow this")
    button: str = ""  # the button by which staff cause the event
    done: str = (
        ""  # the message to staff who have caused the event; formatted with the event's details
    )


_READY, _PICKED_UP = _("Ready to pick up"), _("Picked up")

_STATUSES = {
    "pending_payment": Label("", _("Waiting for payment"), situation=_("is waiting for payment")),
    "unconfirmed": Label("", _("Waiting for your confirmation")),
    "payment_failed": Label("", _("Payment failed")),
    "on_hold": Label("", _("On hold"), situation=_("is on hold")),
    "closed": Label("", _("Completed"), situation=_("is closed")),
    "cancelled": Label("", _("Cancelled"), situation=_("has been cancelled")),
    "cancelled_and_refunded": Label("", _("Cancelled and refunded")),
    "expired": Label("", _("Not paid in time"), situation=_("wasn’t paid in time")),
    "expired_unconfirmed": Label("", _("Not confirmed in time")),
    "paid_too_late": Label("", _("Paid too late")),
    "expired_and_refunded": Label("", _("Refunded")),
    "unfulfilled": Label(_("Not sent"), _("Confirmed"), situation=_("is waiting to be packed")),
    "packed": Label("", _("Packed"), situation=_("is packed")),
    "partially_shipped": Label(
        _("Partly sent"),
        _("Partly sent"),
        pickup=_("Some items ready to pick up"),
        situation=_("has been shipped in part"),
    ),
    "shipped": Label(
        _("On its way"), _("On its way"), pickup=_READY, situation=_("has been shipped")
    ),
    "delivered": Label(
        _("Delivered"), _("Delivered"), pickup=_PICKED_UP, situation=_("has been delivered")
    ),
}

# The board's columns, from left to right.
_COLUMNS = {
    "unconfirmed": Label(_("Email not confirmed"), tone="warn"),
    "to_pay": Label(_("To pay"), tone="warn"),
    "payment_problem": Label(_("Payment problem"), tone="bad"),
    "to_pack": Label(_("To pack"), tone="accent"),
    "partly_shipped": Label(_("Partly shipped"), tone="calm"),
    "shipped": Label(_("Shipped"), tone="calm"),
    "late": Label(_("Late"), tone="bad"),
    "on_hold": Label(_("On hold"), tone="warn"),
    "returns_waiting": Label(_("Returns waiting"), tone="warn"),
    "done": Label(_("Done"), tone="good"),
    "cancelled": Label(_("Cancelled")),
}

_PAYMENTS = {
    "unpaid": Label(_("Not paid"), tone="warn"),
    "authorized": Label(_("Authorized"), tone="calm"),
    "paid": Label(_("Paid"), tone="good"),
    "partially_refunded": Label(_("Partly refunded"), tone="calm"),
    "refunded": Label(_("Refunded"), tone="calm"),
    "voided": Label(_("Nothing to pay")),
    "failed": Label(_("Payment failed"), tone="bad"),
}

_PAYMENT_ATTEMPTS = {
    "started": Label(_("started")),
    "authorized": Label(_("approved")),
    "captured": Label(_("received")),
    "declined": Label(_("declined")),
    "left_unpaid": Label(_("left unpaid")),
    "failed": Label(_("failed")),
    "voided": Label(_("released")),
    "refunded": Label(_("refunded")),
}

_PARCELS = {
    "packed": Label(_("Packed"), _("Packed"), tone="accent", customer_tone="calm"),
    "shipped": Label(
        _("On its way"), _("On its way"), tone="calm", customer_tone="good", pickup=_READY
    ),
    "delivered": Label(
        _("Delivered"), _("Delivered"), tone="good", customer_tone="good", pickup=_PICKED_UP
    ),
    "lost": Label(_("Lost"), _("Lost by the carrier"), tone="bad", customer_tone="bad"),
    "cancelled": Label(_("Unpacked")),
}

_RETURNS = {
    "requested": Label(
        _("Waiting for an answer"),
        _("Under review"),
        tone="warn",
        customer_tone="warn",
        explanation=_("Don’t send anything until you hear from us."),
    ),
    "approved": Label(
        _("Approved, on its way to us"),
        _("Approved: please send it"),
        tone="calm",
        customer_tone="warn",
    ),
    "rejected": Label(_("Declined"), _("Declined"), customer_tone="bad"),
    "received": Label(
        _("Received, to be refunded"),
        _("Received"),
        tone="warn",
        customer_tone="calm",
        explanation=_("We’ll refund you within a few days."),
    ),
    "refunded": Label(_("Refunded"), _("Refunded"), tone="good", customer_tone="good"),
    "closed": Label(_("Closed without a refund"), _("Completed"), customer_tone="good"),
}

_EVENTS = {
    "placed": Label(_("Order placed"), _("Ordered")),
    "email_confirmed": Label(_("Email address confirmed"), _("Email address confirmed")),
    "authorized": Label(_("Payment approved"), _("Payment confirmed")),
    "confirmed": Label(_("Confirmed"), _("Confirmed")),
    "captured": Label(_("Payment received"), _("Payment received")),
    "capture_refused": Label(_("Payment refused by the bank"), _("Payment failed")),
    "voided": Label(_("Payment released"), _("Payment released, nothing was charged")),
    # Only orders of earlier versions have this event.
    "paid": Label(_("Paid"), _("Payment received"), impossible=_("can’t be paid")),
    "paid_late": Label(_("Paid late"), _("Payment confirmed")),
    "paid_too_late": Label(_("Paid too late: to be refunded"), _("Your payment arrived too late")),
    "payment_started": Label(_("Payment started")),
    "payment_failed": Label(_("Payment failed"), _("Payment failed")),
    "payment_closed": Label(_("Payment closed")),
    "expired": Label(_("Not paid in time"), _("Not paid in time")),
    "packed": Label(_("Packed"), _("Packed"), button=_("Pack"), impossible=_("can’t be packed")),
    "shipped": Label(
        _("Shipped"),
        _("On its way"),
        pickup=_READY,
        button=_("Ship"),
        impossible=_("can’t be shipped"),
    ),
    "unpacked": Label(_("Unpacked"), impossible=_("can’t be unpacked")),
    "delivered": Label(
        _("Delivered"),
        _("Delivered"),
        pickup=_PICKED_UP,
        button=_("Mark as delivered"),
        impossible=_("can’t be marked as delivered"),
    ),
    "lost": Label(_("Lost"), _("A parcel was lost"), impossible=_("can’t be marked as lost")),
    "tracked": Label(
        _("Tracking updated"),
        _("Tracking updated"),
        impossible=_("can’t get another tracking number"),
    ),
    "allocated": Label(_("Stock has arrived for it")),
    "late": Label(_("Waiting to be packed for over 48 hours")),
    "changed": Label(_("Changed"), _("Order changed"), impossible=_("can no longer be changed")),
    "tagged": Label(_("Tags changed")),
    "held": Label(
        _("Put on hold"),
        _("On hold: we are checking something"),
        button=_("Put on hold"),
        impossible=_("can’t be put on hold"),
    ),
    "resumed": Label(
        _("Resumed"), _("No longer on hold"), button=_("Resume"), impossible=_("can’t be resumed")
    ),
    "closed": Label(_("Closed"), button=_("Close"), impossible=_("can’t be closed")),
    "cancelled": Label(
        _("Cancelled"),
        _("Cancelled"),
        button=_("Cancel"),
        impossible=_("can no longer be cancelled"),
    ),
    "withdrawn": Label(_("Withdrawal from the contract"), _("Withdrawal received")),
    "return_requested": Label(
        _("Return requested"), _("Return requested"), impossible=_("can’t be returned")
    ),
    "return_approved": Label(
        _("Return approved"),
        _("Return approved"),
        impossible=_("has no return to approve"),
        done=_("return %(return)s approved"),
    ),
    "return_rejected": Label(
        _("Return declined"),
        _("Return declined"),
        impossible=_("has no return to decline"),
        done=_("return %(return)s declined"),
    ),
    "return_received": Label(
        _("Return received"),
        _("Return received"),
        impossible=_("has no return to receive"),
        done=_("return %(return)s received"),
    ),
    "return_closed": Label(
        _("Return closed without a refund"),
        _("Return closed"),
        impossible=_("has no return to close"),
        done=_("return %(return)s closed without a refund"),
    ),
    "refund_owed": Label(_("Refund decided"), impossible=_("can’t be refunded")),
    "refunded": Label(
        _("Refunded"),
        _("Refund sent"),
        impossible=_("has no refund to send"),
        done=_("refund sent"),
    ),
    "erased": Label(_("Customer data deleted")),
    "note": Label(_("Note"), _("Message from us"), done=_("note added")),
}

# `status` is an order's state or, once it is confirmed, its fulfilment; `column` is a column of the board.
ORDER_LABELS: Mapping[str, Mapping[str, Label]] = {
    "status": _STATUSES,
    "column": _COLUMNS,
    "payment": _PAYMENTS,
    "payment_attempt": _PAYMENT_ATTEMPTS,
    "parcel": _PARCELS,
    "return": _RETURNS,
    "event": _EVENTS,
}


def customer_label(group: str, key: str, *, is_pickup: bool = False) -> str:
    """Return the shopper's word for a state or an event, translated; '' if it has none."""
    label = ORDER_LABELS[group][key]
    text = (is_pickup and label.pickup) or label.customer
    return gettext(text) if text else ""


def staff_label(group: str, key: str, *, is_pickup: bool = False) -> str:
    """Return the staff's word for a state or an event, translated; an unknown key is returned unchanged."""
    label = ORDER_LABELS[group].get(key)
    return gettext((is_pickup and label.pickup) or label.staff) if label else key
