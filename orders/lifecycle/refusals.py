"""Builds the sentence that says why an order does not allow an event. The words of the sentence are in labels.py."""

from django.utils.translation import gettext

from orders.lifecycle.entities import Order
from orders.lifecycle.labels import ORDER_LABELS
from orders.lifecycle.states import CONFIRMED


def describe_refusal(order: Order, kind: str, why: str = "") -> str:
    """Return the sentence about a refused event of this kind. The reason is `why` or, if that is "", the order's state."""
    impossible = gettext(ORDER_LABELS["event"][kind].impossible)
    if why:
        return gettext("This order %(impossible)s: %(why)s.") % {
            "impossible": impossible,
            "why": why,
        }
    return gettext("This order %(situation)s and %(impossible)s.") % {
        "situation": gettext(ORDER_LABELS["status"][_situation(order)].situation),
        "impossible": impossible,
    }


def _situation(order: Order) -> str:
    if order.state != CONFIRMED:
        return order.state
    return (
        "packed"
        if order.fulfilment == "unfulfilled" and order.has_packed_parcel
        else order.fulfilment
    )
