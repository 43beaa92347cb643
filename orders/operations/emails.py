"""The mails about an order: one for each event that its shopper should know of, however often its effects are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts import queries as accounts
from mail.operations import queue_mail
from mail.queries import list_unmailed_events
from orders import links
from orders.carriers import tracking_url
from orders.entities import Order
from orders.events import Event, parse_line_units
from orders.items import Item
from orders.parcels import ItemUnits
from orders.states import CONFIRMING_EVENTS, PENDING
from payments.gateways import CARD, CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

# Older events are not news any more, and an importer of old orders sends no mail.
NEWS_FOR = timedelta(days=2)
# An order from a cart is confirmed by mail, however late: for as long as the outbox remembers what it has sent.
# Imported orders have no cart.
CONFIRMED_FOR = timedelta(days=29)


@dataclass(frozen=True)
class MailContent:
    """The content of a mail about an event: paragraphs, perhaps some items, and a link."""

    headline: str
    paragraphs: tuple[str, ...]
    contents: tuple[ItemUnits, ...] = ()
    contents_title: str = ""
    has_order_summary: bool = False  # the order with its sums stands below
    link_label: str = "Follow my order"
    tracking_url: str = ""  # the carrier's page
    bank_account: tuple[str, ...] = ()  # for a transfer


def queue_order_mails(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Put the mails for an order's events into the outbox; those that are there already stay as they are.

    There is no mail about events more than two days old, except for the confirmation, and none about an erased person's
    order. Raises CassandraUnavailable.
    """
    if order.is_erased:
        return
    fresh = [
        event
        for event in order.events
        if event.at >= datetime.now(UTC) - _news_period(order, event)
    ]
    mails: dict[str, tuple[Event, MailContent]] = {}
    for event in fresh:
        event_key = (
            "confirmed" if event.kind in CONFIRMING_EVENTS else f"{event.kind} {event.event_id}"
        )
        if content := compose_mail(order, event, items):
            mails.setdefault(event_key, (event, content))
    missing = list_unmailed_events(order.order_id, mails)
    if not missing:
        return
    member = accounts.get_user(order.user_id) if order.user_id else None
    plain = bool(member and member.plain_mail)
    url = (
        f"{settings.PUBLIC_URL}{reverse('orders:track', args=[links.track_token(order.order_id)])}"
    )
    context = {"order": order, "items": order.current_lines(items) or items, "url": url}
    for event_key in missing:
        event, content = mails[event_key]
        template = "order_placed" if event.kind in CONFIRMING_EVENTS else "order_moved"
        queue_mail(
            order.order_id,
            event_key,
            order.email,
            template,
            context | {"letter": content},
            now,
            plain=plain,
        )


def _news_period(order: Order, event: Event) -> timedelta:
    return CONFIRMED_FOR if event.kind in CONFIRMING_EVENTS and order.cart_id else NEWS_FOR


def compose_mail(order: Order, event: Event, items: Iterable[Item]) -> MailContent | None:
    """Return the mail about an event, None for an event that needs none."""
    kind = "confirmed" if event.kind in CONFIRMING_EVENTS else event.kind
    compose = _COMPOSERS.get(kind)
    return compose(order, event, tuple(items)) if compose else None


def _placed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    if order.payment_method != TRANSFER or order.state != PENDING:
        return None
    return MailContent(
        "Please pay your order",
        (
            f"Thank you, we have your order. Please transfer {format_money(order.total)} "
            f"by {_day(order.pay_until)}, and write {order.number} as the reference.",
            "We keep your things for you until then, and send them as soon as the money is there.",
        ),
        has_order_summary=True,
        bank_account=tuple(settings.BANK_ACCOUNT.split("|")),
    )


def _confirmed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    first, last = order.method.delivery_estimate(event.at)
    days = _plain_day(first) if first == last else f"{_plain_day(first)} to {_plain_day(last)}"
    paragraphs = [
        f"We pack it next, and write again when it leaves our warehouse. It should reach you {days}."
    ]
    if order.payment_method == CASH_ON_DELIVERY:
        paragraphs.append(f"You pay the carrier {format_money(order.total)} at your door.")
    return MailContent("Your order", tuple(paragraphs), has_order_summary=True)


def _payment_failed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    if order.state != PENDING:
        return None  # it was paid after all, or has ended: another mail is about that
    return MailContent(
        "The payment did not go through",
        (
            "Your bank has declined the payment. Nothing was charged.",
            f"You can try again, with another card too, until {_time(order.pay_until)}. So long we keep your things for you.",
        ),
        link_label="Pay my order",
    )


def _expired(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "Your order was not paid in time",
        (
            "No payment has reached us in time, so we have given its things back. Nothing was charged.",
            "Is the money on its way? Then we take your things again as soon as it comes, or send it back if they are sold.",
        )
        if order.payment_method == TRANSFER
        else (
            "No payment has reached us in time, so we have given its things back. Nothing was charged.",
            "If you still want them, you can order them again.",
        ),
    )


def _too_late(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "Your payment came too late",
        (
            event.note
            or "Your payment came after the order had ended, and meanwhile its things were sold.",
            "You get all of it back, and have nothing to do.",
        ),
    )


def _capture_refused(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "There is a problem with your payment",
        (
            "Your bank had approved the payment, and does not carry it out now. Nothing was charged.",
            "We keep your things for you and look into it. You need do nothing yet; answer to this mail if you have a question.",
        ),
    )


def _shipped(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    parcel_id = event.details.get("parcel")
    sent = [
        each
        for each in order.parcels(items)
        if (each.shipped_at == event.at if parcel_id is None else each.parcel_id == parcel_id)
    ]
    contents = tuple(content for parcel in sent for content in parcel.contents)
    carrier = sent[0].carrier if sent and sent[0].carrier else order.method.carrier
    tracking = sent[0].tracking if sent else ""
    whole = sum(each.count for each in order.parcels() if each.is_sent) >= sum(
        order.quantities.values()
    )
    paragraphs = [
        f"{'It' if whole and len(order.parcels()) == 1 else 'A parcel of your order'} is on its way with {carrier}."
    ]
    if tracking:
        paragraphs.append(f"Its number there is {tracking}.")
    if not whole:
        paragraphs.append("The rest comes in another parcel; we write to you about it, too.")
    return MailContent(
        "Your order is on its way" if whole else "A parcel is on its way",
        tuple(paragraphs),
        contents,
        "In the parcel",
        tracking_url=tracking_url(carrier, tracking),
    )


def _delivered(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    until = timezone.localdate(event.at) + timedelta(days=settings.RETURN_DAYS)
    return MailContent(
        "Your parcel has arrived",
        (
            "We hope that all is well with it.",
            f"If not, you can send things back until {_plain_day(until)}: ask for it on your order’s page.",
        ),
        _parcel_contents(order, event, items),
        "In the parcel",
        link_label="See my order",
    )


def _lost(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "A parcel was lost",
        (
            "The carrier has lost a parcel of your order. We are sorry.",
            "You need do nothing: we send its things again, or give you the money back, and write to you about it.",
        ),
        _parcel_contents(order, event, items),
        "In the parcel",
    )


def _parcel_contents(order: Order, event: Event, items: tuple[Item, ...]) -> tuple[ItemUnits, ...]:
    parcel_id = event.details.get("parcel")
    return tuple(
        content
        for parcel in order.parcels(items)
        if parcel_id is None or parcel.parcel_id == parcel_id
        for content in parcel.contents
    )


def _changed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    paragraphs = ["It is this now:"]
    was, total = event.details["sums"].get("was"), event.details["sums"]["total"]
    if was is not None and was > total and order.captured.amount:
        less = format_money(from_minor_units(was - total, order.total.currency.code))
        paragraphs = [f"You get {less} back, because it costs less now. It is this now:"]
    return MailContent("Your order was changed", tuple(paragraphs), has_order_summary=True)


def _cancelled(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    remaining = order.captured - order.refunded
    paragraph = (
        f"We send {format_money(remaining)} back. We write to you when it has gone."
        if remaining.amount
        else _refund_sentence(order)
    )
    return MailContent(
        "Your order was cancelled", (paragraph,), has_order_summary=True, link_label="See my order"
    )


def _refund_sentence(order: Order) -> str:
    return (
        f"Given back: {format_money(order.refunded)}."
        if order.refunded.amount
        else "Nothing was charged."
    )


def _return_requested(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "You want to send something back",
        (
            "We have your request and look at it within two working days. Please send nothing before we have answered.",
        ),
        _return_contents(event, order, items),
        "To be sent back",
        link_label="See my order",
    )


def _return_approved(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    number, return_id = order.number, event.details.get("return", "")
    return MailContent(
        "Please send it back",
        (
            f"Put a slip with {number} / {return_id} into the parcel and send it to: {seller_line()}.",
            "Keep the receipt. When the parcel is here, we look at it, and you get your money back.",
        ),
        _return_contents(event, order, items),
        "To be sent back",
        link_label="See my order",
    )


def _return_rejected(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    why = (event.note,) if event.note else ()
    return MailContent(
        "We cannot take it back",
        (*why, "If you see that differently, simply answer to this mail."),
        _return_contents(event, order, items),
        "You wanted to send back",
        link_label="See my order",
    )


def _return_received(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        "What you sent back is here",
        (
            "We look at it now. You get your money back within a few days, and a mail when it has gone.",
        ),
        _return_contents(event, order, items),
        "Sent back",
        link_label="See my order",
    )


def _return_contents(event: Event, order: Order, items: tuple[Item, ...]) -> tuple[ItemUnits, ...]:
    return_id = event.details.get("return")
    lines = next((each.lines for each in order.returns if each.return_id == return_id), {})
    items_by_line = {item.line_number: item for item in items}
    return tuple(
        ItemUnits(items_by_line[line], count)
        for line, count in lines.items()
        if line in items_by_line
    )


def _refunded(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    refund = next(
        (each for each in order.refunds if each.refund_id == event.details.get("refund")), None
    )
    amount = refund.amount if refund else order.refunded
    items_by_line = {item.line_number: item for item in items}
    lines = refund.lines if refund else {}
    paragraphs = [
        f"We have sent {format_money(amount)} back to you. {describe_refund_route(order)}"
    ]
    if refund and refund.reason:
        paragraphs.insert(0, f"For: {refund.reason}")
    return MailContent(
        f"{format_money(amount)} is on its way back to you",
        tuple(paragraphs),
        tuple(
            ItemUnits(items_by_line[line], count)
            for line, count in parse_line_units(lines).items()
            if line in items_by_line
        ),
        "For these things",
        link_label="See my order",
    )


def describe_refund_route(order: Order) -> str:
    """Return how a refund of an order reaches its buyer, in a sentence."""
    if order.payment_method == CARD:
        return "It is on your card again within three to five working days."
    if order.payment_method in MANUAL_METHODS:
        return "It goes to your bank account, and is there within two working days."
    return ""


def seller_line() -> str:
    """Return the seller's name and address in one line."""
    return ", ".join([settings.SELLER["name"], *settings.SELLER["address"]])


def _day(moment: datetime) -> str:
    return str(date_format(timezone.localtime(moment), "l j F Y"))


def _plain_day(day: date) -> str:
    return str(date_format(day, "l j F"))


def _time(moment: datetime) -> str:
    return str(date_format(timezone.localtime(moment), "H:i"))


_COMPOSERS: dict[str, Callable[[Order, Event, tuple[Item, ...]], MailContent | None]] = {
    "placed": _placed,
    "confirmed": _confirmed,
    "payment_failed": _payment_failed,
    "expired": _expired,
    "paid_too_late": _too_late,
    "capture_refused": _capture_refused,
    "shipped": _shipped,
    "delivered": _delivered,
    "lost": _lost,
    "changed": _changed,
    "cancelled": _cancelled,
    "return_requested": _return_requested,
    "return_approved": _return_approved,
    "return_rejected": _return_rejected,
    "return_received": _return_received,
    "refunded": _refunded,
}
