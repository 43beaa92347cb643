"""The contents of a customer's page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from accounts.addresses import Address
from accounts.models import User
from accounts.queries import (
    CustomerNote,
    list_addresses,
    notes_from_rows,
    prefetch_customer_notes,
    prefetch_profile,
    user_from_row,
)
from adminpanel.parameters import seal
from conversations.entities import ListedTopic
from conversations.guests import guest_ids
from conversations.queries import BY_CUSTOMER
from mail import fates
from mail.addresses import email_key
from mail.queries import list_recipient_mails
from orders import queries
from orders.lifecycle.entities import Order, OrderSummary
from orders.queries import UserStats
from past_orders.queries import prefetch_owned
from web.types import StrOrPromise

CUSTOMER_STAFF = ("support",)
# Upper bounds: the mails on a page, a guest's orders.
MAX_MAILS, MAX_GUEST_ORDERS = 20, 50


@dataclass(frozen=True)
class SentMail:
    """A mail to a customer, and whether it was delivered."""

    subject: str
    queued_at: datetime
    sent_at: datetime | None
    fate: StrOrPromise
    tone: str


@dataclass(frozen=True)
class CustomerPage:
    """The contents of a customer's page. `years` are the years with orders. `year` is the chosen year, if there is one."""

    customer: User
    stats: Sequence[UserStats]
    orders: Sequence[OrderSummary]
    years: Sequence[int]
    year: int | None
    addresses: Sequence[Address]
    notes: Sequence[CustomerNote]
    mails: Sequence[SentMail]
    conversations: Sequence[ListedTopic]  # also those from before the account, by its address
    past_orders_query: str  # of the search for them, if there are any


def get_customer_page(user_id: UUID, now: datetime, year: int | None = None) -> CustomerPage | None:
    """Return a customer's page, or None if there is no account. By default the page has the orders of this year and the last.

    The mails are read last, because they are found by the account's address. Raises CassandraUnavailable.
    """
    profile, stats = prefetch_profile(user_id), queries.prefetch_user_stats(user_id)
    notes = prefetch_customer_notes(user_id)
    years, claimed = queries.prefetch_order_years(user_id), prefetch_owned(user_id.hex, 1)
    shown_years = [year] if year else [now.year, now.year - 1]
    orders = [queries.prefetch_orders_of_year(user_id, each) for each in shown_years]
    row = profile.one()
    if row is None:
        return None
    customer = user_from_row(row)
    customer_ids = [user_id, *(guest_ids(customer.email) if customer.verified_at else ())]
    conversations = [BY_CUSTOMER.start(customer_id=each) for each in customer_ids]
    unclaimed = prefetch_owned(email_key(customer.email), 1)
    return CustomerPage(
        customer,
        queries.stats_from_rows(stats.rows()),
        [each for pending in orders for each in queries.summaries_from_rows(pending.rows())],
        [each.year for each in years.rows()],
        year,
        list_addresses(customer),
        notes_from_rows(notes.rows()),
        _list_mails(customer.email),
        [
            ListedTopic(row.conversation_id, row.subject or "")
            for pending in conversations
            for row in pending.rows()
        ],
        urlencode({"sealed": seal(customer.email)}) if claimed.rows() or unclaimed.rows() else "",
    )


def _list_mails(email: str) -> list[SentMail]:
    found = sorted(list_recipient_mails(email), key=lambda row: row.queued_at, reverse=True)
    return [
        SentMail(row.subject, row.queued_at, row.sent_at, *fates.LABELS[fates.get_fate(row)])
        for row in found[:MAX_MAILS]
    ]


def list_guest_orders(email: str) -> list[Order]:
    """Return the newest orders that a guest placed with an email address. Raises CassandraUnavailable."""
    ids = queries.list_order_ids_by_email(email)[:MAX_GUEST_ORDERS]
    reading = [queries.prefetch_order(each) for each in ids]
    found = (queries.order_from_rows(pending.rows()) for pending in reading)
    return [order for order in found if order and order.user_id is None]
