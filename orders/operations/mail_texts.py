"""The texts of the mails about an order, one for each kind of event that its shopper is told about."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.conf import settings
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from mail.words import quote_words
from orders import links
from orders.carriers import tracking_url
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event, parse_line_units
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits
from orders.lifecycle.returns import KINDS
from orders.lifecycle.states import CONFIRMING_EVENTS, PENDING
from payments.methods import CARD, CASH_ON_DELIVERY, MANUAL_METHODS, TRANSFER
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money
from shop_settings.brand import get_brand
from shop_settings.terms import get_terms
from web.days import last_day
from web.durations import format_deadline


@dataclass(frozen=True)
class MailContent:
    """The content of a mail about an event: paragraphs, optionally items, and a link. `event` names the mail (orders.mail_kinds)."""

    headline: str
    paragraphs: tuple[str, ...]
    contents: tuple[ItemUnits, ...] = ()
    contents_title: str = ""
    has_order_summary: bool = False  # the lines and sums of the order follow
    link_label: str = gettext_noop("Track my order")
    tracking_url: str = ""  # the carrier's page
    bank_account: tuple[str, ...] = ()  # for a transfer
    url: str = ""  # the link's target; by default the order's page
    event: str = ""


def compose_mail(order: Order, event: Event, items: Iterable[Item]) -> MailContent | None:
    """Return the mail about an event; None if the event needs none."""
    kind = "confirmed" if event.kind in CONFIRMING_EVENTS else event.kind
    # A withdrawal is always acknowledged, without any typed words.
    if order.is_unproved and kind not in ("placed", "withdrawn"):
        return None
    compose = _COMPOSERS.get(kind)
    content = compose(order, event, tuple(items)) if compose else None
    return replace(content, event=content.event or kind) if content else None


def compose_confirmation_mail(order: Order) -> MailContent:
    """Return the mail that asks to confirm an order, sent to an address that may be a stranger's."""
    return MailContent(
        _("Please confirm your order"),
        (
            _("Somebody has ordered at %(shop)s with your email address.")
            % {"shop": get_brand().name},
            _(
                "If it was you, confirm your order by %(time)s: open the link below and press the button."
                " Your items are reserved until then. Without your confirmation the order expires."
            )
            % {"time": format_deadline(order.pay_until)},
        ),
        has_order_summary=True,
        link_label=_("Confirm my order"),
        url=links.confirmation_url(order.order_id),
        event="to_confirm",
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
        event="to_pay",
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
        return None  # it was paid after all, or has ended; another mail says so
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
            )
            if order.payment_method == TRANSFER
            else _("If you still want them, you can order them again."),
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
                _("You find us at %(seller)s.") % {"seller": get_terms().seller_line},
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
    if back.amount:
        text = _("We’ll refund you %(amount)s and email you when it’s sent.")
        paragraph = text % {"amount": format_money(back)}
    elif order.refunded.amount:
        paragraph = _("Refunded: %(amount)s.") % {"amount": format_money(order.refunded)}
    else:
        paragraph = _("Nothing was charged.")
    return MailContent(
        _("Your order was cancelled"),
        (paragraph,),
        has_order_summary=True,
        link_label=_("View my order"),
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
    """Return the text that acknowledges a withdrawal received at `at` (UTC), without its sender's own words."""
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


def _about_return(order: Order, event: Event, items: tuple[Item, ...]) -> MailContent:
    """Return the mail about any event of a return, with the items of that return."""
    return_id = event.details.get("return", "")
    answer = (event.note,) if event.note else ()
    objection = _("If you disagree, reply to this email.")
    paragraphs: tuple[str, ...]
    match event.kind:
        case "return_requested":
            headline, title = _("We received your return request"), _("Items to return")
            paragraphs = (
                _(
                    "We’ll reply within two working days. Don’t send anything until you hear from us."
                ),
            )
        case "return_approved":
            headline, title = _("Your return is approved"), _("Items to return")
            instruction = _(
                "Put a note with %(number)s / %(return_id)s in the parcel and send it to: %(seller)s."
            )
            seller = get_terms().seller_line
            paragraphs = (
                instruction % {"number": order.number, "return_id": return_id, "seller": seller},
                _("Keep the receipt. When the parcel arrives, we’ll check it and refund you."),
            )
        case "return_rejected":
            headline, title = _("We can’t accept your return"), _("Items you wanted to return")
            paragraphs = (*answer, objection)
        case "return_received":
            headline, title = _("We received your return"), _("Returned items")
            paragraphs = (
                _(
                    "We’re checking it now. We’ll refund you within a few days and email you when it’s sent."
                ),
            )
        case _:
            headline, title = _("Your return is complete"), _("Returned items")
            paragraphs = (_("There is nothing to refund for it."), *answer, objection)
    lines = next((each.lines for each in order.returns if each.return_id == return_id), {})
    contents = _item_units(items, lines)
    return MailContent(headline, paragraphs, contents, title, link_label=_("View my order"))


def _item_units(items: tuple[Item, ...], lines: Mapping[int, int]) -> tuple[ItemUnits, ...]:
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
    lines = refund.lines if refund else {}
    paragraphs = [
        _("We’ve refunded you %(amount)s.") % {"amount": format_money(amount)}
        + f" {_refund_route(order)}"
    ]
    if refund and refund.reason:
        paragraphs.insert(0, _("Reason: %(reason)s") % {"reason": refund.reason})
    return MailContent(
        _("Your refund of %(amount)s is on its way") % {"amount": format_money(amount)},
        tuple(paragraphs),
        _item_units(items, parse_line_units(lines)),
        _("Refunded items"),
        link_label=_("View my order"),
    )


def _refund_route(order: Order) -> str:

    if order.payment_method == CARD:
        return _("It will be back on your card within three to five working days.")
    if order.payment_method in MANUAL_METHODS:
        return _("It will be in your bank account within two working days.")
    return ""


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
    **dict.fromkeys(KINDS, _about_return),
    "refunded": _refunded,
}
# The kinds of events that can have a mail.
MAILED_EVENTS = frozenset(_COMPOSERS)
