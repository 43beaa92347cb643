"""The contents of a conversation's page as its customer sees it: the messages, and the order's events between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from cassandra_db import PendingResult, current_time
from catalogue.queries import prefetch_product, product_from_rows
from conversations import queries
from conversations.entities import Conversation, Message
from conversations.states import ORDER, PRODUCT
from mail.addresses import email_key
from orders.access import is_own_order
from orders.lifecycle.entities import Order
from orders.presentation import list_history
from orders.queries import order_from_rows, prefetch_order


@dataclass(frozen=True)
class Moment:
    """A message or an event of the order, at its place in time."""

    at: datetime
    message: Message | None = None
    event: Any = None  # a CustomerHistoryEntry; on staff's pages a StaffHistoryEntry


@dataclass(frozen=True)
class Thread:
    """A conversation as its customer reads it, oldest message first. The topic has words, and an address if it has a page."""

    conversation: Conversation
    timeline: Sequence[Moment]
    earlier: UUID | None  # the message before which older ones are
    is_old: bool  # older messages than the newest ones are shown
    topic_text: str = ""
    topic_url: str = ""

    @property
    def seen(self) -> UUID | None:
        """The shop's newest message, which a page of the newest messages shows."""
        return None if self.is_old else self.conversation.last_shop_id


@dataclass(frozen=True)
class PendingThread:
    """A conversation whose reads have been started."""

    head: PendingResult
    messages: PendingResult
    before: UUID | None

    def get_conversation(self) -> Conversation | None:
        """Return the conversation, or None. Raises CassandraUnavailable."""
        return queries.conversation_from_rows(self.head.rows())


def prefetch_thread(conversation_id: UUID, before: str) -> PendingThread | None:
    """Start reading a conversation with its newest messages, or those before the message `before`; None for an impossible id."""
    if conversation_id.version != 1:
        return None
    before_id = _parse_id(before)
    messages = queries.prefetch_messages(conversation_id, before_id)
    head = queries.prefetch_conversation(conversation_id)
    return PendingThread(head, messages, before_id)


def _parse_id(text: str) -> UUID | None:
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if found.version == 1 else None


def make_thread(request: HttpRequest, pending: PendingThread, conversation: Conversation) -> Thread:
    """Return the thread; it reads what the conversation is about. Raises CassandraUnavailable."""
    topic = conversation.topic
    about = None
    if topic.topic_id and topic.kind in (ORDER, PRODUCT):
        start = prefetch_order if topic.kind == ORDER else prefetch_product
        about = start(topic.topic_id)
    found = queries.messages_from_rows(pending.messages.rows())
    order, text, url = None, "", ""
    if about and topic.kind == ORDER:
        order = _find_order(conversation, about)
        text = _("Order %(number)s") % {"number": order.number} if order else ""
        if order and is_own_order(request, order):
            url = reverse("orders:detail", args=[order.number])
    elif about:
        product = product_from_rows(about.rows())
        if product and product.is_on_sale(current_time()):
            text, url = product.name, reverse("product", args=[product.slug])
    events = [(each.event.at, each) for each in list_history(order)] if order else []
    return Thread(
        conversation,
        [
            each
            for each in make_timeline(found, events, pending.before)
            if not (each.message and each.message.is_note)
        ],
        found[0].message_id if len(found) == queries.PAGE_SIZE else None,
        pending.before is not None,
        text,
        url,
    )


def _find_order(conversation: Conversation, pending: PendingResult) -> Order | None:
    """Return the order if it is the customer's: whoever wrote about it may have typed another address."""
    order, customer = order_from_rows(pending.rows()), conversation.customer
    if order is None or order.is_erased:
        return None
    is_theirs = (
        order.user_id == customer.customer_id
        if customer.is_member
        else order.user_id is None and email_key(order.email) == email_key(customer.email)
    )
    return order if is_theirs else None


def make_timeline(
    messages: Sequence[Message], events: Iterable[tuple[datetime, object]], before: UUID | None
) -> list[Moment]:
    """Return the messages, and between them the events since the first one, until the message `before` or now."""
    found = [Moment(each.written_at, message=each) for each in messages]
    end = queries.get_moment(before) if before else current_time()
    if messages:
        begin = messages[0].written_at
        found += [Moment(at, event=each) for at, each in events if begin <= at <= end]
    return sorted(found, key=lambda each: each.at)
