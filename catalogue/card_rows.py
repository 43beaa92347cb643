"""Convert cards to rows of Cassandra and back; a list of related products is one row."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from catalogue.entities import ProductCard
from pricing.money import from_minor_units, to_minor_units


@dataclass(frozen=True, slots=True)
class RelatedCard:
    """A card on another product's list of related products, and whether staff pinned it there."""

    card: ProductCard
    pinned: bool


def card_columns(card: ProductCard) -> dict[str, Any]:
    """Return the columns that are in every table of cards."""
    return {
        "name": card.name,
        "slug": card.slug,
        "brand": card.brand,
        "picture": card.picture,
        "swatches": list(card.swatches),
        "variant_count": card.variant_count,
        "price": to_minor_units(card.price),
        "price_varies": card.price_varies,
        "compare_at": to_minor_units(card.compare_at) if card.compare_at else None,
        "currency": card.price.currency.code,
        "rating": card.rating,
        "rating_count": card.rating_count,
        "popularity": card.popularity,
        "bestseller": card.bestseller,
        "availability": card.availability,
        "unit_price": to_minor_units(card.unit_price) if card.unit_price else None,
        "unit": card.unit,
        "created_at": card.created_at,
    }


def card_from_row(row: Any) -> ProductCard:
    """Return the card that a row of any table of cards stores."""
    return ProductCard(
        product_id=row.product_id,
        name=row.name,
        slug=row.slug,
        brand=row.brand or "",
        picture=row.picture,
        swatches=tuple(row.swatches or ()),
        variant_count=row.variant_count,
        price=from_minor_units(row.price, row.currency),
        price_varies=bool(row.price_varies),
        compare_at=None
        if row.compare_at is None
        else from_minor_units(row.compare_at, row.currency),
        rating=round(row.rating, 1) if row.rating is not None else None,
        rating_count=row.rating_count or 0,
        popularity=row.popularity or 0,
        bestseller=bool(row.bestseller),
        availability=row.availability or "out",
        created_at=row.created_at,
        unit_price=None
        if row.unit_price is None
        else from_minor_units(row.unit_price, row.currency),
        unit=row.unit or "",
    )


# What a packed card leaves out, because a card mostly has these values.
_LEFT_OUT: dict[str, Any] = {
    "brand": "",
    "swatches": [],
    "price_varies": False,
    "compare_at": None,
    "rating": None,
    "rating_count": 0,
    "popularity": 0,
    "bestseller": False,
    "unit_price": None,
    "unit": "",
}
_NO_VALUE = object()


def pack_related(cards: Iterable[RelatedCard]) -> str:
    """Return a list of related products as the text that `related_cards` stores."""
    return join_packed((pack_card(each.card), each.pinned) for each in cards)


def join_packed(cards: Iterable[tuple[str, bool]]) -> str:
    """Return a list of related products from packed cards, each with whether staff pinned it, as `related_cards` stores it."""
    texts = (text[:-1] + _PINNED if is_pinned else text for text, is_pinned in cards)
    return f"[{','.join(texts)}]"


_PINNED = ',"pinned":true}'


def pack_card(card: ProductCard) -> str:
    """Return a card as text for `join_packed`."""
    columns = card_columns(card)
    packed = {
        name: value for name, value in columns.items() if value != _LEFT_OUT.get(name, _NO_VALUE)
    }
    packed |= {"product_id": card.product_id.hex, "created_at": card.created_at.isoformat()}
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":"))


def parse_related(text: str) -> list[RelatedCard]:
    """Return the list of related products that a text of `related_cards` stores."""
    return [
        RelatedCard(
            card_from_row(
                SimpleNamespace(
                    **{
                        **_LEFT_OUT,
                        **packed,
                        "product_id": UUID(packed["product_id"]),
                        "created_at": datetime.fromisoformat(packed["created_at"]),
                    }
                )
            ),
            packed.get("pinned", False),
        )
        for packed in json.loads(text)
    ]
