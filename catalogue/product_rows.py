"""A product and its variants as the rows of Cassandra: what is written, and what is made of what was read."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cassandra_db import (
    Row,
    current_time,
)
from catalogue.entities import (
    Product,
    ProductPicture,
    Variant,
)
from catalogue.prices import (
    PricePoint,
    begin_with,
    price_in_force,
)
from pricing.money import from_minor_units


def product_from_rows(rows: Sequence[Row], now: datetime | None = None) -> Product | None:
    """Return the product that the rows of Q1 hold, with the prices in force now (or at that moment), or None."""
    now = now or current_time()
    variant_rows = [row for row in rows if row.variant_id is not None]
    if not variant_rows or variant_rows[0].name is None:
        return None
    head = variant_rows[0]
    return Product(
        product_id=head.product_id,
        slug=head.slug,
        name=head.name,
        brand=head.brand or "",
        description=head.description or "",
        details=json.loads(head.details) if head.details else {},
        category_id=head.category_id,
        option_names=tuple(head.option_names or ()),
        tax_class=head.tax_class,
        variants=tuple(
            sorted((_variant(row, now) for row in variant_rows), key=lambda each: each.position)
        ),
        status=head.status,
        featured=bool(head.featured),
        created_at=head.created_at,
        updated_at=head.updated_at,
        availability=head.availability or "out",
        # A planned price that has begun counts as a save: who has read the one before must not write it again.
        version=(head.version or 0) + sum(_count_begun(row, now) for row in variant_rows),
        active_from=head.active_from,
        active_until=head.active_until,
        category_ids=frozenset(head.category_ids or ()),
        tags=frozenset(head.tags or ()),
        maker=head.maker or "",
        safety=head.safety or "",
        length_mm=head.length_mm or 0,
        width_mm=head.width_mm or 0,
        height_mm=head.height_mm or 0,
        search_title=head.search_title or "",
        search_description=head.search_description or "",
        related_ids=tuple(head.related_ids or ()),
        pictures=tuple(ProductPicture(*each) for each in json.loads(head.pictures or "[]")),
        successor_id=head.successor_id,
        # A float of four bytes: as cards say it, it has one decimal.
        rating=round(head.rating, 1) if head.rating is not None else None,
        rating_count=head.rating_count or 0,
        popularity=head.popularity,
        bestseller=bool(head.bestseller),
    )


def price_points(row: Row) -> list[PricePoint]:
    """Return the prices in a variant's row, in the order of time: the first has begun, the others begin by themselves."""
    first = (row.price_from or row.created_at, row.price, row.compare_at)
    planned = (
        (
            datetime.fromisoformat(starts_at),
            price,
            compare_at,
            *map(datetime.fromisoformat, back_to),
        )
        for starts_at, price, compare_at, *back_to in json.loads(row.planned_prices or "[]")
    )
    return [make_price_point(row.currency, *each) for each in (first, *planned)]


def make_price_point(
    currency: str,
    starts_at: datetime,
    price: int,
    compare_at: int | None,
    back_to: datetime | None = None,
) -> PricePoint:
    was = from_minor_units(compare_at, currency) if compare_at is not None else None
    return PricePoint(starts_at, from_minor_units(price, currency), was, back_to)


def _count_begun(row: Row, now: datetime) -> int:
    return (
        sum(point.starts_at <= now for point in price_points(row)[1:]) if row.planned_prices else 0
    )


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
        price_from=current.starts_at,
        planned=tuple(each for each in points[1:] if each.starts_at > now),
    )


def begun_prices(rows: Sequence[Row], now: datetime) -> dict[UUID, list[PricePoint]]:
    """Return by variant which prices in a product's rows have been asked of shoppers, in the order of time."""
    product = product_from_rows(rows, now)
    if product is None:
        return {}
    asked = {
        row.variant_id: pick_asked_prices(product, price_points(row)) for row in rows if row.sold
    }
    return {
        variant_id: [point for point in points if point.starts_at <= now]
        for variant_id, points in asked.items()
    }


def pick_asked_prices(product: Product, points: Sequence[PricePoint]) -> list[PricePoint]:
    """Return those prices of a variant that is sold that shoppers are asked.

    A draft asks nothing, and what is to come or has gone asks nothing before it is there, or afterwards.
    """
    if product.status != "active":
        return []
    until = product.active_until
    dated = begin_with(product.active_from, points)
    return [each for each in dated if until is None or each.starts_at < until]
