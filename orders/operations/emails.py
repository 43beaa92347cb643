"""Queues the mails about an order: one for each event of which the shopper is told (orders.operations.mail_texts)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import queries as accounts
from accounts.models import User
from cassandra_db import current_time
from mail.operations import MailOptions, queue_mail
from mail.queries import list_unmailed_events
from notifications.kinds import get_kinds, wants_mail
from notifications.links import unsubscribe_url
from orders import links
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.lifecycle.states import CONFIRMING_EVENTS
from orders.notifications import NEWS_FOR, find_kind
from orders.operations.mail_texts import MAILED_EVENTS, MailContent, compose_mail

# The confirmation of an order from a cart is mailed for as long as the outbox remembers sent mails. Imported orders have no cart.
CONFIRMED_FOR = timedelta(days=29)


def queue_order_mails(order: Order, items: tuple[Item, ...], now: datetime) -> None:
    """Queue the mails about an order's events, each once. Raises CassandraUnavailable.

    Events older than NEWS_FOR get none; the confirmation of an order from a cart is mailed up to CONFIRMED_FOR. An address that may be a stranger's gets
    only the mail that asks to confirm the order.
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
    member = accounts.get_user(order.user_id) if order.user_id else None
    for event_key in missing:
        event, content = mails[event_key]
        kind = find_kind(order, event) if member else ""
        if not _wants_mail(member, kind):
            continue
        can_end = member and kind and not get_kinds()[kind].is_always_mailed
        end_url = unsubscribe_url(order.user_id, kind) if can_end and order.user_id else ""
        queue_mail(
            order.order_id,
            event_key,
            order.email,
            f"order_{content.event}",
            mail_context(order, items, content) | {"end_url": end_url},
            now,
            replace(_options(order, member), unsubscribe_url=end_url),
        )


def has_mail(order: Order, kind: str, member: User | None) -> bool:
    """Return whether the customer would be mailed about a new event of this kind. `member` is the order's member, if any."""
    if order.is_erased or order.is_unproved or kind not in MAILED_EVENTS:
        return False
    event = replace(order.events[0], kind=kind, details={})
    return _wants_mail(member, find_kind(order, event))


def _wants_mail(member: User | None, notification_kind: str) -> bool:
    if member is None or not notification_kind:
        return True
    return wants_mail(notification_kind, member.notification_choices)


def mail_event_key(event: Event) -> str:
    """Return the key of an event's mail, for `mail.queries.derive_mail_id`. All events that confirm an order have the same key."""
    return "confirmed" if event.kind in CONFIRMING_EVENTS else f"{event.kind} {event.event_id}"


def mail_options(order: Order) -> MailOptions:
    """Return the options for mails about an order, by the preferences of the order's member. Raises CassandraUnavailable."""
    return _options(order, accounts.get_user(order.user_id) if order.user_id else None)


def _options(order: Order, member: User | None) -> MailOptions:
    # A member may have ordered with another address than the account's, so the mail is also linked to the member.
    return MailOptions(bool(member and member.plain_mail), order.user_id, order.number)


def mail_context(order: Order, items: tuple[Item, ...], content: MailContent) -> dict[str, Any]:
    """Return the template context of an order's mail. It has words that the shopper typed only if the address is confirmed."""
    is_confirmed = order.is_email_confirmed
    terms_path = links.accepted_terms_path(order)
    track_url = reverse("orders:track", args=[links.order_access_token(order.order_id)])
    return {
        "order": order,
        "items": order.current_lines(items) or items,
        "letter": content,
        "details": "\n\n".join(content.paragraphs),
        "button": _(content.link_label),
        "url": content.url or settings.PUBLIC_URL + track_url,
        "terms_url": terms_path and settings.PUBLIC_URL + terms_path,
        "withdrawal_url": f"{settings.PUBLIC_URL}{reverse('orders:withdraw')}?number={order.number}",
        "name": order.name if is_confirmed else "",
        "delivery_address": order.delivery_address.lines if is_confirmed else (),
        "reject_url": ""
        if is_confirmed or not order.can_be_cancelled
        else links.confirmation_url(order.order_id),
    }


def _news_period(order: Order, event: Event) -> timedelta:
    return CONFIRMED_FOR if event.kind in CONFIRMING_EVENTS and order.cart_id else NEWS_FOR
