"""Counts the stock value and the products that need attention, in one pass over all products.

In memory are the sums of each warehouse, the MAX_LISTED most urgent products of each reason, and of the products that were sold
in 90 days or that somebody waits for, their units.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import islice
from uuid import UUID

from django.conf import settings

from analytics.days import shop_day
from analytics.queries import list_day_facts, list_sales_by, prefetch_product_views
from cassandra_db import PendingResult, current_microseconds, write, write_batch
from catalogue import queries
from catalogue.entities import Product, Variant
from inventory.entities import BACKORDER_WAREHOUSE
from inventory.queries import (
    prefetch_stock_at_quorum,
    prefetch_stock_numbers,
    stock_numbers_from_row,
)
from inventory.warehouses import list_warehouses
from jobs.rows import guard_row
from pricing.money import to_minor_units
from product_reports.entities import (
    NO_COST_PRICE,
    NO_PICTURE,
    NOT_BOUGHT,
    NOT_SOLD,
    REASONS,
    RETURNED,
    SOLD_OUT,
    ProductFigures,
)
from stock_alerts.queries import iterate_subscribed_variants, prefetch_subscriber_keys

MAX_LISTED = 100
VIEWED_FOR, SOLD_FOR = timedelta(days=30), timedelta(days=90)
# From how many visitors on a product that is not bought is listed; from how many sold units on, and from which share of them
# refunded, one that is sent back.
MIN_VISITORS = 20
MIN_SOLD, MIN_RETURN_RATE = 5, 20.0
# How many products, or variants of these, are read in parallel.
_AT_ONCE, _VARIANTS_AT_ONCE = 64, 500

DAY_EMPTIED = write(
    "Q16", "DELETE FROM stock_values USING TIMESTAMP :at WHERE year = :year AND day = :day"
)
STOCK_VALUE = write(
    "Q16",
    """INSERT INTO stock_values (year, day, warehouse_id, currency, units, value, unpriced_units, counted_at)
       VALUES (:year, :day, :warehouse_id, :currency, :units, :value, :unpriced_units, :counted_at)
       USING TIMESTAMP :at""",
)
LIST_EMPTIED = write(
    "Q18", "DELETE FROM products_needing_attention USING TIMESTAMP :at WHERE reason = :reason"
)
LIST_COUNTED = write(
    "Q18",
    """UPDATE products_needing_attention USING TIMESTAMP :at SET total = :total, counted_at = :counted_at
       WHERE reason = :reason""",
)
LISTED = write(
    "Q18",
    """INSERT INTO products_needing_attention (reason, position, product_id, name, sku, on_hand, visitors, subscribers, sold,
                                               refunded)
       VALUES (:reason, :position, :product_id, :name, :sku, :on_hand, :visitors, :subscribers, :sold, :refunded)
       USING TIMESTAMP :at""",
)


@dataclass(slots=True)
class RecentSales:
    """What was sold of a product in SOLD_FOR: units, refunded units, and whether a unit was kept of an order of VIEWED_FOR."""

    sold: int = 0
    refunded: int = 0
    is_bought: bool = False


@dataclass(slots=True)
class _Value:
    units: int = 0
    value: int = 0
    unpriced_units: int = 0


@dataclass
class ProductCount:
    """What is counted of all products: stock values by warehouse and currency, and the most urgent products of each reason."""

    values: dict[tuple[str, str], _Value] = field(default_factory=dict)
    listed: dict[str, list[tuple[tuple[float, ...], ProductFigures]]] = field(
        default_factory=lambda: {reason: [] for reason in REASONS}
    )
    totals: Counter[str] = field(default_factory=Counter)
    products: int = 0

    def add_units(self, variant: Variant, warehouse_id: str, units: int) -> None:
        """Add a variant's units in a warehouse to the stock value."""
        key = (warehouse_id, variant.price.currency.code)
        value = self.values.setdefault(key, _Value())
        value.units += units
        if variant.cost_price:
            value.value += units * to_minor_units(variant.cost_price)
        elif units:
            value.unpriced_units += units

    def add_product(self, reason: str, figures: ProductFigures, *urgency: float) -> None:
        """List a product under a reason. The highest `urgency` comes first."""
        self.totals[reason] += 1
        listed = self.listed[reason]
        listed.append((urgency, figures))
        if len(listed) >= 2 * MAX_LISTED:
            listed[:] = _most_urgent(listed)

    def list_products(self, reason: str) -> list[ProductFigures]:
        """Return the products to list under a reason, the most urgent first."""
        return [figures for _urgency, figures in _most_urgent(self.listed[reason])]


def _most_urgent(
    listed: Iterable[tuple[tuple[float, ...], ProductFigures]],
) -> list[tuple[tuple[float, ...], ProductFigures]]:
    ranked = sorted(listed, key=lambda each: (each[1].name, each[1].sku))
    return sorted(ranked, key=lambda each: each[0], reverse=True)[:MAX_LISTED]


def count_products(now: datetime, products: Iterable[Product] | None = None) -> int:
    """Count the stock value and the products that need attention; store both, and return the number of products.

    `products` are all of the shop unless given. A second call on the same day replaces the first one's result. Raises
    CassandraUnavailable.
    """
    at, day = current_microseconds(), shop_day(now)
    recent = _sum_recent_sales(day)
    waiting = _count_subscribers()
    count = ProductCount()
    for some in _slice(queries.iterate_products() if products is None else products):
        for product, on_hand, visitors in _read_figures(some, day, count):
            sales = recent.get(product.product_id, RecentSales())
            figures = ProductFigures(
                product.product_id,
                product.name,
                on_hand=on_hand,
                visitors=visitors,
                subscribers=waiting[product.product_id],
                sold=sales.sold,
                refunded=sales.refunded,
            )
            with guard_row(f"report of product {product.product_id}"):
                for reason, urgency in list_reasons(product, figures, sales, now):
                    count.add_product(reason, figures, *urgency)
        count.products += len(some)
    # The count runs an hour after midnight: it is the stock at the end of the day before.
    _store_values(count, day - timedelta(days=1), now, at)
    for reason in REASONS:
        _store_list(count, reason, now, at)
    return count.products


def _slice(products: Iterable[Product]) -> Iterator[list[Product]]:
    """Yield the products in lists that are read in parallel."""
    some: list[Product] = []
    variants = 0
    for product in products:
        variants += len(product.variants)
        if some and (len(some) == _AT_ONCE or variants > _VARIANTS_AT_ONCE):
            yield some
            some, variants = [], len(product.variants)
        some.append(product)
    if some:
        yield some


def _sum_recent_sales(day: date) -> dict[UUID, RecentSales]:
    """Return what was sold of each product in the SOLD_FOR before a day. Each day's facts are read one after the other."""
    found: dict[UUID, RecentSales] = {}
    for sold_on in sorted({each.day for each in list_sales_by("customer", day - SOLD_FOR, day)}):
        for fact in list_day_facts(sold_on):
            line, sold = fact.line, found.setdefault(fact.line.product_id, RecentSales())
            sold.sold += line.units
            sold.refunded += line.refunded_units
            is_kept = line.units > line.refunded_units
            sold.is_bought |= is_kept and sold_on >= day - VIEWED_FOR
    return found


def _count_subscribers() -> Counter[UUID]:
    """Return how many people wait for sold-out variants of each product."""
    found: Counter[UUID] = Counter()
    iterator = iterate_subscribed_variants()
    while some := list(islice(iterator, _AT_ONCE)):
        reading = [(row, prefetch_subscriber_keys(row.variant_id)) for row in some]
        for row, pending in reading:
            found[row.product_id] += len(pending.rows())
    return found


def _read_figures(
    products: list[Product], day: date, count: ProductCount
) -> Iterator[tuple[Product, int, int]]:
    """Add the products' stock to the count; yield each with its units on hand and its visitors of VIEWED_FOR."""
    stock = {each.product_id: prefetch_stock_at_quorum(each.product_id) for each in products}
    views = {
        each.product_id: prefetch_product_views(each.product_id, day - VIEWED_FOR, day)
        for each in products
    }
    numbers: dict[UUID, list[tuple[UUID, str, PendingResult]]] = {}
    for product_id, pending in stock.items():
        numbers[product_id] = [
            (
                row.variant_id,
                row.warehouse_id,
                prefetch_stock_numbers(row.variant_id, row.warehouse_id),
            )
            for row in pending.rows()
            if row.warehouse_id != BACKORDER_WAREHOUSE
        ]
    for product in products:
        units: Counter[UUID] = Counter()
        for variant_id, warehouse_id, pending in numbers[product.product_id]:
            on_hand = stock_numbers_from_row(pending.one()).on_hand
            if variant := product.get_variant(variant_id):
                count.add_units(variant, warehouse_id, on_hand)
                units[variant_id] += on_hand
        _find_unpriced(product, units, count)
        visitors = sum(row.visitors or 0 for row in views[product.product_id].rows())
        yield product, units.total(), visitors


def _find_unpriced(product: Product, units: Counter[UUID], count: ProductCount) -> None:
    for variant in product.variants:
        on_hand = units[variant.variant_id]
        if on_hand and not variant.cost_price:
            name = f"{product.name}, {variant.label}" if variant.label else product.name
            figures = ProductFigures(product.product_id, name, variant.sku, on_hand)
            count.add_product(NO_COST_PRICE, figures, on_hand)


def list_reasons(
    product: Product, figures: ProductFigures, sales: RecentSales, now: datetime
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield each reason for which a product on sale needs attention, with its urgency (docs/report-definitions.md)."""
    if not product.is_on_sale(now):
        return
    is_out = product.availability == "out"
    if figures.subscribers or (is_out and figures.visitors):
        yield SOLD_OUT, (figures.subscribers, figures.visitors)
    if not is_out and not sales.is_bought and figures.visitors >= MIN_VISITORS:
        yield NOT_BOUGHT, (figures.visitors,)
    if figures.sold >= MIN_SOLD and figures.return_rate >= MIN_RETURN_RATE:
        yield RETURNED, (figures.return_rate, figures.sold)
    if not all(product.picture_of(each) for each in product.variants if each.sold):
        yield NO_PICTURE, (figures.visitors,)
    since = max(filter(None, (product.created_at, product.active_from)), default=now)
    if not figures.sold and since <= now - SOLD_FOR:
        yield NOT_SOLD, (figures.on_hand, figures.visitors)


def _store_values(count: ProductCount, day: date, now: datetime, at: int) -> None:
    # A warehouse without units has a row, too: otherwise a day without any stock would look as if nobody had counted.
    currency = settings.CURRENCY
    for warehouse_id in list_warehouses():
        count.values.setdefault((warehouse_id, currency), _Value())
    rows = [
        STOCK_VALUE.bind(
            year=day.year,
            day=day,
            warehouse_id=warehouse_id,
            currency=currency,
            units=value.units,
            value=value.value,
            unpriced_units=value.unpriced_units,
            counted_at=now,
            at=at,
        )
        for (warehouse_id, currency), value in count.values.items()
    ]
    write_batch([DAY_EMPTIED.bind(year=day.year, day=day, at=at - 1), *rows])


def _store_list(count: ProductCount, reason: str, now: datetime, at: int) -> None:
    rows = [
        LISTED.bind(
            reason=reason,
            position=position,
            product_id=each.product_id,
            name=each.name,
            sku=each.sku,
            on_hand=each.on_hand,
            visitors=each.visitors,
            subscribers=each.subscribers,
            sold=each.sold,
            refunded=each.refunded,
            at=at,
        )
        for position, each in enumerate(count.list_products(reason))
    ]
    emptied = LIST_EMPTIED.bind(reason=reason, at=at - 1)
    counted = LIST_COUNTED.bind(reason=reason, total=count.totals[reason], counted_at=now, at=at)
    write_batch([emptied, counted, *rows])
