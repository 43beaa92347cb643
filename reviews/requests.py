"""Mails that ask buyers for reviews, two weeks after their whole order has arrived.

Each order gets one mail, whose id is made of the order's id. The worker goes through the days on which orders arrived; it
repeats a day that was interrupted.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.queries import find_user_by_email, get_user
from catalogue.queries import get_product_at_quorum
from jobs.rows import guard_row
from mail.operations import MailOptions, queue_mail
from mail.queries import get_undeliverable_address, list_unmailed_events
from moderation.rules import get_review_rules
from orders import queries as orders
from orders.lifecycle.entities import Order
from reviews import queries
from reviews.links import guest_url, stop_token

ASKED_AFTER = timedelta(days=14)
# The most products in a mail.
MAX_PRODUCTS = 10
_EVENT = "review"


def ask_for_reviews_of(
    day: date, now: datetime, postpone: Callable[[], object] | None = None
) -> int:
    """Mail the buyers of all orders that arrived on a day; return the number of mails. A repeat sends no second mails.

    For each order that fails, `postpone` is called. Raises CassandraUnavailable.
    """
    if not get_review_rules().asks_buyers:
        return 0
    asked = 0
    for order_id in orders.iterate_delivered(day):
        with guard_row(f"review request for order {order_id}", postpone):
            asked += ask_for_review(order_id, now)
    return asked


def ask_for_review(order_id: UUID, now: datetime) -> bool:
    """Mail an order's buyer a request for reviews, unless it was sent before; return whether a mail was queued.

    Orders with a return, erased persons, and undeliverable, unsubscribed or unconfirmed addresses get no mail. Raises
    CassandraUnavailable.
    """
    order = orders.get_order(order_id)
    if order is None or order.is_erased or order.returns or not order.is_email_confirmed:
        return False
    if order.fulfilment != "delivered" or not list_unmailed_events(order_id, [_EVENT]):
        return False
    if queries.get_stop_time(order.email) or get_undeliverable_address(order.email):
        return False
    products = _list_products(order, now)
    if not products:
        return False
    stop_url = settings.PUBLIC_URL + reverse("reviews:stop", args=[stop_token(order.email)])
    member = get_user(order.user_id) if order.user_id else None
    queue_mail(
        order_id,
        _EVENT,
        order.email,
        "review_request",
        {
            "button": products[0][0],
            "url": products[0][1],
            "lines": products[1:],
            "end_url": stop_url,
        },
        now,
        MailOptions(bool(member and member.plain_mail), order.user_id, order.number, stop_url),
    )
    return True


def _list_products(order: Order, now: datetime) -> list[tuple[str, str]]:
    """Return the order's products that are on sale and that the buyer has not reviewed: a label and the address of the review of each."""
    product_ids = dict.fromkeys(each.product_id for each in orders.list_items(order))
    ids, found = list_writer_ids(order.user_id, order.email), []
    for product_id in list(product_ids)[:MAX_PRODUCTS]:
        product = get_product_at_quorum(product_id)
        if product is None or not product.is_on_sale(now):
            continue
        if queries.find_own_review(product_id, ids):
            continue
        url = (
            settings.PUBLIC_URL + reverse("reviews:write", args=[product.slug])
            if order.user_id
            else guest_url(order.order_id, product.slug)
        )
        found.append((_("Review %(name)s") % {"name": product.name}, url))
    return found


def list_writer_ids(user_id: UUID | None, email: str) -> list[UUID]:
    """Return the ids under which a person may write reviews: the account's, then the mailbox's. Raises CassandraUnavailable."""
    member = get_user(user_id) if user_id else find_user_by_email(email)
    if member and (user_id or member.verified_at):
        return list(dict.fromkeys([*list_member_ids(member), *queries.guest_ids(email)]))
    return queries.guest_ids(email)


def list_member_ids(member: User) -> list[UUID]:
    """Return the ids under which a member may have written reviews: the account's id, then the mailbox's if it is proved."""
    return [member.user_id, *(queries.guest_ids(member.email) if member.verified_at else ())]


def floor_to_day(moment: datetime) -> datetime:
    """Return the start of a moment's day in UTC."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
