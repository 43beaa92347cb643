"""The staff's search for orders. Each kind of term is one bounded read for each year; all are read in parallel."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from moneyed import Money

from cassandra_db import QUORUM, PendingResult, read
from catalogue.words import name_has_words, split_words
from orders.numbers import may_begin_order_number
from orders.search_terms import (
    HEAD,
    NAME,
    NUMBER,
    PLACE,
    PREFIX_KINDS,
    SKU,
    TRACKING,
    find_head,
    fold_code,
    fold_number,
)
from pricing.money import from_minor_units

# The most rows of one read, and the most orders that are shown.
MAX_ROWS, MAX_SHOWN = 200, 20
_LAST_LETTER = chr(0x10FFFF)

BY_TERM = read(
    "order search",
    """SELECT term, placed_at, order_id, number, label FROM orders_by_search_term
       WHERE kind = :kind AND head = :head AND year = :year AND term >= :first AND term <= :last LIMIT :most""",
)
BY_EMAIL = read(
    "order search",
    """SELECT placed_at, order_id, number FROM orders_by_email_and_year
       WHERE email = :email AND year = :year LIMIT :most""",
)
# An order's header, with the board's column after its newest event.
HEADER = read(
    "order search",
    """SELECT order_id, number, name, placed_at, total, currency, board_after FROM orders
       WHERE order_id = :order_id LIMIT 1""",
    consistency=QUORUM,
)


@dataclass(frozen=True)
class FoundOrder:
    """A found order. `label` is the name, city, SKU, tracking number or e-mail address by which it was found, as stored."""

    order_id: UUID
    number: str
    placed_at: datetime
    label: str


@dataclass(frozen=True)
class FoundOrders:
    """The newest orders that were found by one kind of term; `has_more` if there are more."""

    kind: str
    orders: tuple[FoundOrder, ...]
    has_more: bool


@dataclass(frozen=True)
class OrderSearch:
    """A search whose reads have been started: the typed words, and the pending reads by kind."""

    words: tuple[str, ...]
    email: str
    reading: tuple[tuple[str, PendingResult], ...]


@dataclass(frozen=True)
class OrderHeader:
    """What a list of results shows of an order; `column` is its column of the board."""

    order_id: UUID
    number: str
    name: str
    placed_at: datetime
    total: Money
    column: str


def prefetch_order_search(
    typed: str, email: str, years: Collection[int], skus: Iterable[str] = ()
) -> OrderSearch:
    """Start searching the orders of these years for a typed text. `found_orders` returns the results.

    `email` is the address key of a typed address, else "". PREFIX_KINDS match by their beginnings, other terms in full. The
    search also finds the orders of `skus`.
    """
    if email:
        reading = [BY_EMAIL.start(email=email, year=year, most=MAX_ROWS) for year in years]
        return OrderSearch((), email, tuple(("email", pending) for pending in reading))
    words = tuple(split_words(typed))
    # The longest word matches the fewest orders; `found_orders` compares the other words.
    longest, code = max(words, key=len, default=""), fold_code(typed)
    wanted = [
        (NUMBER, fold_number(typed) if may_begin_order_number(fold_number(typed)) else ""),
        (NAME, longest),
        (PLACE, longest),
        *((SKU, sku) for sku in dict.fromkeys((code, *map(fold_code, skus)))),
        (TRACKING, code),
    ]
    return OrderSearch(
        words,
        "",
        tuple(
            (kind, _start(kind, term, year))
            for kind, term in wanted
            if len(term) >= HEAD
            for year in years
        ),
    )


def _start(kind: str, term: str, year: int) -> PendingResult:
    is_prefix = kind in PREFIX_KINDS
    return BY_TERM.start(
        kind=kind,
        head=find_head(kind, term),
        year=year,
        first=term,
        last=term + _LAST_LETTER if is_prefix else term,
        most=MAX_ROWS,
    )


def found_orders(search: OrderSearch) -> list[FoundOrders]:
    """Return the results of a search by kind, without empty kinds. Raises CassandraUnavailable."""
    by_kind: dict[str, dict[UUID, FoundOrder]] = {}
    cut: set[str] = set()
    for kind, pending in search.reading:
        rows = list(pending.rows())
        if len(rows) == MAX_ROWS:
            cut.add(kind)
        for row in rows:
            label = search.email if kind == "email" else row.label or ""
            if kind not in (NAME, PLACE) or name_has_words(label, search.words):
                found = FoundOrder(row.order_id, row.number, row.placed_at, label)
                by_kind.setdefault(kind, {})[row.order_id] = found
    return [_newest(kind, found.values(), kind in cut) for kind, found in by_kind.items()]


def _newest(kind: str, found: Collection[FoundOrder], is_cut: bool) -> FoundOrders:
    newest = sorted(found, key=lambda each: each.placed_at, reverse=True)
    return FoundOrders(kind, tuple(newest[:MAX_SHOWN]), is_cut or len(newest) > MAX_SHOWN)


def prefetch_order_headers(order_ids: Iterable[UUID]) -> list[PendingResult]:
    """Start reading the headers of orders, for `order_headers`."""
    return [HEADER.start(order_id=order_id) for order_id in order_ids]


def order_headers(reading: Iterable[PendingResult]) -> list[OrderHeader]:
    """Return the headers that were started, in their order, without checkouts that are no orders. Raises CassandraUnavailable."""
    rows = (pending.one() for pending in reading)
    return [
        OrderHeader(
            row.order_id,
            row.number,
            row.name,
            row.placed_at,
            from_minor_units(row.total, row.currency),
            row.board_after or "",
        )
        for row in rows
        if row and row.number
    ]
