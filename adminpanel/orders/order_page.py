"""Reads the data of an order's page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import User
from accounts.queries import find_user_by_email, prefetch_profile, user_from_row
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from conversations.entities import ListedTopic
from conversations.queries import BY_TOPIC
from mail import fates
from mail.queries import order_mails_from_rows, prefetch_order_mails
from orders import queries, viewers
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.payment_attempts import PaymentAttempt
from orders.lifecycle.refunds import Refund
from orders.numbers import normalize_order_number
from payments.methods import MANUAL_METHODS
from web.types import StrOrPromise


def get_order_or_404(number: str) -> Order:
    """Return the order with a number, which may be typed in any spelling. Raises Http404, CassandraUnavailable."""
    return found_or_404(queries.get_order_by_number(normalize_order_number(number)), "order")


def address_lines(order: Order) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines of the delivery address, and the lines of the invoice address if it is another one."""
    delivery, billing = (
        [*each.lines, *filter(None, [each.phone])]
        for each in (order.delivery_address, order.billing_address)
    )
    return delivery, billing if billing != delivery else []


@dataclass(frozen=True)
class OrderMail:
    """A mail about an order: its subject, its time, and whether it was delivered."""

    mail_id: UUID
    subject: str
    queued_at: datetime
    fate_label: StrOrPromise
    tone: str


@dataclass(frozen=True)
class OrderPage:
    """The contents of an order's page."""

    order: Order
    items: tuple[Item, ...]
    attempts: tuple[PaymentAttempt, ...]
    viewers: tuple[viewers.Viewer, ...]
    known_tags: tuple[str, ...]
    mails: tuple[OrderMail, ...]
    now: datetime
    conversations: tuple[ListedTopic, ...]
    # The customer's account. For a guest's order, the account with the order's email address, if any.
    customer: User | None = None


def get_order_page(order: Order) -> OrderPage:
    """Return the contents of an order's page, read concurrently. Raises CassandraUnavailable."""
    items = queries.prefetch_items(order.order_id)
    attempts = queries.prefetch_payments(order.order_id)
    viewing = viewers.prefetch_viewers(order.number)
    known_tags = queries.prefetch_recent_tags()
    mails = prefetch_order_mails(order.number)
    conversations = BY_TOPIC.start(topic_id=order.order_id, year=0)
    reading = prefetch_profile(order.user_id) if order.user_id else None
    if reading:
        row = reading.one()
        customer = user_from_row(row) if row else None
    else:
        customer = find_user_by_email(order.email) if order.email else None
    return OrderPage(
        order,
        queries.items_from_rows(order, items.rows()),
        queries.add_payment_references(order, attempts.rows()).payment_attempts,
        viewers.viewers_from_rows(viewing.rows()),
        queries.tags_from_rows(known_tags.rows()),
        tuple(
            OrderMail(row.mail_id, row.subject, row.queued_at, *fates.LABELS[row.fate])
            for row in order_mails_from_rows(mails.rows())
        ),
        current_time(),
        tuple(ListedTopic(row.conversation_id, row.subject or "") for row in conversations.rows()),
        customer,
    )


def manual_refunds(order: Order) -> Sequence[Refund]:
    """Return the refunds that staff have to pay out by hand."""
    return order.due_refunds if order.payment_method in MANUAL_METHODS else ()
