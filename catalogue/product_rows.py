"""Convert a product and its variants to rows of Cassandra and back. catalogue.columns declares a product's columns."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from cassandra_db import Row, current_time
from cassandra_db.kept_results import KeptResults
from catalogue.columns import COLUMNS
from catalogue.entities import Product, Variant
from catalogue.prices import PricePoint, begin_with, price_in_force
from pricing.money import from_minor_units, to_minor_units

# Looked up once, because every page decodes products.
_DECODERS = tuple((each.name, each.kind.decode) for each in COLUMNS)
_KEPT = KeptResults[Product | None]()


def product_from_rows(rows: Sequence[Row], now: datetime | None = None) -> Product | None:
    """Return the product that these rows of Q1 store, with the prices in force at `now` (default: the present), or None."""
    now = now or current_time()
    variant_rows = [row for row in rows if row.variant_id is not None]
    if not variant_rows or variant_rows[0].name is None:
        return None
    head = variant_rows[0]
    return Product(
        product_id=head.product_id,
        variants=tuple(
            sorted((_variant(row, now) for row in variant_rows), key=lambda each: each.position)
        ),
        # A planned price that has begun raises the version, so an editor who has read the former price cannot save it.
        version=(head.version or 0) + sum(_count_begun(row, now) for row in variant_rows),
        **{name: decode(getattr(head, name)) for name, decode in _DECODERS},
    )


def keep_product_from_rows(rows: Sequence[Row], now: datetime) -> Product | None:
    """Return the product that these rows of Q1 store, as `product_from_rows` does: the same object for equal rows."""
    if not rows:
        return None
    return _KEPT.get(
        rows[0].product_id,
        rows,
        lambda: product_from_rows(rows, now),
        lambda found: _has_prices_of(found, now),
    )


def _has_prices_of(product: Product | None, now: datetime) -> bool:
    return product is not None and all(each.has_price_of(now) for each in product.variants)


def product_columns(product: Product) -> dict[str, Any]:
    """Return the static columns that a save of a product writes."""
    return {
        "product_id": product.product_id,
        "version": product.version,
        "currency": product.variants[0].price.currency.code,
        **{
            each.name: each.kind.encode(getattr(product, each.name))
            for each in COLUMNS
            if each.is_saved
        },
    }


def variant_columns(variant: Variant) -> dict[str, Any]:
    """Return the columns of a variant's row."""
    return {
        "variant_id": variant.variant_id,
        "sku": variant.sku,
        "position": variant.position,
        "options": variant.options,
        "price": to_minor_units(variant.price),
        "compare_at": to_minor_units(variant.compare_at) if variant.compare_at else None,
        "price_from": variant.price_from,
        "planned_prices": _pack_prices(variant.planned),
        "picture": variant.picture,
        "weight_grams": variant.weight_grams,
        "barcode": variant.barcode,
        "mpn": variant.mpn,
        "content": variant.content,
        "cost_price": to_minor_units(variant.cost_price) if variant.cost_price else None,
        "sold": variant.sold,
    }


def _pack_prices(points: Sequence[PricePoint]) -> str | None:
    packed = [
        (
            each.starts_at.isoformat(),
            to_minor_units(each.price),
            to_minor_units(each.compare_at) if each.compare_at else None,
            *([each.back_to.isoformat()] if each.back_to else []),
        )
        for each in points
    ]
    return json.dumps(packed) if packed else None


def is_stored(row: Row | None, columns: Mapping[str, Any]) -> bool:
    """Return whether a row already holds these columns. Cassandra stores empty collections as null."""
    return row is not None and all(
        (getattr(row, name) or None) == (value or None) for name, value in columns.items()
    )


def price_points(row: Row) -> list[PricePoint]:
    """Return the price points in a variant's row, sorted by time. The first has begun; planned prices follow."""
    first = (row.price_from or row.created_at, row.price, row.compare_at)
    planned = (
        (datetime.fromisoformat(begin), price, was, *map(datetime.fromisoformat, back_to))
        for begin, price, was, *back_to in json.loads(row.planned_prices or "[]")
    )
    return [make_price_point(row.currency, *each) for each in (first, *planned)]


def make_price_point(
    currency: str,
    starts_at: datetime,
    price: int,
    compare_at: int | None,
    back_to: datetime | None = None,
) -> PricePoint:
    """Return a PricePoint made from stored values. `price` and `compare_at` are in minor units of the currency."""
    was = from_minor_units(compare_at, currency) if compare_at is not None else None
    return PricePoint(starts_at, from_minor_units(price, currency), was, back_to)


def _count_begun(row: Row, now: datetime) -> int:
    planned = price_points(row)[1:] if row.planned_prices else []
    return sum(point.starts_at <= now for point in planned)


def _variant(row: Row, now: datetime) -> Variant:
    points = price_points(row)
    current = price_in_force(points, now)
    return Variant(
        variant_id=row.variant_id,
        sku=row.sku,
        options=dict(row.options or {}),
        price=current.price,
        compare_at=current.compare_at,
        picture=row.picture or "",
        weight_grams=row.weight_grams or 0,
        sold=bool(row.sold),
        position=row.position or 0,
        barcode=row.barcode or "",
        mpn=row.mpn or "",
        content=row.content or Decimal(0),
        cost_price=from_minor_units(row.cost_price, row.currency) if row.cost_price else None,
        price_from=current.starts_at,
        planned=tuple(each for each in points[1:] if each.starts_at > now),
        earlier=tuple(each for each in points if each.starts_at < current.starts_at),
    )


def begun_prices(rows: Sequence[Row], now: datetime) -> dict[UUID, list[PricePoint]]:
    """Return the prices in a product's rows that shoppers have been asked, by variant, sorted by time.

    A row's own price counts even if it begins after `now`: a process whose clock is ahead, or a later save, has written it.
    """
    product = product_from_rows(rows, now)
    if product is None or (product.active_from and product.active_from > now):
        return {}
    return {
        row.variant_id: pick_asked_prices(product, _begun_points(row, now))
        for row in rows
        if row.sold
    }


def _begun_points(row: Row, now: datetime) -> list[PricePoint]:
    own, *planned = price_points(row)
    return [own, *(each for each in planned if each.starts_at <= now)]


def pick_asked_prices(product: Product, points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return the prices that shoppers are asked for a sold variant: only during the product's sale, and none for a draft."""
    if product.status != "active":
        return []
    until = product.active_until
    dated = begin_with(product.active_from, points)
    return [each for each in dated if until is None or each.starts_at < until]
