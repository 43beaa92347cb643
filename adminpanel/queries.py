"""What the staff's screens put together from the orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import queries as accounts
from accounts.models import User
from adminpanel.order_forms import AnyForm, line_contents
from cassandra_db import current_time
from inventory.warehouses import find_warehouse_name
from mail import fates
from mail.queries import order_mails_from_rows, prefetch_order_mails
from orders import parcels, queries, returns
from orders import viewers as viewing
from orders.carriers import tracking_url
from orders.entities import Order
from orders.events import Event
from orders.items import Item
from orders.parcels import ItemUnits, Parcel
from orders.payment_attempts import PaymentAttempt
from orders.refunds import Refund
from orders.returns import Return
from orders.states import PICKUP_LABELS
from orders.viewers import Viewer
from payments.gateways import MANUAL_METHODS
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

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
NUMBERED = {
    "parcel": gettext_lazy("parcel %(parcel)s"),
    "return": gettext_lazy("return %(return)s"),
}
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


@dataclass(frozen=True)
class StaffHistoryEntry:
    """An event of an order, in words for staff."""

    label: str
    actor: str
    at: datetime
    note: str
    is_public: bool  # whether the shopper is shown the event, and
    is_note_public: bool  # its note
    details: str = ""  # which parcel, how much


def staff_history(order: Order) -> tuple[StaffHistoryEntry, ...]:
    """Return the whole history of an order, private notes included, the newest first."""
    return tuple(_line(event, order) for event in order.events)


def _line(event: Event, order: Order) -> StaffHistoryEntry:
    return StaffHistoryEntry(
        event_label(order, event),
        actor_label(event),
        event.at,
        event.note,
        event.public,
        event.public and (event.actor == "system" or event.kind in returns.ANSWERS),
        _event_details(event, order),
    )


def event_label(order: Order, event: Event) -> str:
    """Return what has happened to an order, in words for staff."""
    if event.kind in PICKUP_LABELS and not order.find_carrier(event.details.get("parcel")):
        return _(PICKUP_LABELS[event.kind])
    return str(EVENTS.get(event.kind) or event.staff_label)


def describe_submitted_event(order: Order, event: Event) -> str:
    """Return what a member of staff has just done, as the end of a sentence."""
    details, currency = event.details, order.total.currency.code

    def amount(name: str) -> str:
        return format_money(from_minor_units(int(details[name]), currency))

    match event.kind:
        case "packed" if "parcel" in details:
            return _("parcel %(parcel)s packed") % details
        case "shipped" | "unpacked" | "delivered" | "lost" | "tracked" if "parcel" in details:
            return _("parcel %(number)s: %(what)s") % {
                "number": details["parcel"],
                "what": event_label(order, event).lower(),
            }
        case "return_approved":
            return _("return %(return)s approved") % details
        case "return_rejected":
            return _("return %(return)s declined") % details
        case "return_received":
            return _("return %(return)s received") % details
        case "return_closed":
            return _("return %(return)s closed without a refund") % details
        case "refund_owed":
            return _("%(amount)s will be refunded") % {"amount": amount("amount")}
        case "refunded":
            return _("refund sent")
        case "changed" if "address" in details:
            return _("delivery address changed")
        case "changed":
            return _("the new total is %(total)s") % {"total": format_money(order.total)}
        case "captured" if int(details["came"]) > int(details["amount"]):
            extra = format_money(
                from_minor_units(int(details["came"]) - int(details["amount"]), currency)
            )
            return _("%(amount)s recorded; %(extra)s is too much: send it back") % {
                "amount": amount("amount"),
                "extra": extra,
            }
        case "captured":
            return _("%(amount)s recorded") % {"amount": amount("amount")}
        case "tagged":
            return ", ".join(_tag_changes(event))
        case "note" if details.get("added_order"):
            return _("order %(number)s adds to it") % {"number": details["added_order"]}
        case "note":
            return _("note added")
    return event_label(order, event).lower()


def _event_details(event: Event, order: Order) -> str:
    details, currency = event.details, order.total.currency.code
    parts = [words % details for name, words in NUMBERED.items() if details.get(name)]
    if event.kind == "packed":
        parts = [
            _("parcel %(parcel)s in %(warehouse)s")
            % {**each, "warehouse": find_warehouse_name(each["warehouse"])}
            for each in details.get("parcels") or [details]
            if each
        ]
    parts += [str(details[name]) for name in ("carrier", "tracking", "reason") if details.get(name)]
    if event.kind in ("authorized", "captured", "refund_owed", "refunded") and details.get(
        "amount"
    ):
        parts.insert(0, format_money(from_minor_units(int(details["amount"]), currency)))
    if event.kind == "tagged":
        parts = _tag_changes(event)
    if details.get("added_order"):
        parts.append(_("order %(number)s adds to this one") % {"number": details["added_order"]})
    if details.get("offered_by"):
        parts.append(_("offered by %(name)s") % {"name": name_actor(details["offered_by"])})
    if event.kind == "changed":
        parts = [
            words % {"amount": format_money(from_minor_units(details["sums"][name], currency))}
            for name, words in (("was", _("%(amount)s before")), ("total", _("%(amount)s now")))
        ]
    return ", ".join(parts)


def _tag_changes(event: Event) -> list[str]:
    words = {"added": _("added: %(tags)s"), "removed": _("removed: %(tags)s")}
    return [
        text % {"tags": ", ".join(event.details[name])}
        for name, text in words.items()
        if event.details[name]
    ]


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


def address_lines(order: Order) -> tuple[Sequence[str], Sequence[str]]:
    """Return the delivery address and, if it is another one, the invoice's, line by line."""
    delivery, billing = (
        [*each.lines, *filter(None, [each.phone])]
        for each in (order.delivery_address, order.billing_address)
    )
    return delivery, billing if billing != delivery else []


@dataclass(frozen=True)
class OrderMail:
    """A mail about an order, in its list: what it was called, since when it is there, and what became of it."""

    mail_id: UUID
    subject: str
    queued_at: datetime
    fate_label: StrOrPromise
    tone: str


@dataclass(frozen=True)
class OrderPage:
    """All that an order's page shows."""

    order: Order
    items: tuple[Item, ...]
    attempts: tuple[PaymentAttempt, ...]
    viewers: tuple[Viewer, ...]
    known_tags: tuple[str, ...]
    mails: tuple[OrderMail, ...]
    now: datetime
    # who has ordered; of a guest's order the account with its e-mail address; None if there is none, or no more
    customer: User | None = None


def get_order_page(order: Order) -> OrderPage:
    """Return an order with what its page shows beside it, read side by side. Raises CassandraUnavailable.

    The customer of a guest's order is the account that has its e-mail address, if there is one.
    """
    items, attempts = (
        queries.prefetch_items(order.order_id),
        queries.prefetch_payments(order.order_id),
    )
    viewers, known_tags = viewing.prefetch_viewers(order.number), queries.prefetch_recent_tags()
    mails = prefetch_order_mails(order.number)
    reading = accounts.prefetch_profile(order.user_id) if order.user_id else None
    if reading:
        row = reading.one()
        customer = accounts.user_from_row(row) if row else None
    else:
        customer = accounts.find_user_by_email(order.email) if order.email else None
    return OrderPage(
        order,
        queries.items_from_rows(order, items.rows()),
        queries.add_payment_references(order, attempts.rows()).payment_attempts,
        viewing.viewers_from_rows(viewers.rows()),
        queries.tags_from_rows(known_tags.rows()),
        tuple(
            OrderMail(row.mail_id, row.subject, row.queued_at, *fates.LABELS[row.fate])
            for row in order_mails_from_rows(mails.rows())
        ),
        current_time(),
        customer,
    )


@dataclass(frozen=True)
class ParcelPanel:
    """A parcel on an order's page; `form` is what can be done with it, `tracking_form` corrects its number; if anything does."""

    parcel: Parcel
    state_label: str
    tone: str
    tracking_url: str
    form: AnyForm | None
    tracking_form: AnyForm | None


@dataclass(frozen=True)
class ReturnPanel:
    """A return on an order's page, and what can be done with it: answered or received, and refunded."""

    order_return: Return
    contents: Sequence[ItemUnits]
    state_label: str
    tone: str
    form: AnyForm | None
    refund: AnyForm | None

    @property
    def is_awaiting_answer(self) -> bool:
        return self.order_return.state == returns.REQUESTED


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


def parcel_panels(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ParcelPanel]:
    """Return an order's parcels, the first one first; `forms` are those of its page, by their keys."""
    return [
        ParcelPanel(
            each,
            *_parcel_words_and_tone(order, each),
            tracking_url(each.carrier, each.tracking),
            forms.get(f"parcel-{each.parcel_id}"),
            forms.get(f"tracking-{each.parcel_id}"),
        )
        for each in order.parcels(items)
    ]


def return_panels(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ReturnPanel]:
    """Return an order's returns, the newest first; `forms` are those of its page, by their keys."""
    return [
        ReturnPanel(
            each,
            line_contents(items, each.lines),
            *_words_and_tone(RETURNS[each.state]),
            forms.get(f"return-{each.return_id}"),
            forms.get(f"refund-{each.return_id}"),
        )
        for each in reversed(order.returns)
    ]


def manual_refunds(order: Order) -> Sequence[Refund]:
    """Return the refunds that wait for staff to send them: nobody else can."""
    return order.due_refunds if order.payment_method in MANUAL_METHODS else ()
