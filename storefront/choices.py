"""The choices on a product's page: variants, option values and pictures."""

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
    """The variant that the page shows, and its stock."""

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
        """Whether the variant is in a warehouse, so that the page can name the day of its arrival."""
        return self.availability in ("in", "few")

    @property
    def weight(self) -> str:
        """The weight of one unit with its packaging, in words; '' if unknown."""
        grams = self.variant.weight_grams
        return format_weight(grams) if grams else ""


@dataclass(frozen=True)
class Choice:
    """A value of an option; choosing it shows `variant_sku`."""

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
    """A picture of the product. Its address shows the picture, and the variant to which the picture belongs."""

    picture: str
    alt: str
    url: str
    is_checked: bool
    leads_to_another: bool  # whether it leads to another variant


def choose_variant(
    product: Product, stock: Mapping[UUID, Stock], sku: str
) -> tuple[ChosenVariant, bool]:
    """Return the variant with this SKU and True; without one the first variant in stock (or the first of all) and False.

    The product must have a variant that is sold.
    """
    sold = [variant for variant in product.variants if variant.sold]
    by_sku = next((variant for variant in sold if variant.sku == sku), None)
    best = by_sku or next((each for each in sold if _is_in_stock(each, stock)), sold[0])
    return ChosenVariant(best, stock.get(best.variant_id, Stock())), by_sku is not None


def list_option_choices(
    product: Product, current: Variant, stock: Mapping[UUID, Stock]
) -> list[list[Choice]]:
    """Return the values of each option in order; each value leads to the variant that differs least from the current one."""
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
    """Return the candidate that keeps most of the current choices; among equal candidates one that is in stock."""
    return max(candidates, key=lambda each: (_count_same(each, current), _is_in_stock(each, stock)))


def _count_same(variant: Variant, current: Variant) -> int:
    return sum(current.options[name] == value for name, value in variant.options.items())


def _is_in_stock(variant: Variant, stock: Mapping[UUID, Stock]) -> bool:
    return variant.variant_id in stock and stock[variant.variant_id].available > 0


def choose_picture(product: Product, current: Variant, wanted: str) -> str:
    """Return the picture with the wanted number (from 1). If there is none, return the variant's own picture."""
    numbers = {str(number): each for each, number in _number_pictures(product, current).items()}
    return numbers.get(wanted) or product.picture_of(current)


def list_picture_choices(
    product: Product, current: Variant, chosen_picture: str, preview: str = ""
) -> list[PictureChoice]:
    """Return all pictures of the product, then further pictures of its variants, each only once. `chosen_picture` is marked.

    A picture leads to the variant that shows it and differs least from the current variant. After the current variant's drawing
    come the drawing's further views.
    """
    sold = [each for each in reversed(product.variants) if each.sold]
    looks = {
        each.picture: each for each in sorted(sold, key=lambda each: _count_same(each, current))
    }
    # The picture of the current variant never leads to another one.
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
    """Return the pictures for the full-screen view: from the marked picture to the last, then from the first on.

    Each picture comes with its number, and the numbers of the previous and the next picture.
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
    """Return the text of a picture: the staff's alt text; without one, the names of the product, the variant and the view."""
    name = f"{product.name}, {variant.label}" if variant.label else product.name
    if words := product.describe_picture(picture):
        return words
    views = list_drawn_views(product.picture_of(variant))
    if picture in views[1:]:
        texts = [_("%(name)s, close up"), _("%(name)s, with other things")]
        return texts[views.index(picture) - 1] % {"name": name}
    return name


def variant_url(product: Product, variant: Variant, **parameters: str) -> str:
    """Return the address of the product's page that shows this variant, with further query parameters."""
    given = {name: value for name, value in parameters.items() if value}
    query = urlencode({"variant": variant.sku} | given)
    return f"{reverse('product', args=(product.slug,))}?{query}"
