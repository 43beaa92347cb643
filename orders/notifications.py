"""What members are told about their orders."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from cassandra_db import current_time
from notifications.entities import ORDERS, Kind, Line, News, Notification, describe_ids
from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.states import CONFIRMING_EVENTS

# Older events are told to nobody, nor are those of imported orders.
NEWS_FOR = timedelta(days=2)
PAID, SHIPPED, READY = "order_paid", "order_shipped", "order_ready"
DELIVERED, REFUNDED, RETURN_ANSWERED = "order_delivered", "order_refunded", "return_answered"
_WORDS = {
    "order_paid": gettext_noop("Order %(number)s is confirmed"),
    "order_shipped": gettext_noop("Order %(number)s is on its way"),
    "order_ready": gettext_noop("Order %(number)s is ready to pick up"),
    "order_delivered": gettext_noop("Order %(number)s has arrived"),
    "order_refunded": gettext_noop("We’ve sent a refund for order %(number)s"),
    "return_approved": gettext_noop("Your return from order %(number)s is approved"),
    "return_rejected": gettext_noop("Your return from order %(number)s is declined"),
}


def find_kind(order: Order, event: Event) -> str:
    """Return the kind of notifications that an event of an order belongs to; "" for none."""
    if event.kind in CONFIRMING_EVENTS:
        return PAID
    if event.kind == "shipped":
        return SHIPPED if order.find_carrier(event.details.get("parcel")) else READY
    if event.kind in ("return_approved", "return_rejected"):
        return RETURN_ANSWERED
    return {"delivered": DELIVERED, "refunded": REFUNDED}.get(event.kind, "")


def prepare_news(order_id: UUID, detail: str, noted_at: datetime) -> list[News]:
    """Return the recent events of a member's order. Raises CassandraUnavailable."""
    order = queries.get_order(order_id)
    if order is None or order.user_id is None or order.is_erased:
        return []
    since, found, is_paid = current_time() - NEWS_FOR, list[News](), False
    for event in reversed(order.events):
        kind = find_kind(order, event)
        if not kind or (kind == PAID and is_paid):
            continue
        is_paid = is_paid or kind == PAID
        what = event.kind if kind == RETURN_ANSWERED else kind
        ids = {"order": order.number, "event": event.event_id.hex, "what": what}
        if event.at >= since:
            found.append(News(kind, order.user_id, event.at, ids))
    return found


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Return the words of notifications about orders, which need no reads."""

    def write(note: Notification) -> Line | None:
        number, text = note.ids.get("order", ""), _WORDS.get(note.ids.get("what", ""))
        if not text or not number:
            return None
        return Line(gettext(text) % {"number": number}, reverse("orders:detail", args=[number]))

    return describe_ids(notes, write)


_GONE = _("News about an order that is gone")
KINDS = [
    Kind(PAID, ORDERS, _("Order confirmed"), _GONE, describe, is_always_mailed=True),
    Kind(SHIPPED, ORDERS, _("Order on its way"), _GONE, describe, has_own_mail=True),
    Kind(READY, ORDERS, _("Order ready to pick up"), _GONE, describe, has_own_mail=True),
    Kind(DELIVERED, ORDERS, _("Order delivered"), _GONE, describe, has_own_mail=True),
    Kind(REFUNDED, ORDERS, _("Refund sent"), _GONE, describe, is_always_mailed=True),
    Kind(RETURN_ANSWERED, ORDERS, _("Return answered"), _GONE, describe, has_own_mail=True),
]
