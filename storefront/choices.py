"""Which variant of a product is looked at, and what else there is to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from moneyed import Money

from catalogue.entities import Product, Variant
from inventory.entities import Stock


@dataclass(frozen=True)
class ChosenVariant:
    """The variant that the page shows, and how many there are."""

    variant: Variant
    stock: Stock

    @property
    def sku(self) -> str:
        return self.variant.sku

    @property
    def label(self) -> str:
        return self.variant.label

    @property
    def picture(self) -> str:
        return self.variant.picture

    @property
    def price(self) -> Money:
        return self.variant.price

    @property
    def compare_at(self) -> Money | None:
        return self.variant.compare_at

    @property
    def availability(self) -> str:
        return self.stock.availability


@dataclass(frozen=True)
class Choice:
    """One value of an option: a click on it shows `variant_sku`."""

    name: str
    value: str
    variant_sku: str
    picture: str
    is_checked: bool
    is_available: bool


@dataclass(frozen=True)
class PictureChoice:
    """One picture of the product, and the variant that looks like it."""

    picture: str
    name: str
    url: str
    is_checked: bool


def choose_variant(
    product: Product, stock: Mapping[UUID, Stock], sku: str
) -> tuple[ChosenVariant, bool]:
    """Return the variant that the SKU names, and True; else the first that is in stock, or the first of all, and False.

    The product must have a variant that is sold.
    """
    sold = [variant for variant in product.variants if variant.sold]
    by_sku = next((variant for variant in sold if variant.sku == sku), None)
    best = by_sku or next((each for each in sold if _is_in_stock(each, stock)), sold[0])
    return ChosenVariant(best, stock.get(best.variant_id, Stock())), by_sku is not None


def list_option_choices(
    product: Product, current: Variant, stock: Mapping[UUID, Stock]
) -> list[list[Choice]]:
    """Return for each option its values in order; each leads to the variant that differs least from the one shown."""
    sold = [variant for variant in product.variants if variant.sold]
    if len(sold) < 2:
        return []
    return [_option_choices(name, sold, current, stock) for name in product.option_names]


def _option_choices(
    name: str, sold: Sequence[Variant], current: Variant, stock: Mapping[UUID, Stock]
) -> list[Choice]:
    made = []
    values = dict.fromkeys(variant.options[name] for variant in sold)
    looks = {variant.options[name]: variant.picture for variant in reversed(sold)}
    shows_looks = len(set(looks.values())) > 1 and len(
        {(v.options[name], v.picture) for v in sold}
    ) == len(values)
    for value in values:
        target = _nearest_variant(
            [variant for variant in sold if variant.options[name] == value], current, stock
        )
        made.append(
            Choice(
                name=name,
                value=value,
                variant_sku=target.sku,
                picture=looks[value] if shows_looks else "",
                is_checked=value == current.options[name],
                is_available=_is_in_stock(target, stock),
            )
        )
    return made


def _nearest_variant(
    candidates: Sequence[Variant], current: Variant, stock: Mapping[UUID, Stock]
) -> Variant:
    """The one that keeps most of what is chosen; among equals, one that is in stock."""

    def nearness(variant: Variant) -> tuple[int, bool]:
        same = sum(current.options[name] == value for name, value in variant.options.items())
        return same, _is_in_stock(variant, stock)

    return max(candidates, key=nearness)


def _is_in_stock(variant: Variant, stock: Mapping[UUID, Stock]) -> bool:
    return variant.variant_id in stock and stock[variant.variant_id].available > 0


def list_picture_choices(
    product: Product, current: Variant, preview: str = ""
) -> list[PictureChoice]:
    """Return each different picture once, with the variant to show for it: the one chosen, if it looks like that."""
    first: dict[str, Variant] = {}
    for variant in product.variants:
        if variant.sold:
            first.setdefault(variant.picture, variant)
    first[current.picture] = current
    return [
        PictureChoice(
            picture,
            variant.label or product.name,
            variant_url(product, variant, preview),
            variant is current,
        )
        for picture, variant in first.items()
    ]


def variant_url(product: Product, variant: Variant, preview: str = "") -> str:
    """Return the address of the product's page with this variant chosen; `preview` is the token of a preview's link."""
    parameters = {"variant": variant.sku} | ({"preview": preview} if preview else {})
    return f"{reverse('product', args=(product.slug,))}?{urlencode(parameters)}"
