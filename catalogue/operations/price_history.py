"""The price history of variants."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import Row, wait_for_all, write
from catalogue import queries
from catalogue.entities import Product, Variant
from catalogue.errors import ProductRefused
from catalogue.prices import PricePoint, begin_with
from catalogue.product_rows import is_stored, variant_columns
from catalogue.rules import check_reduction
from pricing.money import to_minor_units

INSERT_PRICE = write(
    "Q1",
    """INSERT INTO price_history (variant_id, starts_at, price, compare_at, currency)
       VALUES (:variant_id, :starts_at, :price, :compare_at, :currency)""",
)
_PRICE_COLUMNS = ("price", "compare_at", "price_from", "planned_prices", "sold")


def find_repriced(variants: Iterable[Variant], rows: Sequence[Row]) -> list[Variant]:
    """Return the variants whose price, begin of the price, planned prices or `sold` differ from their rows."""
    stored = {row.variant_id: row for row in rows}

    def prices(variant: Variant) -> dict[str, Any]:
        columns = variant_columns(variant)
        return {name: columns[name] for name in _PRICE_COLUMNS}

    return [each for each in variants if not is_stored(stored.get(each.variant_id), prices(each))]


def list_refused_reductions(
    variants: Iterable[Variant], saved: Product, rows: Sequence[Row], now: datetime
) -> Iterator[ProductRefused]:
    """Yield a refusal for each crossed-out price, present or planned, that is higher than the law allows."""
    crossing = [
        each
        for each in variants
        if each.compare_at or any(point.compare_at for point in each.planned)
    ]
    asked = list_asked_prices([each.variant_id for each in crossing], rows, now)
    for variant in crossing:
        timeline = list(asked[variant.variant_id])
        earlier = {each.starts_at for each in timeline}
        present = PricePoint(variant.price_from or now, variant.price, variant.compare_at)
        points = begin_with(saved.active_from, [present, *variant.planned])
        # A planned price may replace the present price before any shopper is asked for the present one.
        if len(points) > len(variant.planned):
            present = points.pop(0)
            if variant.price_from == now:
                yield from check_reduction(timeline, present, "compare_at", variant)
            if present.starts_at not in earlier:
                timeline.append(present)
        for point in points:
            yield from check_reduction(timeline, point, "planned", variant)
            timeline.append(point)


def list_asked_prices(
    variant_ids: Iterable[UUID], rows: Sequence[Row], now: datetime
) -> dict[UUID, list[PricePoint]]:
    """Return the prices of each variant until now, from its history and its rows, earliest first. Raises CassandraUnavailable."""
    begun = queries.begun_prices(rows, now)
    reading = {each: queries.prefetch_price_history(each) for each in variant_ids}
    found = {}
    for variant_id, pending in reading.items():
        asked = queries.price_history_from_rows(pending.rows())
        points = {each.starts_at: each for each in (*asked, *begun.get(variant_id, ()))}
        found[variant_id] = [points[at] for at in sorted(points)]
    return found


def price_statements(variant_id: UUID, points: Iterable[PricePoint]) -> list[BoundStatement]:
    """Return the writes that put prices into a variant's price history."""
    return [INSERT_PRICE.bind(**columns) for columns in _price_columns(variant_id, points)]


def _price_columns(variant_id: UUID, points: Iterable[PricePoint]) -> list[dict[str, Any]]:
    return [
        {
            "variant_id": variant_id,
            "starts_at": each.starts_at,
            "price": to_minor_units(each.price),
            "compare_at": to_minor_units(each.compare_at) if each.compare_at else None,
            "currency": each.price.currency.code,
        }
        for each in points
    ]


def record_prices(
    rows: Sequence[Row], now: datetime, variant_ids: Collection[UUID] | None = None
) -> None:
    """Copy prices that have begun from a product's rows into the price history, for all variants or only `variant_ids`.

    A save calls it before it overwrites the rows. Repeating the call does no harm. Raises CassandraUnavailable.
    """
    begun = queries.begun_prices(rows, now)
    chosen = begun if variant_ids is None else begun.keys() & set(variant_ids)
    add_former_prices({each: begun[each] for each in chosen})


def add_former_prices(prices: Mapping[UUID, Sequence[PricePoint]]) -> None:
    """Write prices into the price history of variants. Raises CassandraUnavailable."""
    wait_for_all(
        [
            INSERT_PRICE.start(**columns)
            for variant_id, points in prices.items()
            for columns in _price_columns(variant_id, points)
        ]
    )
