"""The change that a bulk change makes to each product, and the undo of this change. This module uses no database."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from moneyed import Money

from catalogue.entities import Product, Variant
from pricing.money import from_minor_units, to_minor_units

KINDS = ("percent", "amount", "main_category", "category", "status", "featured", "undo")
_CENT = Decimal("0.01")
_PLAIN_FIELDS = ("status", "featured")


@dataclass(frozen=True, slots=True)
class BulkAct:
    """A change that is made to each selected product. `kind` is one of KINDS, and decides which fields are used."""

    kind: str
    by: str = "0"  # a decimal number: per cent, or an amount of the currency; a negative number lowers the price
    ending: str = ""  # the cents of the new price, "90" or "99"; "" rounds the price to a cent
    cross_out: bool = False
    category_id: str = ""
    status: str = ""
    featured: bool = False

    @property
    def is_about_prices(self) -> bool:
        return self.kind in ("percent", "amount")

    def pack(self) -> str:
        """Return the bulk act as JSON text, which `unpack_act` reads."""
        return json.dumps(asdict(self))

    def apply_to(self, product: Product) -> Product:
        """Return the changed product. If a price changes, its crossed-out price is removed."""
        if self.is_about_prices:
            variants = (self._reprice(each) if each.sold else each for each in product.variants)
            return replace(product, variants=tuple(variants))
        if self.kind == "main_category":
            chosen = UUID(self.category_id)
            others = product.category_ids - {chosen}
            return replace(product, category_id=chosen, category_ids=others)
        if self.kind == "category":
            added = {UUID(self.category_id)} - {product.category_id}
            return replace(product, category_ids=product.category_ids | added)
        if self.kind == "status":
            return replace(product, status=self.status)
        return replace(product, featured=self.featured)

    def _reprice(self, variant: Variant) -> Variant:
        price = Money(self.compute_price(variant.price.amount), variant.price.currency)
        if price == variant.price:
            return variant
        return replace(variant, price=price, compare_at=None)

    def compute_price(self, price: Decimal) -> Decimal:
        """Return the new price. With an `ending`, a price that falls is rounded down, and a price that rises is rounded up."""
        by = Decimal(self.by)
        exact = price * (1 + by / 100) if self.kind == "percent" else price + by
        if not self.ending:
            return exact.quantize(_CENT, ROUND_HALF_UP)
        ending = Decimal(self.ending) / 100
        whole = (exact - ending).to_integral_value(ROUND_FLOOR if by < 0 else ROUND_CEILING)
        return whole + ending


def unpack_act(text: str) -> BulkAct:
    """Return the act that `BulkAct.pack` wrote."""
    return BulkAct(**json.loads(text))


def describe_former(before: Product, after: Product) -> str:
    """Return the values that a change replaces, as JSON text. `restore_former` reads it."""
    former: dict[str, Any] = {
        name: getattr(before, name)
        for name in _PLAIN_FIELDS
        if getattr(before, name) != getattr(after, name)
    }
    if before.all_category_ids != after.all_category_ids:
        former["categories"] = [str(each) for each in before.all_category_ids]
    prices = {
        str(was.variant_id): _pack_price(was)
        for was, new in zip(before.variants, after.variants, strict=True)
        if (was.price, was.compare_at) != (new.price, new.compare_at)
    }
    return json.dumps(former | ({"prices": prices} if prices else {}))


def _pack_price(variant: Variant) -> tuple[int, int | None]:
    compare_at = to_minor_units(variant.compare_at) if variant.compare_at else None
    return to_minor_units(variant.price), compare_at


def restore_former(product: Product, text: str) -> Product:
    """Return the product with the values that `describe_former` has stored in `text`."""
    former = json.loads(text)
    values = {name: former[name] for name in _PLAIN_FIELDS if name in former}
    if "categories" in former:
        main, *others = (UUID(each) for each in former["categories"])
        values |= {"category_id": main, "category_ids": frozenset(others)}
    prices = former.get("prices", {})
    variants = (_restore_price(each, prices) for each in product.variants)
    return replace(product, **values, variants=tuple(variants))


def _restore_price(variant: Variant, prices: Mapping[str, tuple[int, int | None]]) -> Variant:
    if str(variant.variant_id) not in prices:
        return variant
    price, compare_at = prices[str(variant.variant_id)]
    code = variant.price.currency.code
    was = from_minor_units(compare_at, code) if compare_at is not None else None
    return replace(variant, price=from_minor_units(price, code), compare_at=was)
