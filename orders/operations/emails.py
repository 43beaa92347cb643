"""The mails about an order: one for each event that its shopper should know of, however often its effects are applied."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts import queries as accounts
from cassandra_db import current_time
from mail.operations import MailOptions, queue_mail
from mail.queries import list_unmailed_events
from mail.words import quote_words
from orders import links
from orders.carriers import tracking_url
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event, parse_line_units
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits
from orders.lifecycle.states import CONFIRMING_EVENTS, PENDING
from payments.methods import CARD, CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from shop_settings.terms import get_terms
from web.days import last_day
from web.durations import format_deadline

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
    link_label: str = gettext_noop("Track my order")
    tracking_url: str = ""  # the carrier's page
    bank_account: tuple[str, ...] = ()  # for a transfer
    url: str = ""  # where the link leads; by default to the order's page


def queue_order_mails(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Put the mails for an order's events into the outbox; those that are there already stay as they are.

    There is no mail about events more than two days old, except for the confirmation, and none about an erased person's
    order. To an address that may be a stranger's goes one mail at the most, to confirm the order. Raises CassandraUnavailable.
    """
    if order.is_erased:
        return
    fresh = [
        event for event in order.events if event.at >= current_time() - _news_period(order, event)
    ]
    mails: dict[str, tuple[Event, MailContent]] = {}
    for event in fresh:
        if content := compose_mail(order, event, items):
            mails.setdefault(mail_event_key(event), (event, content))
    missing = list_unmailed_events(order.order_id, mails)
    if not missing:
        return
    options = mail_options(order)
    for event_key in missing:
        event, content = mails[event_key]
        template = "order_placed" if event.kind in CONFIRMING_EVENTS else "order_updated"
        queue_mail(
            order.order_id,
            event_key,
            order.email,
            template,
            mail_context(order, items, content),
            now,
            options,
        )


def mail_event_key(event: Event) -> str:
    """Return the event of which the mail about this one is, for `mail.queries.derive_mail_id`: an order is confirmed once."""
    return "confirmed" if event.kind in CONFIRMING_EVENTS else f"{event.kind} {event.event_id}"


def mail_options(order: Order) -> MailOptions:
    """Return how mails about an order are treated: as its member prefers. Raises CassandraUnavailable."""
    member = accounts.get_user(order.user_id) if order.user_id else None
    # A member may have ordered with another address than the account's, so the mail is also linked to the member.
    return MailOptions(bool(member and member.plain_mail), order.user_id, order.number)


def mail_context(order: Order, items: tuple[Item, ...], content: MailContent) -> dict[str, Any]:
    """Return the context of an order's mail. Nothing that was typed is in it unless the address is known to be the shopper's."""
    is_confirmed = order.is_email_confirmed
    track_url = reverse("orders:track", args=[links.order_access_token(order.order_id)])
    return {
        "order": order,
        "items": order.current_lines(items) or items,
        "letter": content,
        "url": content.url or settings.PUBLIC_URL + track_url,
        "withdrawal_url": f"{settings.PUBLIC_URL}{reverse('orders:withdraw')}?number={order.number}",
        "name": order.name if is_confirmed else "",
        "delivery_address": order.delivery_address.lines if is_confirmed else (),
        "reject_url": ""
        if is_confirmed or not order.can_be_cancelled
        else links.confirmation_url(order.order_id),
    }


def _news_period(order: Order, event: Event) -> timedelta:
    return CONFIRMED_FOR if event.kind in CONFIRMING_EVENTS and order.cart_id else NEWS_FOR


def compose_mail(order: Order, event: Event, items: Iterable[Item]) -> MailContent | None:
    """Return the mail about an event, None for an event that needs none."""
    kind = "confirmed" if event.kind in CONFIRMING_EVENTS else event.kind
    # Whoever withdraws from a contract has it acknowledged, with none of the words that were typed.
    if order.is_unproved and kind not in ("placed", "withdrawn"):
        return None
    compose = _COMPOSERS.get(kind)
    return compose(order, event, tuple(items)) if compose else None


def compose_confirmation_mail(order: Order) -> MailContent:
    """Return the mail that asks whoever reads it to confirm an order: the first one to an address that may be a stranger's."""
    return MailContent(
        _("Please confirm your order"),
        (
            _("Somebody has ordered at Stoa with your email address."),
            _(
                "If it was you, confirm your order by %(time)s: open the link below and press the button."
                " Your items are reserved until then. Without your confirmation the order expires."
            )
            % {"time": format_deadline(order.pay_until)},
        ),
        has_order_summary=True,
        link_label=_("Confirm my order"),
        url=links.confirmation_url(order.order_id),
    )


def _placed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    if order.needs_email_confirmation:
        return compose_confirmation_mail(order)
    has_been_confirmed = any(each.kind == "email_confirmed" for each in order.events)
    return None if has_been_confirmed or order.is_unproved else _to_be_paid(order, event, items)


def _to_be_paid(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    if order.payment_method != TRANSFER or order.state != PENDING:
        return None
    return MailContent(
        _("Please pay for your order"),
        (
            _(
                "Thank you for your order. Please transfer %(total)s by %(day)s"
                " and use %(number)s as the reference."
            )
            % {
                "total": format_money(order.total),
                "day": _last_day(order.pay_until),
                "number": order.number,
            },
            _(
                "Your items are reserved until then. We’ll send them as soon as your payment arrives."
            ),
        ),
        has_order_summary=True,
        bank_account=tuple(settings.BANK_ACCOUNT.split("|")),
    )


def _confirmed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    first, last = order.method.delivery_estimate(event.at)
    days = (
        _plain_day(first)
        if first == last
        else _("%(first)s to %(last)s") % {"first": _plain_day(first), "last": _plain_day(last)}
    )
    paragraphs = [
        (
            _(
                "We’ll pack it next and email you when it leaves our warehouse. It should arrive %(days)s."
            )
            if order.method.carrier
            else _(
                "We’ll pack it next and email you when you can pick it up. It should be ready %(days)s."
            )
        )
        % {"days": days}
    ]
    if order.payment_method == CASH_ON_DELIVERY and order.total.amount:
        paragraphs.append(
            (
                _("You pay the carrier %(total)s on delivery.")
                if order.method.carrier
                else _("You pay %(total)s when you pick it up.")
            )
            % {"total": format_money(order.total)}
        )
    return MailContent(_("Your order"), tuple(paragraphs), has_order_summary=True)


def _payment_failed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    if order.state != PENDING:
        return None  # it was paid after all, or has ended: another mail is about that
    return MailContent(
        _("Your payment didn’t go through"),
        (
            _(order.payment_failure.headline),
            _(order.payment_failure.explanation),
            _("Your items are reserved until %(time)s.")
            % {"time": format_deadline(order.pay_until)},
        ),
        link_label=_("Pay for my order"),
    )


def _expired(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("Your order wasn’t paid in time"),
        (
            _(
                "We didn’t receive your payment in time, so we released your items. Nothing was charged."
            ),
            _(
                "If your payment is already on its way, we’ll reserve your items again when it arrives,"
                " or refund you if they’ve been sold."
            ),
        )
        if order.payment_method == TRANSFER
        else (
            _(
                "We didn’t receive your payment in time, so we released your items. Nothing was charged."
            ),
            _("If you still want them, you can order them again."),
        ),
    )


def _too_late(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("Your payment arrived too late"),
        (
            event.note
            or _("Your payment arrived after the order had expired, and the items have been sold."),
            _("We’ll refund you in full. You don’t need to do anything."),
        ),
    )


def _capture_refused(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("There is a problem with your payment"),
        (
            _("Your bank approved the payment but didn’t complete it. Nothing was charged."),
            _(
                "Your items are still reserved while we look into it. You don’t need to do anything yet."
                " If you have a question, reply to this email."
            ),
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
    carrier = order.find_carrier(sent[0].parcel_id if sent else None)
    whole = sum(each.count for each in order.parcels() if each.is_sent) >= sum(
        order.quantities.values()
    )
    if not carrier:
        rest = () if whole else (_("We’ll email you when the rest is ready."),)
        return MailContent(
            _("Your order is ready") if whole else _("Part of your order is ready"),
            (
                _("It’s ready for you: %(method)s.") % {"method": order.method.name},
                _("You find us at %(seller)s.") % {"seller": seller_line()},
                *rest,
            ),
            contents,
            _("Ready for you"),
        )
    tracking = sent[0].tracking if sent else ""
    paragraphs = [
        _("It’s on its way with %(carrier)s.") % {"carrier": carrier}
        if whole and len(order.parcels()) == 1
        else _("Part of your order is on its way with %(carrier)s.") % {"carrier": carrier}
    ]
    if tracking:
        paragraphs.append(_("The tracking number is %(tracking)s.") % {"tracking": tracking})
    if not whole:
        paragraphs.append(
            _("The rest will follow in another parcel. We’ll email you when it ships.")
        )
    return MailContent(
        _("Your order is on its way") if whole else _("A parcel is on its way"),
        tuple(paragraphs),
        contents,
        _("In the parcel"),
        tracking_url=tracking_url(carrier, tracking),
    )


def _tracked(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent | None:
    parcel_id = event.details["parcel"]
    parcel = next(each for each in order.parcels() if each.parcel_id == parcel_id)
    if not event.details.get("mail") or not parcel.tracking:
        return None
    said = {"carrier": order.find_carrier(parcel_id), "tracking": parcel.tracking}
    return MailContent(
        _("The tracking number of your parcel"),
        (
            _("Your parcel’s tracking number with %(carrier)s is %(tracking)s.") % said
            if said["carrier"]
            else _("Your parcel’s tracking number is %(tracking)s.") % said,
        ),
        _parcel_contents(order, event, items),
        _("In the parcel"),
        tracking_url=tracking_url(parcel.carrier, parcel.tracking),
    )


def _delivered(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    until = order.last_return_day(event.at)
    is_pickup = not order.find_carrier(event.details.get("parcel"))
    return MailContent(
        _("You’ve picked up your order") if is_pickup else _("Your parcel has arrived"),
        (
            _("We hope you like it."),
            _("If not, you can return items until %(day)s. Request a return on your order page.")
            % {"day": _plain_day(until)},
        ),
        _parcel_contents(order, event, items),
        _("What you picked up") if is_pickup else _("In the parcel"),
        link_label=_("View my order"),
    )


def _lost(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("A parcel was lost"),
        (
            _("We’re sorry: the carrier has lost a parcel from your order."),
            _(
                "You don’t need to do anything. We’ll send the items again or refund you,"
                " and email you about it."
            ),
        ),
        _parcel_contents(order, event, items),
        _("In the parcel"),
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
    paragraphs = [_("Here is your updated order:")]
    was, total = event.details["sums"].get("was"), event.details["sums"]["total"]
    if was is not None and was > total and order.captured.amount:
        less = format_money(from_minor_units(was - total, order.total.currency.code))
        paragraphs = [
            _("We’ll refund you %(amount)s, because it now costs less. Here is your updated order:")
            % {"amount": less}
        ]
    return MailContent(_("Your order was changed"), tuple(paragraphs), has_order_summary=True)


def _cancelled(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    back = order.captured - order.refunded
    paragraph = (
        _("We’ll refund you %(amount)s and email you when it’s sent.")
        % {"amount": format_money(back)}
        if back.amount
        else _refund_sentence(order)
    )
    return MailContent(
        _("Your order was cancelled"),
        (paragraph,),
        has_order_summary=True,
        link_label=_("View my order"),
    )


def _refund_sentence(order: Order) -> str:
    return (
        _("Refunded: %(amount)s.") % {"amount": format_money(order.refunded)}
        if order.refunded.amount
        else _("Nothing was charged.")
    )


def _withdrawn(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    name = quote_words(event.details["name"]) if order.is_email_confirmed else ""
    return MailContent(
        _("We’ve received your withdrawal"),
        withdrawal_paragraphs(order.number, order.email, event.at)
        + ((_("Name: %(name)s.") % {"name": name},) if name else ()),
        link_label=_("View my order"),
    )


def withdrawal_paragraphs(number: str, email: str, at: datetime) -> tuple[str, ...]:
    """Return what acknowledges a withdrawal: its content, and when it was received (UTC); without its sender's own words."""
    return (
        _("We received this statement from you on %(moment)s:")
        % {"moment": date_format(timezone.localtime(at), "j F Y, H:i:s T")},
        _("“I withdraw from my contract of sale, order %(number)s. Acknowledge this to %(email)s.”")
        % {"number": number, "email": email},
        _(
            "What hasn’t left our warehouse, we cancel. For what has, we’ll email you within two working days"
            " where to send it; you have 14 days to do so. We refund what you paid, including standard delivery,"
            " within 14 days, and may wait until it is back or you have shown that you sent it."
        ),
    )


def _return_requested(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("We received your return request"),
        (_("We’ll reply within two working days. Don’t send anything until you hear from us."),),
        _return_contents(event, order, items),
        _("Items to return"),
        link_label=_("View my order"),
    )


def _return_approved(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    number, return_id = order.number, event.details.get("return", "")
    return MailContent(
        _("Your return is approved"),
        (
            _(
                "Put a note with %(number)s / %(return_id)s in the parcel and send it to: %(seller)s."
            )
            % {"number": number, "return_id": return_id, "seller": seller_line()},
            _("Keep the receipt. When the parcel arrives, we’ll check it and refund you."),
        ),
        _return_contents(event, order, items),
        _("Items to return"),
        link_label=_("View my order"),
    )


def _return_rejected(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    why = (event.note,) if event.note else ()
    return MailContent(
        _("We can’t accept your return"),
        (*why, _("If you disagree, reply to this email.")),
        _return_contents(event, order, items),
        _("Items you wanted to return"),
        link_label=_("View my order"),
    )


def _return_received(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    return MailContent(
        _("We received your return"),
        (
            _(
                "We’re checking it now. We’ll refund you within a few days and email you when it’s sent."
            ),
        ),
        _return_contents(event, order, items),
        _("Returned items"),
        link_label=_("View my order"),
    )


def _return_closed(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    why = (event.note,) if event.note else ()
    return MailContent(
        _("Your return is complete"),
        (_("There is nothing to refund for it."), *why, _("If you disagree, reply to this email.")),
        _return_contents(event, order, items),
        _("Returned items"),
        link_label=_("View my order"),
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
        _("We’ve refunded you %(amount)s.") % {"amount": format_money(amount)}
        + f" {describe_refund_route(order)}"
    ]
    if refund and refund.reason:
        paragraphs.insert(0, _("Reason: %(reason)s") % {"reason": refund.reason})
    return MailContent(
        _("Your refund of %(amount)s is on its way") % {"amount": format_money(amount)},
        tuple(paragraphs),
        tuple(
            ItemUnits(items_by_line[line], count)
            for line, count in parse_line_units(lines).items()
            if line in items_by_line
        ),
        _("Refunded items"),
        link_label=_("View my order"),
    )


def describe_refund_route(order: Order) -> str:
    """Return how a refund of an order reaches its buyer, in a sentence."""
    if order.payment_method == CARD:
        return _("It will be back on your card within three to five working days.")
    if order.payment_method in MANUAL_METHODS:
        return _("It will be in your bank account within two working days.")
    return ""


def seller_line() -> str:
    """Return the seller's name and address in one line."""
    return get_terms().seller_line


def _last_day(end: datetime) -> str:
    return str(date_format(last_day(end), "l j F Y"))


def _plain_day(day: date) -> str:
    return str(date_format(day, "l j F"))


_COMPOSERS: dict[str, Callable[[Order, Event, tuple[Item, ...]], MailContent | None]] = {
    "placed": _placed,
    "email_confirmed": _to_be_paid,
    "confirmed": _confirmed,
    "payment_failed": _payment_failed,
    "expired": _expired,
    "paid_too_late": _too_late,
    "capture_refused": _capture_refused,
    "shipped": _shipped,
    "tracked": _tracked,
    "delivered": _delivered,
    "lost": _lost,
    "changed": _changed,
    "cancelled": _cancelled,
    "withdrawn": _withdrawn,
    "return_requested": _return_requested,
    "return_approved": _return_approved,
    "return_rejected": _return_rejected,
    "return_received": _return_received,
    "return_closed": _return_closed,
    "refunded": _refunded,
}
