"""The list of customers by last order (Q11): its filter, its pages, and its segments. Customers are members with a paid order."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from operator import attrgetter
from typing import Any, Self
from uuid import UUID

from django.conf import settings

from cassandra_db import QUORUM, PendingResult, Row, page_key, page_token, read
from orders.queries import PaidOrders
from web.days import end_of_day, start_of_day

SHOP = "stoa"
SHARDS = 4
PAGE_LENGTH = 25
# A page looks at no more customers or months than this. The next page continues after the last one.
MAX_LOOKED_AT, MAX_MONTHS_A_PAGE = 2_000, 24
# What a filter reads at once: rows of a shard, and months.
_ROWS_AT_ONCE, _MONTHS_AT_ONCE = 100, 6
_LIST = "Q11:customers"
# A customer's place in the list: the last order's time and the person's id.
Place = tuple[datetime, UUID]
_TOP: Place = datetime(9999, 1, 1, tzinfo=UTC), UUID(int=0)

_CUSTOMER = (
    "SELECT last_order_at, user_id, order_count, spent, country, tags FROM customers_by_last_order"
)
# Q11: the customers of a month and shard after a place, and one customer.
AFTER = read(
    "Q11",
    f"""{_CUSTOMER} WHERE month = :month AND shard = :shard AND (last_order_at, user_id) < (:before, :user_id)
        LIMIT :most""",
)
ONE = read(
    "Q11",
    f"""{_CUSTOMER} WHERE month = :month AND shard = :shard AND last_order_at = :last_order_at
        AND user_id = :user_id""",
    consistency=QUORUM,
)
LISTED_AT = read(
    "Q11", "SELECT listed_at FROM user_stats WHERE user_id = :user_id LIMIT 1", consistency=QUORUM
)
MONTHS = read("Q11", "SELECT month FROM customer_months WHERE shop = :shop")
SEGMENTS = read(
    "Q11",
    "SELECT segment, customer_count, spent_from, counted_at FROM customer_segments WHERE shop = :shop",
)


@dataclass(frozen=True)
class ListedCustomer:
    """A customer in the list. `order_count` leaves out orders refunded in full; `spent` is in minor units, by currency."""

    user_id: UUID
    last_order_at: datetime
    order_count: int
    spent: Mapping[str, int]
    country: str
    tags: tuple[str, ...] = ()

    @property
    def place(self) -> Place:
        return self.last_order_at, self.user_id


def customer_from_orders(user_id: UUID, paid: PaidOrders) -> ListedCustomer | None:
    """Return a customer as the list has to show them, or None for a person without paid orders."""
    if not paid.paid_at:
        return None
    return ListedCustomer(
        user_id,
        paid.paid_at[0],
        sum(count for count, _spent in paid.sums.values()),
        {currency: spent for currency, (_count, spent) in paid.sums.items()},
        paid.country,
        paid.tags,
    )


def partition_of(last_order_at: datetime, user_id: UUID) -> dict[str, object]:
    """Return the key of the partition with a customer's row."""
    month = last_order_at.astimezone(UTC).date().replace(day=1)
    return {"month": month, "shard": user_id.int % SHARDS}


def find_listed_at(user_id: UUID) -> datetime | None:
    """Return the time of the last order at which a person is listed, or None. Raises CassandraUnavailable."""
    row = LISTED_AT.one(user_id=user_id)
    return row.listed_at if row else None


def get_customer(user_id: UUID, last_order_at: datetime | None) -> ListedCustomer | None:
    """Return a customer's row in the list at the time of a last order, or None. Raises CassandraUnavailable."""
    if last_order_at is None:
        return None
    key = partition_of(last_order_at, user_id)
    row = ONE.one(user_id=user_id, last_order_at=last_order_at, **key)
    return _customer(row) if row else None


def _customer(row: Row) -> ListedCustomer:
    return ListedCustomer(
        row.user_id,
        row.last_order_at,
        row.order_count,
        dict(row.spent or {}),
        row.country,
        tuple(json.loads(row.tags)),
    )


@dataclass(frozen=True)
class CustomerFilter:
    """A filter over the list of customers; empty fields match all.

    `country` is an ISO 3166 code. `spent_from` and `spent_to` are minor units of the shop's currency. The last order was placed
    from `first_day` to `last_day` (shop's time zone). `tag` ignores case.
    """

    country: str = ""
    tag: str = ""
    spent_from: int | None = None
    spent_to: int | None = None
    orders_from: int | None = None
    orders_to: int | None = None
    first_day: date | None = None
    last_day: date | None = None

    @property
    def is_empty(self) -> bool:
        return self == CustomerFilter()

    def matches(self, customer: ListedCustomer) -> bool:
        """Return whether a customer matches."""
        spent = customer.spent.get(settings.CURRENCY, 0)
        return (
            self.country in ("", customer.country)
            and (self.spent_from is None or self.spent_from <= spent)
            and (self.spent_to is None or spent <= self.spent_to)
            and (self.orders_from is None or self.orders_from <= customer.order_count)
            and (self.orders_to is None or customer.order_count <= self.orders_to)
            and self.begin <= customer.last_order_at < self.end
            and (not self.tag or self.tag.casefold() in map(str.casefold, customer.tags))
        )

    @cached_property
    def begin(self) -> datetime:
        """The moment from which a last order matches."""
        return start_of_day(self.first_day) if self.first_day else datetime.min.replace(tzinfo=UTC)

    @cached_property
    def end(self) -> datetime:
        """The moment before which a last order matches."""
        return end_of_day(self.last_day) if self.last_day else _TOP[0]

    def to_dict(self) -> dict[str, str]:
        """Return the filter's non-empty fields as texts, keyed by field name, for JSON."""
        return {name: str(value) for name, value in asdict(self).items() if value not in ("", None)}

    @classmethod
    def from_dict(cls, texts: Mapping[str, str]) -> Self:
        """Return the filter with the values of `to_dict`. Raises TypeError or ValueError for invalid ones."""
        return cls(**{name: _PARSERS.get(name, int)(text) for name, text in texts.items()})


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("country", "tag"), str),
    **dict.fromkeys(("first_day", "last_day"), date.fromisoformat),
}


def prefetch_customer_months() -> PendingResult:
    """Start reading the months with customers, for `list_customers`."""
    return MONTHS.start(shop=SHOP)


def iterate_customers(chosen: CustomerFilter) -> Iterator[ListedCustomer]:
    """Yield all customers that match a filter, latest last order first, in bounded memory.

    A customer whose row moves meanwhile may be missed. Raises CassandraUnavailable.
    """
    months = _select_months(chosen, chosen.end, prefetch_customer_months())
    found = _iterate_rows(months, (chosen.end, _TOP[1]), _ROWS_AT_ONCE, _MONTHS_AT_ONCE)
    yield from filter(chosen.matches, found)


@dataclass(frozen=True)
class CustomerPage:
    """A page of the list. `next` is the token of the next page.

    `looked_at` is the number of customers read, if a filter has reached a bound without filling the page; else None.
    """

    customers: Sequence[ListedCustomer]
    next: str = ""
    looked_at: int | None = None


def list_customers(
    chosen: CustomerFilter, after: str = "", reading: PendingResult | None = None
) -> CustomerPage:
    """Return a page of the customers that match a filter, latest last order first.

    `reading` is the result of `prefetch_customer_months`. Raises InvalidPageToken, CassandraUnavailable.
    """
    at, user_id = page_key(after, _LIST) if after else (chosen.end, _TOP[1])
    months = _select_months(chosen, at, reading or prefetch_customer_months())
    most, at_once, growth = _ROWS_AT_ONCE, _MONTHS_AT_ONCE, 1
    if chosen.is_empty:  # one month fills a page, unless the shop is small or the month is young
        most, at_once, growth = PAGE_LENGTH + 1, 1, 3
    found: list[ListedCustomer] = []
    looked_at = 0
    months_read = months[:MAX_MONTHS_A_PAGE]
    for customer in _iterate_rows(months_read, (at, user_id), most, at_once, growth):
        if chosen.matches(customer):
            if len(found) == PAGE_LENGTH:
                return CustomerPage(found, page_token(found[-1].place, _LIST))
            found.append(customer)
        looked_at += 1
        if looked_at == MAX_LOOKED_AT:
            return CustomerPage(found, page_token(customer.place, _LIST), looked_at)
    if len(months) > MAX_MONTHS_A_PAGE:
        last = datetime.combine(months[MAX_MONTHS_A_PAGE - 1], time(), UTC)
        return CustomerPage(found, page_token((last, _TOP[1]), _LIST), looked_at)
    return CustomerPage(found)


def _select_months(chosen: CustomerFilter, before: datetime, reading: PendingResult) -> list[date]:
    """Return the months, latest first, that can have matching customers before a moment. Raises CassandraUnavailable."""
    months = [row.month.date() for row in reading.rows()]
    return [
        month
        for month in months
        if datetime.combine(month, time(), UTC) < before
        and datetime.combine(month + timedelta(31), time(), UTC) > chosen.begin
    ]


def _iterate_rows(
    months: Sequence[date], place: Place, most: int, at_once: int, growth: int = 1
) -> Iterator[ListedCustomer]:
    """Yield the customers of these months after a place, `most` of a shard at a time.

    `at_once` months are read together, then `growth` times as many, and so on.
    """
    start = 0
    while start < len(months):
        reading = {month: _start(month, place, most) for month in months[start : start + at_once]}
        start, at_once = start + at_once, at_once * growth
        for month, pending in reading.items():
            found, has_more = _merge(pending, most)
            yield from found
            while has_more:
                found, has_more = _merge(_start(month, found[-1].place, most), most)
                yield from found


def _start(month: date, place: Place, most: int) -> list[PendingResult]:
    before, user_id = place
    return [
        AFTER.start(month=month, shard=shard, before=before, user_id=user_id, most=most)
        for shard in range(SHARDS)
    ]


def _merge(reading: Sequence[PendingResult], most: int) -> tuple[list[ListedCustomer], bool]:
    """Return the first customers of all shards, latest last order first, and whether more may follow."""
    shards = [[_customer(row) for row in pending.rows()] for pending in reading]
    full = [shard[-1].place for shard in shards if len(shard) == most]
    found = sorted(
        (each for shard in shards for each in shard), key=attrgetter("place"), reverse=True
    )
    # After the last row of a full shard, the shard may have rows that come before those of others.
    return [each for each in found if not full or each.place >= max(full)], bool(full)


# ---- Segments

ALL, NEW, RETURNING, NOT_SEEN, BEST = "all", "new", "returning", "not_seen", "best"
NEW_DAYS, NOT_SEEN_DAYS = 30, 180


@dataclass(frozen=True)
class Segment:
    """How many customers a segment had when the worker counted it. `spent_from` is the least amount of the best tenth."""

    name: str
    count: int
    counted_at: datetime
    spent_from: int | None = None


def make_segment_filters(today: date, spent_from: int | None = None) -> dict[str, CustomerFilter]:
    """Return the filter of each segment, by name, on a day of the shop. Without `spent_from`, the best tenth has none."""
    filters = {
        ALL: CustomerFilter(),
        NEW: CustomerFilter(
            orders_from=1, orders_to=1, first_day=today - timedelta(NEW_DAYS - 1), last_day=today
        ),
        RETURNING: CustomerFilter(orders_from=2),
        NOT_SEEN: CustomerFilter(last_day=today - timedelta(NOT_SEEN_DAYS)),
    }
    if spent_from is not None:
        filters[BEST] = CustomerFilter(spent_from=spent_from)
    return filters


def prefetch_segments() -> PendingResult:
    """Start reading the counted segments, for `segments_from_rows`."""
    return SEGMENTS.start(shop=SHOP)


def segments_from_rows(rows: Sequence[Row]) -> dict[str, Segment]:
    """Return the counted segments by name."""
    return {
        row.segment: Segment(row.segment, row.customer_count, row.counted_at, row.spent_from)
        for row in rows
    }
