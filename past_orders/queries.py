"""Read past orders: those of a person, and those that staff search for."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from uuid import UUID

from cassandra_db import PendingResult, page_key, page_token, read
from catalogue.words import name_has_words, split_words
from mail.addresses import email_key
from past_orders.entities import (
    EMAIL,
    HEAD,
    MEMBER,
    NAME,
    NUMBER,
    PastOrder,
    find_head,
    fold_number,
    past_order_from_row,
)

PAGE_LENGTH = 20
# The most rows that a search by a name reads.
MAX_SEARCHED = 200
_LIST = "Q32:past orders"
_LAST_LETTER = chr(0x10FFFF)
_TOP = datetime(9999, 1, 1, tzinfo=UTC), UUID(int=0)

# Q32: a past order; the orders with a term, newest first; the orders with a term that begins so.
PAST_ORDER = read(
    "Q32",
    """SELECT order_id, user_id, shop, number, placed_at, email, name, address, status, currency, total, lines
       FROM past_orders WHERE order_id = :order_id""",
)
WITH_TERM = read(
    "Q32",
    """SELECT placed_at, order_id FROM past_orders_by_term WHERE kind = :kind AND head = :head AND term = :term
       AND (placed_at, order_id) < (:before, :order_id) LIMIT :most""",
)
WITH_PREFIX = read(
    "Q32",
    """SELECT placed_at, order_id FROM past_orders_by_term WHERE kind = :kind AND head = :head AND term >= :first
       AND term <= :last LIMIT :most""",
)


def get_past_order(order_id: UUID) -> PastOrder | None:
    """Return a past order, or None. Raises CassandraUnavailable."""
    return past_order_from_row(prefetch_past_order(order_id).one())


def prefetch_past_order(order_id: UUID) -> PendingResult:
    """Start reading a past order, for `past_order_from_row`."""
    return PAST_ORDER.start(order_id=order_id)


def prefetch_order_ids(
    kind: str, term: str, most: int, after: tuple[datetime, UUID] = _TOP
) -> PendingResult:
    """Start reading the ids of at most `most` orders with a term, newest first. The rows have placed_at and order_id."""
    before, order_id = after
    return WITH_TERM.start(
        kind=kind,
        head=find_head(kind, term),
        term=term,
        before=before,
        order_id=order_id,
        most=most,
    )


def prefetch_newest(user_id: UUID) -> PendingResult:
    """Start reading the row of a member's newest past order, which says whether there are any."""
    return prefetch_order_ids(MEMBER, user_id.hex, 1)


def _get_orders(order_ids: Iterable[UUID]) -> list[PastOrder]:
    reading = [prefetch_past_order(each) for each in order_ids]
    return [order for pending in reading if (order := past_order_from_row(pending.one()))]


def list_past_orders(user_id: UUID, after: str = "") -> tuple[list[PastOrder], str]:
    """Return a page of a member's past orders, newest first, and the token of the next page.

    Raises InvalidPageToken, CassandraUnavailable.
    """
    placed_at, order_id = page_key(after, _LIST) if after else _TOP
    rows = prefetch_order_ids(MEMBER, user_id.hex, PAGE_LENGTH + 1, (placed_at, order_id)).rows()
    shown = rows[:PAGE_LENGTH]
    found = [each for each in _get_orders(row.order_id for row in shown) if each.user_id == user_id]
    last = (shown[-1].placed_at, shown[-1].order_id) if len(rows) > PAGE_LENGTH else None
    return found, page_token(last, _LIST) if last else ""


def iterate_past_orders(user_id: UUID) -> Iterator[PastOrder]:
    """Yield all past orders of a member, newest first. Raises CassandraUnavailable."""
    after = ""
    while True:
        found, after = list_past_orders(user_id, after)
        yield from found
        if not after:
            return


def search_past_orders(typed: str) -> list[PastOrder]:
    """Return the newest orders with a typed e-mail address, number or name, at most PAGE_LENGTH. Raises CassandraUnavailable."""
    if "@" in typed:
        rows = prefetch_order_ids(EMAIL, email_key(typed), PAGE_LENGTH).rows()
        return _get_orders(row.order_id for row in rows)
    # The longest word matches the fewest orders; the other words are compared.
    words = split_words(typed)
    longest, number = max(words, key=len, default=""), fold_number(typed)
    by_number = prefetch_order_ids(NUMBER, number, PAGE_LENGTH) if number else None
    by_name = (
        WITH_PREFIX.start(
            kind=NAME,
            head=find_head(NAME, longest),
            first=longest,
            last=longest + _LAST_LETTER,
            most=MAX_SEARCHED,
        )
        if len(longest) >= HEAD
        else None
    )
    numbered = _get_orders(row.order_id for row in by_number.rows()) if by_number else []
    named = sorted(by_name.rows() if by_name else (), key=lambda row: row.placed_at, reverse=True)
    ids = dict.fromkeys(row.order_id for row in named)
    found = (each for each in _get_orders(ids) if name_has_words(each.name, words))
    return list({each.order_id: each for each in (*numbered, *found)}.values())[:PAGE_LENGTH]
