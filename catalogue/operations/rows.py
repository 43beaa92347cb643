"""A product and its variants as the columns of their rows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from cassandra_db import (
    Row,
)
from catalogue.entities import Product, ProductPicture, Variant
from catalogue.prices import PricePoint
from pricing.money import to_minor_units


def product_columns(product: Product) -> dict[str, Any]:
    """Return the static columns of a product's partition, without its availability."""
    return {
        "product_id": product.product_id,
        "version": product.version,
        "name": product.name,
        "slug": product.slug,
        "brand": product.brand,
        "description": product.description,
        "details": json.dumps(product.details, ensure_ascii=False),
        "category_id": product.category_id,
        "category_ids": product.category_ids,
        "option_names": list(product.option_names),
        "tax_class": product.tax_class,
        "currency": product.variants[0].price.currency.code,
        "status": product.status,
        "active_from": product.active_from,
        "active_until": product.active_until,
        "tags": product.tags,
        "maker": product.maker,
        "safety": product.safety,
        "length_mm": product.length_mm,
        "width_mm": product.width_mm,
        "height_mm": product.height_mm,
        "search_title": product.search_title,
        "search_description": product.search_description,
        "related_ids": list(product.related_ids),
        "pictures": _pack_pictures(product.pictures),
        "successor_id": product.successor_id,
        "featured": product.featured,
        "created_at": product.created_at,
        "updated_at": product.updated_at,
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
        "sold": variant.sold,
    }


def _pack_pictures(pictures: Sequence[ProductPicture]) -> str | None:
    packed = [(each.picture, each.alt) for each in pictures]
    return json.dumps(packed, ensure_ascii=False) if packed else None


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
    # What is empty is read as null.
    return row is not None and all(
        (getattr(row, name) or None) == (value or None) for name, value in columns.items()
    )
