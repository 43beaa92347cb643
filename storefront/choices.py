"""Which variant of a product is looked at, and what else there is to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from moneyed import Money

from catalogue.entities import Product, Variant
from inventory.entities import Stock
from pricing.quotes import option_label


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

    @property
    def label(self) -> str:
        return option_label(self.value)


@dataclass(frozen=True)
class PictureChoice:
    """One picture of the product; its address shows it, and the variant that looks like it."""

    picture: str
    alt: str
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
    return [_option_choices(name, product, sold, current, stock) for name in product.option_names]


def _option_choices(
    name: str,
    product: Product,
    sold: Sequence[Variant],
    current: Variant,
    stock: Mapping[UUID, Stock],
) -> list[Choice]:
    made = []
    values = dict.fromkeys(variant.options[name] for variant in sold)
    looks = {each.options[name]: product.picture_of(each) for each in reversed(sold)}
    shows_looks = len(set(looks.values())) > 1 and len(
        {(each.options[name], product.picture_of(each)) for each in sold}
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


def choose_picture(product: Product, current: Variant, wanted: str) -> str:
    """Return the picture to show: the one with the number that is wanted, the first is 1; else the variant's own."""
    numbers = {str(number): each for each, number in _number_pictures(product, current).items()}
    return numbers.get(wanted) or product.picture_of(current)


def list_picture_choices(
    product: Product, current: Variant, shown: str, preview: str = ""
) -> list[PictureChoice]:
    """Return each of the product's pictures once, and then those that its variants have besides; the one `shown` is checked.

    A picture leads to the variant that looks like it, the one chosen if it does.
    """
    looks = {each.picture: each for each in reversed(_list_sold(product, current))}
    # What stands for the one chosen never leads to another.
    looks[product.picture_of(current)] = current
    return [
        PictureChoice(
            picture,
            product.describe_picture(picture) or looks[picture].label or product.name,
            variant_url(
                product,
                looks.get(picture, current),
                picture="" if picture in looks else str(number),
                preview=preview,
            ),
            picture == shown,
        )
        for picture, number in _number_pictures(product, current).items()
    ]


def _number_pictures(product: Product, current: Variant) -> dict[str, int]:
    others = _list_sold(product, current)[1:]
    pictures = [*(each.picture for each in product.pictures), *(each.picture for each in others)]
    return {
        picture: number
        for number, picture in enumerate(dict.fromkeys(filter(None, pictures)), start=1)
    }


def _list_sold(product: Product, current: Variant) -> list[Variant]:
    return [current, *(each for each in product.variants if each.sold)]


def variant_url(product: Product, variant: Variant, **parameters: str) -> str:
    """Return the address of the product's page with this variant chosen, and what else is named."""
    given = {name: value for name, value in parameters.items() if value}
    return (
        f"{reverse('product', args=(product.slug,))}?{urlencode({'variant': variant.sku} | given)}"
    )
