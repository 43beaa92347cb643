"""The staff's search among conversations: by a customer's address, an order's number, or words. Its reads are bounded."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.queries import find_user_by_email
from cassandra_db import current_time
from catalogue.words import split_words
from conversations import queries
from conversations.entities import ListedConversation
from conversations.guests import guest_ids
from conversations.operations.entries import copy_columns, list_heads
from conversations.rules import ALL, SHOP_MAILBOX
from orders.numbers import is_order_number, normalize_order_number
from orders.queries import get_order_by_number

MAX_QUERY = 200
# Words are looked for in this many of the newest conversations, read in rounds; the whole newest message of the first ones.
MAX_LOOKED_AT, MAX_READ = 1000, 200
_ROUND, _HEADS = 250, 50
MAX_FOUND = 50


@dataclass(frozen=True)
class FoundConversations:
    """What a search has found, newest first. A search by words says how far it looked: at how many, and back to when."""

    rows: tuple[ListedConversation, ...]
    has_more: bool = False  # than MAX_FOUND
    looked_at: int = 0
    since: datetime | None = None
    is_complete: bool = True  # no conversation was left out


def search_conversations(typed: str) -> FoundConversations:
    """Return the conversations of a customer's address, about an order's number, or with all these words.

    Words begin words of the customer's name, the subject or the newest message. Raises CassandraUnavailable.
    """
    number = normalize_order_number(typed)
    if is_order_number(number) and (order := get_order_by_number(number)):
        return _list_found([each.conversation_id for each in queries.list_by_topic(order.order_id)])
    if "@" in typed:
        return _list_found(list_ids_by_email(typed))
    words = split_words(typed)
    return _search_words(words) if words else FoundConversations(())


def list_ids_by_email(email: str) -> list[UUID]:
    """Return the conversations of the member and of the guest with this address. Raises CassandraUnavailable."""
    member = find_user_by_email(email)
    return list_customer_ids([*([member.pk] if member else []), *guest_ids(email)])


def list_customer_ids(customer_ids: Sequence[UUID]) -> list[UUID]:
    """Return the conversations of these customers, newest first. Raises CassandraUnavailable."""
    reading = [queries.BY_CUSTOMER.start(customer_id=each) for each in customer_ids]
    found = {row.conversation_id for pending in reading for row in pending.rows()}
    return sorted(found, key=lambda each: each.time, reverse=True)


def list_conversations(conversation_ids: Sequence[UUID]) -> list[ListedConversation]:
    """Return these conversations as the shop's mailbox lists them, the latest first. Raises CassandraUnavailable."""
    if not conversation_ids:
        return []
    entries, heads = (
        queries.prefetch_entries(SHOP_MAILBOX, conversation_ids),
        list_heads(conversation_ids),
    )
    found = []
    for conversation_id, entry in queries.entries_from_rows(entries.rows()).items():
        if head := heads.get(conversation_id):
            columns = copy_columns(SHOP_MAILBOX, head, entry)
            labels = frozenset(columns.pop("labels"))
            found.append(
                ListedConversation(conversation_id, entry.placed_at, label_ids=labels, **columns)
            )
    return sorted(found, key=lambda row: row.last_at, reverse=True)


def _list_found(ids: Sequence[UUID]) -> FoundConversations:
    rows = list_conversations(ids[:MAX_FOUND])
    return FoundConversations(tuple(rows), has_more=len(ids) > MAX_FOUND)


def _search_words(words: Sequence[str]) -> FoundConversations:
    looked = list(_iterate_newest(MAX_LOOKED_AT + 1))
    is_complete = len(looked) <= MAX_LOOKED_AT
    looked = looked[:MAX_LOOKED_AT]
    fitting = {
        row.conversation_id
        for row in looked
        if _has_words(f"{row.sender} {row.subject} {row.excerpt}", words)
    }
    others = [row for row in looked[:MAX_READ] if row.conversation_id not in fitting]
    for start in range(0, len(others), _HEADS):
        part = {row.conversation_id: row for row in others[start : start + _HEADS]}
        for conversation_id, head in list_heads(list(part)).items():
            row, body = part[conversation_id], head.newest.body if head.newest else ""
            if _has_words(f"{row.sender} {row.subject} {body}", words):
                fitting.add(conversation_id)
    found = [row for row in looked if row.conversation_id in fitting]
    return FoundConversations(
        tuple(found[:MAX_FOUND]),
        has_more=len(found) > MAX_FOUND,
        looked_at=len(looked),
        since=looked[-1].last_at if looked else None,
        is_complete=is_complete,
    )


def _iterate_newest(most: int) -> Iterator[ListedConversation]:
    """Yield the newest conversations of the label All, read in rounds."""
    labels = queries.get_labels(SHOP_MAILBOX)
    label, key = (queries.find_label(SHOP_MAILBOX, labels, ALL), (queries.END, queries.FIRST_ID))
    for year in range(current_time().year, label.first_year - 1, -1):
        size = _ROUND
        while most > 0 and size == _ROUND:
            size = min(_ROUND, most)
            rows = queries.NEWEST_LISTED.all(
                user_id=SHOP_MAILBOX,
                label_id=label.label_id,
                year=year,
                last_at=key[0],
                conversation_id=key[1],
                most=size,
            )
            yield from map(queries.listed_from_row, rows)
            most -= len(rows)
            if len(rows) < size:
                break
            key = rows[-1].last_at, rows[-1].conversation_id


def _has_words(text: str, words: Sequence[str]) -> bool:
    found = split_words(text)
    return all(any(each.startswith(word) for each in found) for word in words)
