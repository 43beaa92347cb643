"""Products for carts, without the catalogue's tables: a cart's operations are handed what they write."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

from cart.operations.contents import CartChange, change_contents
from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units


def make_mug(price: int = 1200, sizes: tuple[str, ...] = ("250 ml", "350 ml")) -> Product:
    """Return a mug in several sizes, at a price in cents."""
    variants = tuple(
        Variant(
            variant_id=uuid4(),
            sku=f"MUG-{uuid4().hex[:8].upper()}",
            options={"Colour": "Oat", "Size": size},
            price=from_minor_units(price, "EUR"),
            compare_at=None,
            picture="mug/4f6d7a-e8d9c5",
            weight_grams=400,
            position=place,
        )
        for place, size in enumerate(sizes)
    )
    return Product(
        product_id=uuid4(),
        slug=f"mug-{uuid4().hex[:8]}",
        name="Mug",
        brand="Kiln",
        description="A mug.",
        details={},
        category_id=uuid4(),
        option_names=("Colour", "Size"),
        tax_class="standard",
        variants=variants,
    )


def with_price(variant: Variant, price: int) -> Variant:
    """Return the variant at another price, in cents."""
    return replace(variant, price=from_minor_units(price, "EUR"))


def add_all(cart_id: UUID, variants: Iterable[tuple[Product, Variant]]) -> None:
    """Put one of each into an existing cart, in one write."""
    now = datetime.now(UTC)

    def put(change: CartChange) -> str:
        for product, variant in variants:
            row: Any = SimpleNamespace(
                key=str(variant.variant_id),
                **product.variant_columns(variant),
                price=to_minor_units(variant.price),
                added_at=now,
            )
            change.put(row, 1)
        return "{}"

    change_contents(cart_id, uuid4(), now, put)
