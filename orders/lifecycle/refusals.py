"""Why something cannot happen to an order, in a sentence for people: what is not possible, and what the order is instead."""

from django.utils.translation import gettext, gettext_noop

from orders.lifecycle.entities import Order
from orders.lifecycle.states import CANCELLED, CLOSED, EXPIRED, ON_HOLD, PENDING

# The end of "This order has been shipped and …".
_IMPOSSIBLE = {
    "packed": gettext_noop("can’t be packed"),
    "unpacked": gettext_noop("can’t be unpacked"),
    "shipped": gettext_noop("can’t be shipped"),
    "delivered": gettext_noop("can’t be marked as delivered"),
    "lost": gettext_noop("can’t be marked as lost"),
    "tracked": gettext_noop("can’t get another tracking number"),
    "held": gettext_noop("can’t be put on hold"),
    "resumed": gettext_noop("can’t be resumed"),
    "closed": gettext_noop("can’t be closed"),
    "cancelled": gettext_noop("can no longer be cancelled"),
    "changed": gettext_noop("can no longer be changed"),
    "return_requested": gettext_noop("can’t be returned"),
    "return_approved": gettext_noop("has no return to approve"),
    "return_rejected": gettext_noop("has no return to decline"),
    "return_received": gettext_noop("has no return to receive"),
    "return_closed": gettext_noop("has no return to close"),
    "refund_owed": gettext_noop("can’t be refunded"),
    "refunded": gettext_noop("has no refund to send"),
    "paid": gettext_noop("can’t be paid"),
}
_STATES = {
    PENDING: gettext_noop("is waiting for payment"),
    ON_HOLD: gettext_noop("is on hold"),
    CLOSED: gettext_noop("is closed"),
    CANCELLED: gettext_noop("has been cancelled"),
    EXPIRED: gettext_noop("wasn’t paid in time"),
}
_FULFILMENTS = {
    "partially_shipped": gettext_noop("has been shipped in part"),
    "shipped": gettext_noop("has been shipped"),
    "delivered": gettext_noop("has been delivered"),
}


def describe_refusal(order: Order, kind: str, why: str = "") -> str:
    """Return in a sentence that an event of this kind cannot happen to the order, and why: as `why` says, or its state."""
    impossible = gettext(_IMPOSSIBLE.get(kind, gettext_noop("doesn’t allow this")))
    if why:
        return gettext("This order %(impossible)s: %(why)s.") % {
            "impossible": impossible,
            "why": why,
        }
    return gettext("This order %(situation)s and %(impossible)s.") % {
        "situation": gettext(_situation(order)),
        "impossible": impossible,
    }


def _situation(order: Order) -> str:
    if order.state in _STATES:
        return _STATES[order.state]
    if order.fulfilment in _FULFILMENTS:
        return _FULFILMENTS[order.fulfilment]
    return (
        gettext_noop("is packed")
        if order.has_packed_parcel
        else gettext_noop("is waiting to be packed")
    )
