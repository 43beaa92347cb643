"""The reads of orders; orders.board_queries has the board's reads."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from uuid import UUID

from django.utils.timezone import localdate
from moneyed import Money

from accounts.addresses import address_from_fields
from cassandra_db import LOCAL_QUORUM, QUORUM, PendingResult, Row, page_key, page_token, read, scan
from mail.addresses import email_key
from orders.lifecycle.entities import Order, OrderSummary
from orders.lifecycle.events import Event
from orders.lifecycle.items import Item
from orders.lifecycle.stored_sums import parse_discounts, parse_taxes
from pricing.delivery import PromisedDelivery, former_promise
from pricing.money import from_minor_units
from pricing.quotes import snapshot_columns
from pricing.tax import former_tax_rates
from shop_settings.terms import get_terms

# Q12, Q14: an order with its events; each row has the header.
ORDER = read(
    "Q12",
    """SELECT order_id, event_id, number, owner_id, user_id, email, name, state, payment, fulfilment, version, placed_at,
              pay_until, currency, subtotal, delivery, discount, total, tax, taxes, item_count, country,
              delivery_address, billing_address, delivery_method, delivery_title, carrier, estimated_from, estimated_delivery,
              tax_rates, customer_notes, terms_version, tags, first_item_name, first_item_picture, skus, cart_id, allocations, fingerprint, payment_id, payment_method,
              captured, refunded, voucher, discounts, kind, actor, note, public, board_after, details, request_id, submit_id
       FROM orders WHERE order_id = :order_id""",
    consistency=QUORUM,
)


def prefetch_order(order_id: UUID) -> PendingResult:
    """Start reading an order, for `order_from_rows`."""
    return ORDER.start(order_id=order_id)


def get_order(order_id: UUID) -> Order | None:
    """Return the order with its history, or None. Raises CassandraUnavailable."""
    return order_from_rows(prefetch_order(order_id).rows())


def order_from_rows(rows: Sequence[Row]) -> Order | None:
    """Return the order in the rows of ORDER; None for a checkout that is no order."""
    if not rows or rows[0].number is None:
        return None
    head = rows[0]
    currency = head.currency
    return Order(
        order_id=head.order_id,
        number=head.number,
        owner_id=head.owner_id,
        user_id=head.user_id,
        email=head.email,
        name=head.name,
        state=head.state,
        payment=head.payment,
        fulfilment=head.fulfilment,
        version=head.version,
        placed_at=head.placed_at,
        pay_until=head.pay_until,
        subtotal=from_minor_units(head.subtotal, currency),
        delivery=from_minor_units(head.delivery, currency),
        discount=from_minor_units(head.discount, currency),
        total=from_minor_units(head.total, currency),
        tax=from_minor_units(head.tax, currency),
        taxes=parse_taxes(json.loads(head.taxes), currency),
        tax_rates=_tax_rates(head),
        item_count=head.item_count,
        country=head.country,
        delivery_address=address_from_fields(head.delivery_address or {}),
        billing_address=address_from_fields(head.billing_address or {}),
        method=_promised_delivery(head),
        first_item_name=head.first_item_name,
        first_item_picture=head.first_item_picture,
        cart_id=head.cart_id,
        allocations_json=head.allocations,
        fingerprint=head.fingerprint,
        payment_id=head.payment_id,
        payment_method=head.payment_method or "card",
        captured=from_minor_units(head.captured or 0, currency),
        refunded=from_minor_units(head.refunded or 0, currency),
        voucher=head.voucher or "",
        discounts=parse_discounts(json.loads(head.discounts or "[]"), currency),
        events=tuple(_event(row) for row in rows if row.event_id is not None),
        return_days=get_terms(localdate(head.placed_at)).return_days,
        customer_notes=head.customer_notes or "",
        terms_version=head.terms_version,
        skus=tuple(json.loads(head.skus or "[]")),
        tags=tuple(sorted(head.tags or ())),
    )


def _promised_delivery(head: Row) -> PromisedDelivery:
    """Return the promised delivery. For an older order, which stores none, return what its delivery method promised at that time."""
    if head.delivery_title is None:
        return former_promise(head.country, head.delivery_method, head.placed_at)
    return PromisedDelivery(
        head.delivery_method,
        head.delivery_title,
        head.carrier,
        localdate(head.placed_at),
        head.estimated_from.date(),
        head.estimated_delivery.date(),
    )


def _tax_rates(head: Row) -> Mapping[str, Decimal]:
    if head.tax_rates is None:
        return former_tax_rates(head.country)
    return {name: Decimal(rate) for name, rate in json.loads(head.tax_rates).items()}


def _event(row: Row) -> Event:
    return Event(
        row.event_id,
        row.kind,
        row.actor,
        row.note or "",
        bool(row.public),
        row.board_after or "",
        json.loads(row.details or "{}"),
        row.request_id,
        row.submit_id,
    )


# Q12: the order with a number.
ORDER_ID = read("Q12", "SELECT order_id FROM order_ids_by_number WHERE number = :number")


def prefetch_order_id(number: str) -> PendingResult:
    """Start reading the order with a normalized number; the row has order_id."""
    return ORDER_ID.start(number=number)


def get_order_by_number(number: str) -> Order | None:
    """Return the order with this normalized number (orders.numbers), or None. Raises CassandraUnavailable."""
    row = ORDER_ID.one(number=number) if number else None  # Cassandra rejects an empty key
    return get_order(row.order_id) if row else None


# Q13: an order's items.
ITEMS = read(
    "Q13",
    """SELECT line_number, product_id, variant_id, sku, name, slug, options, picture, unit_price, quantity, line_total,
              discount, tax_added, tax_class FROM order_items WHERE order_id = :order_id""",
    consistency=QUORUM,
)


def prefetch_items(order_id: UUID) -> PendingResult:
    """Start reading an order's items, for `items_from_rows`."""
    return ITEMS.start(order_id=order_id)


def list_items(order: Order) -> tuple[Item, ...]:
    """Return the order's lines. Raises CassandraUnavailable."""
    return items_from_rows(order, prefetch_items(order.order_id).rows())


def items_from_rows(order: Order, rows: Iterable[Row]) -> tuple[Item, ...]:
    """Return the order's lines in the rows of ITEMS."""
    currency = order.total.currency.code
    return tuple(
        Item(
            **snapshot_columns(row),
            line_number=row.line_number,
            unit_price=from_minor_units(row.unit_price, currency),
            quantity=row.quantity,
            line_total=from_minor_units(row.line_total, currency),
            discount=from_minor_units(row.discount or 0, currency),
            tax_added=from_minor_units(row.tax_added or 0, currency),
            tax_class=row.tax_class,
        )
        for row in rows
    )


# Q12: the gateways' references of an order's payments.
PAYMENTS = read(
    "Q12", "SELECT payment_id, gateway, reference FROM payments WHERE order_id = :order_id"
)
# Q12: an order's member and fulfilment.
FULFILMENT = read(
    "Q12",
    "SELECT user_id, fulfilment FROM orders WHERE order_id = :order_id LIMIT 1",
    consistency=QUORUM,
)
# Q15: the orders whose last parcel arrived on a day, sorted by id.
DELIVERED = read(
    "Q15",
    "SELECT order_id FROM delivered_orders_by_day WHERE day = :day AND order_id > :after LIMIT :most",
)
_DELIVERED_AT_ONCE = 500


def iterate_delivered(day: date) -> Iterator[UUID]:
    """Yield the ids of the orders whose last parcel arrived on a day (UTC). Raises CassandraUnavailable."""
    after: UUID | None = UUID(int=0)
    while after:
        rows = DELIVERED.all(day=day, after=after, most=_DELIVERED_AT_ONCE)
        yield from (row.order_id for row in rows)
        after = rows[-1].order_id if len(rows) == _DELIVERED_AT_ONCE else None


def prefetch_fulfilment(order_id: UUID) -> PendingResult:
    """Start reading an order's member and fulfilment, for `is_delivered_to`."""
    return FULFILMENT.start(order_id=order_id)


def is_delivered_to(user_id: UUID, row: Row | None) -> bool:
    """Return whether the order in the row of FULFILMENT is that person's and has fully arrived."""
    return row is not None and row.user_id == user_id and row.fulfilment == "delivered"


def prefetch_payments(order_id: UUID) -> PendingResult:
    """Start reading the gateways' references of an order's payments, for `add_payment_references`."""
    return PAYMENTS.start(order_id=order_id)


def add_payment_references(order: Order, rows: Iterable[Row]) -> Order:
    """Return the order with the payment references in the rows of PAYMENTS."""
    references = {row.payment_id: (row.gateway, row.reference or "") for row in rows}
    return replace(order, payment_references=references)


def load_payment_references(order: Order) -> Order:
    """Return the order with its payment references, which are read unless it has them. Raises CassandraUnavailable."""
    if order.payment_references is not None:
        return order
    return add_payment_references(order, prefetch_payments(order.order_id).rows())


# Q11: a person's sums, by currency.
USER_STATS = read(
    "Q11", "SELECT currency, order_count, total_spent FROM user_stats WHERE user_id = :user_id"
)
# Q11: the columns of an order from which a person's sums are computed.
PAID = read(
    "Q11",
    """SELECT user_id, currency, captured, refunded, placed_at, country, tags FROM orders
       WHERE order_id = :order_id LIMIT 1""",
    consistency=QUORUM,
)
PENDING_USER_STATS = read(
    "Q11",
    "SELECT minute, user_id, written FROM pending_user_stats_by_minute WHERE minute = :minute",
)
_ORDERS_AT_ONCE = 100
MAX_CUSTOMER_TAGS = 20


@dataclass(frozen=True)
class UserStats:
    """The number of a person's paid orders in a currency, and the amount spent less refunds."""

    order_count: int
    total_spent: Money


def prefetch_user_stats(user_id: UUID) -> PendingResult:
    """Start reading a person's sums, for `stats_from_rows`."""
    return USER_STATS.start(user_id=user_id)


@dataclass(frozen=True)
class PaidOrders:
    """What a person's paid orders add up to. `sums` has the number and the amount in minor units, by currency.

    `paid_at` says when these orders were placed, the latest first; `country` is that of the latest. `tags` are those of all, at
    most MAX_CUSTOMER_TAGS.
    """

    sums: Mapping[str, tuple[int, int]]
    paid_at: tuple[datetime, ...] = ()
    country: str = ""
    tags: tuple[str, ...] = ()


def stats_from_rows(rows: Iterable[Row]) -> list[UserStats]:
    """Return a person's sums, one for each currency."""
    return [
        UserStats(row.order_count, from_minor_units(row.total_spent, row.currency))
        for row in rows
        if row.currency
    ]


def compute_user_stats(user_id: UUID) -> PaidOrders:
    """Return what a person's paid orders add up to, read from the orders. `sums` has none that were refunded in full.

    Raises CassandraUnavailable.
    """
    sums: dict[str, tuple[int, int]] = {}
    paid = []
    for listed in list_orders_by_year(user_id, list_order_years(user_id)).values():
        for start in range(0, len(listed), _ORDERS_AT_ONCE):
            reading = [
                PAID.start(order_id=each.order_id)
                for each in listed[start : start + _ORDERS_AT_ONCE]
            ]
            for row in (pending.one() for pending in reading):
                if not row or row.user_id != user_id or not row.captured:
                    continue
                paid.append(row)
                if (spent := row.captured - (row.refunded or 0)) > 0:
                    count, total = sums.get(row.currency, (0, 0))
                    sums[row.currency] = count + 1, total + spent
    paid.sort(key=lambda row: row.placed_at, reverse=True)
    tags = dict.fromkeys(tag for row in paid for tag in sorted(row.tags or ()))
    return PaidOrders(
        sums,
        tuple(row.placed_at for row in paid),
        paid[0].country if paid else "",
        tuple(tags)[:MAX_CUSTOMER_TAGS],
    )


_FIRST_ID = UUID(int=0)
_ORDER_SUMMARY = """SELECT order_id, number, placed_at, customer_label, total, currency, item_count, first_item_name, first_item_picture
                    FROM orders_by_user WHERE user_id = :user_id AND year = :year"""
# Q11: a person's orders of a year, newest first; all of them, or those after a given order and not before a day.
BY_USER = read("Q11", _ORDER_SUMMARY)
BY_USER_SINCE = read(
    "Q11",
    f"{_ORDER_SUMMARY} AND (placed_at, order_id) >= (:since, :first) AND (placed_at, order_id) < (:before, :order_id) LIMIT :most",
)
# Q11: the years in which a person has ordered.
YEARS = read("Q11", "SELECT year FROM order_years_by_user WHERE user_id = :user_id")
# Q15: the orders that were placed with an e-mail address in a year, and the years with orders of the address.
BY_EMAIL = read(
    "Q15", "SELECT order_id FROM orders_by_email_and_year WHERE email = :email AND year = :year"
)
EMAIL_YEARS = read("Q15", "SELECT year FROM order_years_by_email WHERE email = :email")


def list_orders_by_year(user_id: UUID, years: Iterable[int]) -> dict[int, list[OrderSummary]]:
    """Return a person's orders by year, newest first, without empty years; the years are read in parallel.

    Raises CassandraUnavailable.
    """
    reading = {
        year: BY_USER.start(user_id=user_id, year=year) for year in sorted(set(years), reverse=True)
    }
    found = {
        year: [_order_summary(row) for row in pending.rows()] for year, pending in reading.items()
    }
    return {year: listed for year, listed in found.items() if listed}


def prefetch_orders_of_year(user_id: UUID, year: int) -> PendingResult:
    """Start reading a person's orders of a year, for `summaries_from_rows`."""
    return BY_USER.start(user_id=user_id, year=year)


def summaries_from_rows(rows: Iterable[Row]) -> list[OrderSummary]:
    """Return the order summaries in rows of `orders_by_user`."""
    return [_order_summary(row) for row in rows]


def prefetch_order_years(user_id: UUID) -> PendingResult:
    """Start reading the years in which a person has ordered: rows with `year`, latest first."""
    return YEARS.start(user_id=user_id)


def list_order_years(user_id: UUID) -> list[int]:
    """Return the years in which a person has ordered, latest first. Raises CassandraUnavailable."""
    return [row.year for row in prefetch_order_years(user_id).rows()]


def prefetch_year_orders(
    user_id: UUID, year: int, since: datetime, before: datetime, limit: int
) -> PendingResult:
    """Start reading a person's latest orders of a year, placed from `since` until before `before`, for `list_orders_between`."""
    return _start_year(user_id, year, since, (before, _FIRST_ID), limit + 1)


def _start_year(
    user_id: UUID, year: int, since: datetime, place: tuple[datetime, UUID], most: int
) -> PendingResult:
    return BY_USER_SINCE.start(
        user_id=user_id,
        year=year,
        since=since,
        first=_FIRST_ID,
        before=place[0],
        order_id=place[1],
        most=most,
    )


def list_orders_between(
    user_id: UUID,
    years: Iterable[int],
    since: datetime,
    before: datetime,
    after: str = "",
    limit: int = 20,
    started: Mapping[int, PendingResult] = MappingProxyType({}),
) -> tuple[list[OrderSummary], str]:
    """Return a page of a person's orders of these years, placed from `since` until before `before`, newest first.

    Also return the token of the next page, or ''. `started` are the years of which `prefetch_year_orders` has begun the first page.
    Raises InvalidPageToken, CassandraUnavailable.
    """
    list_name = f"Q11:{user_id}:{since.isoformat()}:{before.isoformat()}"
    place, order_id = page_key(after, list_name) if after else (before, _FIRST_ID)
    found: list[OrderSummary] = []
    # The years of both ends are included; an order's year is in UTC.
    for year in sorted({year for year in years if since.year <= year <= place.year}, reverse=True):
        reading = (started.get(year) if not after else None) or _start_year(
            user_id, year, since, (place, order_id), limit + 1 - len(found)
        )
        found += [_order_summary(row) for row in reading.rows()]
        if len(found) > limit:
            break
    has_more = len(found) > limit
    found = found[:limit]
    return found, page_token(
        [found[-1].placed_at, found[-1].order_id], list_name
    ) if has_more else ""


def list_order_ids_by_email(email: str) -> list[UUID]:
    """Return the ids of the orders that were placed with an e-mail address, newest first. Raises CassandraUnavailable."""
    key = email_key(email)
    reading = [BY_EMAIL.start(email=key, year=year) for year in list_order_years_by_email(key)]
    return [row.order_id for pending in reading for row in pending.rows()]


def list_order_years_by_email(email: str) -> list[int]:
    """Return the years in which orders were placed with an e-mail address, latest first. Raises CassandraUnavailable."""
    return [row.year for row in EMAIL_YEARS.all(email=email_key(email))]


def _order_summary(row: Row) -> OrderSummary:
    return OrderSummary(
        row.order_id,
        row.number,
        row.placed_at,
        row.customer_label,
        from_minor_units(row.total, row.currency),
        row.item_count,
        row.first_item_name,
        row.first_item_picture,
    )


# Q15: the tags that staff have recently put on orders.
RECENT_TAGS = read("Q15", "SELECT tag FROM recent_order_tags WHERE scope = :scope LIMIT 200")
ALL_TAGS = "all"


def prefetch_recent_tags() -> PendingResult:
    """Start reading the tags that staff have put on orders in the last 90 days, for `tags_from_rows`."""
    return RECENT_TAGS.start(scope=ALL_TAGS)


def tags_from_rows(rows: Iterable[Row]) -> tuple[str, ...]:
    """Return the tags in the rows of RECENT_TAGS, in alphabetical order."""
    return tuple(row.tag for row in rows)


# Q12: the pending effects of a minute.
PENDING_EFFECTS = read(
    "Q12",
    "SELECT minute, order_id, has_effects, is_inquiry FROM pending_effects_by_minute WHERE minute = :minute",
)
ORDER_IDS = scan(
    "Q12",
    "SELECT DISTINCT order_id FROM orders WHERE token(order_id) > :start AND token(order_id) <= :end",
    consistency=LOCAL_QUORUM,  # a node that was away may lack orders, and backfills look once
)
USERS_WITH_ORDERS = scan(
    "Q11",
    "SELECT DISTINCT user_id FROM order_years_by_user WHERE token(user_id) > :start AND token(user_id) <= :end",
    consistency=LOCAL_QUORUM,
)
ORDERED_PRODUCTS = scan(
    "Q5",
    """SELECT order_id, product_id FROM order_items
       WHERE token(order_id) > :start AND token(order_id) <= :end""",
)
