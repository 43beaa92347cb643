"""Which variant of a product is looked at, and what else there is to choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from moneyed import Money

from catalogue.entities import Product, Variant
from catalogue.pictures import list_drawn_views
from inventory.entities import Stock
from pricing.delivery_words import format_weight
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

    @property
    def is_sent_at_once(self) -> bool:
        """Whether it lies in a warehouse: only then a day can be named on which it arrives."""
        return self.availability in ("in", "few")

    @property
    def weight(self) -> str:
        """What one weighs with its packaging, in words; '' where that is not known."""
        grams = self.variant.weight_grams
        return format_weight(grams) if grams else ""


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
    leads_to_another: bool  # variant


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
        return _count_same(variant, current), _is_in_stock(variant, stock)

    return max(candidates, key=nearness)


def _count_same(variant: Variant, current: Variant) -> int:
    return sum(current.options[name] == value for name, value in variant.options.items())


def _is_in_stock(variant: Variant, stock: Mapping[UUID, Stock]) -> bool:
    return variant.variant_id in stock and stock[variant.variant_id].available > 0


def choose_picture(product: Product, current: Variant, wanted: str) -> str:
    """Return the picture to show: the one with the number that is wanted, the first is 1; else the variant's own."""
    numbers = {str(number): each for each, number in _number_pictures(product, current).items()}
    return numbers.get(wanted) or product.picture_of(current)


def list_picture_choices(
    product: Product, current: Variant, chosen_picture: str, preview: str = ""
) -> list[PictureChoice]:
    """Return each of the product's pictures once, and then those that its variants have besides.

    `chosen_picture` is checked. A picture leads to the variant that looks like it and differs least from the current one.
    The current variant's drawing has further views, which stand beside it.
    """
    sold = [each for each in reversed(product.variants) if each.sold]
    looks = {
        each.picture: each for each in sorted(sold, key=lambda each: _count_same(each, current))
    }
    # What stands for the one chosen never leads to another.
    looks[product.picture_of(current)] = current
    return [
        PictureChoice(
            picture,
            describe_look(product, variant, picture),
            variant_url(
                product, variant, picture="" if picture in looks else str(number), preview=preview
            ),
            picture == chosen_picture,
            variant is not current,
        )
        for picture, number in _number_pictures(product, current).items()
        for variant in [looks.get(picture, current)]
    ]


def list_slides(pictures: Sequence[PictureChoice]) -> list[tuple[PictureChoice, int, int, int]]:
    """Return the pictures as the full-screen view shows them one after another, from the checked one on and around.

    Each comes with its number among them, and the numbers of the one before and the one behind it.
    """
    count = len(pictures)
    first = next((number for number, each in enumerate(pictures) if each.is_checked), 0)
    return [
        (pictures[number], number + 1, (number - 1) % count + 1, (number + 1) % count + 1)
        for number in (*range(first, count), *range(first))
    ]


def _number_pictures(product: Product, current: Variant) -> dict[str, int]:
    own = product.picture_of(current)
    looks = [
        *(each.picture for each in product.pictures),
        *(each.picture for each in product.variants if each.sold and each.picture),
    ]
    views = (
        each for look in looks for each in (list_drawn_views(look) if look == own else (look,))
    )
    return {picture: number for number, picture in enumerate(dict.fromkeys(views), start=1)}


def describe_look(product: Product, variant: Variant, picture: str) -> str:
    """Return in words what a picture shows: the staff's, if they have written any, else the product, the variant and the view."""
    name = f"{product.name}, {variant.label}" if variant.label else product.name
    if words := product.describe_picture(picture):
        return words
    views = list_drawn_views(product.picture_of(variant))
    if picture in views[1:]:
        return [_("%(name)s, close up"), _("%(name)s, with other things")][
            views.index(picture) - 1
        ] % {"name": name}
    return name


def variant_url(product: Product, variant: Variant, **parameters: str) -> str:
    """Return the address of the product's page with this variant chosen, and what else is named."""
    given = {name: value for name, value in parameters.items() if value}
    return (
        f"{reverse('product', args=(product.slug,))}?{urlencode({'variant': variant.sku} | given)}"
    )
