"""The variants of a product: generated from its options, and compared with the variants that an editor has read. No database."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from itertools import product as combinations
from math import prod
from uuid import UUID, uuid5

from django.utils.translation import gettext as _

from catalogue.entities import Product, ProductPicture, Variant
from catalogue.errors import ProductRefused
from catalogue.prices import PricePoint, follow_base_prices
from catalogue.rules import MAX_VARIANTS
from catalogue.words import fold_text
from pricing.money import to_minor_units

# The number of letters in a generated SKU: for each option's value, and for the prefix.
_CODE_LENGTH, _PREFIX_LENGTH = 6, 30


@dataclass(frozen=True)
class GeneratedVariants:
    """The variants that a product gets from its options. `variants` has all variants, in their new order."""

    options: Mapping[str, Sequence[str]]
    variants: tuple[Variant, ...]
    added: tuple[Variant, ...]
    retired: tuple[Variant, ...]  # sold until now, but no longer

    def apply_to(self, product: Product) -> Product:
        """Return the product with these options and variants."""
        return replace(product, option_names=tuple(self.options), variants=self.variants)


def list_options(product: Product) -> dict[str, tuple[str, ...]]:
    """Return the options of a product, each with the values of its sold variants."""
    sold = [each for each in product.variants if each.sold]
    return {
        name: tuple(dict.fromkeys(each.options[name] for each in sold if each.options.get(name)))
        for name in product.option_names
    }


def list_used_options(product: Product) -> dict[str, tuple[str, ...]]:
    """Return the options of a product that its sold variants have, each with the values of these variants."""
    return {name: values for name, values in list_options(product).items() if values}


def generate_variants(product: Product, options: Mapping[str, Sequence[str]]) -> GeneratedVariants:
    """Return one variant for each combination of these options' values.

    An existing variant keeps its combination, and is sold again. A variant also continues if an option was renamed, or if an
    option with one value was added or removed. Variants without a combination are no longer sold. A new variant copies the
    existing variant with which it shares most values. Its id depends only on product and combination. Raises ProductRefused.
    """
    if prod(len(values) for values in options.values()) > MAX_VARIANTS:
        raise ProductRefused(
            _("These options make more than %(most)d variants.") % {"most": MAX_VARIANTS}, "options"
        )
    wanted = [dict(zip(options, values, strict=True)) for values in combinations(*options.values())]
    existing = _match_variants(product, options, wanted)
    skus = {each.sku for each in product.variants}
    sold, added = [], []
    for place, chosen in enumerate(wanted):
        if place in existing:
            sold.append(replace(existing[place], sold=True, options=chosen))
            continue
        variant = _new_variant(product, chosen, skus)
        skus.add(variant.sku)
        sold.append(variant)
        added.append(variant)
    kept = {each.variant_id for each in sold}
    rest = [each for each in product.variants if each.variant_id not in kept]
    return GeneratedVariants(
        options,
        (*sold, *(replace(each, sold=False) for each in rest)),
        tuple(added),
        tuple(each for each in rest if each.sold),
    )


def _match_variants(
    product: Product, options: Mapping[str, Sequence[str]], wanted: Sequence[Mapping[str, str]]
) -> dict[int, Variant]:
    """Return the existing variant of each combination, keyed by the combination's position. Options may have been changed."""
    by_options = {_options_key(each.options): each for each in product.variants if not each.sold}
    by_options |= {_options_key(each.options): each for each in product.variants if each.sold}
    found = {
        place: by_options[key]
        for place, chosen in enumerate(wanted)
        if (key := _options_key(chosen)) in by_options
    }
    former = list_options(product)
    left = [each for each in product.variants if each.sold and each not in found.values()]
    for place, chosen in enumerate(wanted):
        same = (each for each in left if _is_continued(each.options, chosen, former, options))
        if place not in found and (variant := next(same, None)):
            found[place] = variant
            left.remove(variant)
    return found


def _is_continued(
    was: Mapping[str, str],
    chosen: Mapping[str, str],
    former: Mapping[str, Sequence[str]],
    options: Mapping[str, Sequence[str]],
) -> bool:
    """Return whether a variant becomes this combination because options were renamed, added or removed."""
    if not was:
        return True  # Without options there was one variant, which becomes the first combination.
    if len(was) == len(chosen):
        return list(was.values()) == list(chosen.values())
    only = {name for each in (former, options) for name, values in each.items() if len(values) == 1}
    return was.keys() ^ chosen.keys() <= only and all(
        chosen[name] == was[name] for name in was.keys() & chosen.keys()
    )


def _options_key(options: Mapping[str, str]) -> str:
    return json.dumps(sorted(options.items()), ensure_ascii=False)


def _new_variant(product: Product, chosen: Mapping[str, str], taken: set[str]) -> Variant:
    model = max(
        product.variants, key=lambda each: (len(each.options.items() & chosen.items()), each.sold)
    )
    return Variant(
        variant_id=find_variant_id(product.product_id, chosen),
        sku=make_sku(product, chosen, taken),
        options=dict(chosen),
        price=model.price,
        compare_at=None,  # a variant that was never sold has no former price
        picture=model.picture,
        weight_grams=model.weight_grams,
        content=model.content,
        cost_price=model.cost_price,
    )


def find_variant_id(product_id: UUID, options: Mapping[str, str]) -> UUID:
    """Return the id of a product's new variant with these options. It is the same each time."""
    return uuid5(product_id, _options_key(options))


def make_sku(product: Product, options: Mapping[str, str], taken: Collection[str]) -> str:
    """Return a SKU for a product's variant with these options that is not one of the taken SKUs."""
    return next(sku for sku in _skus(product, options) if sku not in taken)


def _skus(product: Product, chosen: Mapping[str, str]) -> Iterator[str]:
    """Yield possible SKUs, the simplest first. A part of the product's id makes them differ from other products' SKUs."""
    prefix = f"{_code(product.slug, _PREFIX_LENGTH) or 'P'}-{product.product_id.hex[:4].upper()}"
    plain = "-".join([prefix, *(_code(value, _CODE_LENGTH) or "X" for value in chosen.values())])
    yield plain
    yield from (f"{plain}-{number}" for number in count(2))


def _code(text: str, most: int) -> str:
    words = re.findall(r"[A-Z0-9]+", fold_text(text).upper())
    return "-".join(words)[:most].strip("-")


def fingerprint_pictures(pictures: Sequence[ProductPicture]) -> str:
    """Return a short text that changes whenever the pictures of a product or their alt texts change."""
    content = [(each.picture, each.alt) for each in pictures]
    return sha256(json.dumps(content).encode()).hexdigest()[:16]


def follow_base_price(variant: Variant) -> Variant:
    """Return a variant with the price after each planned sale set to the variant's price before the sale."""
    if not variant.planned or variant.price_from is None:
        return variant
    present = PricePoint(variant.price_from, variant.price, variant.compare_at)
    return replace(variant, planned=tuple(follow_base_prices([present, *variant.planned])[1:]))


def fingerprint_variant(variant: Variant) -> str:
    """Return a short text that changes whenever a variant changes, except its place among the product's variants."""
    content = {
        "sku": variant.sku,
        "options": _options_key(variant.options),
        "price": [to_minor_units(variant.price), variant.price.currency.code],
        "compare_at": to_minor_units(variant.compare_at) if variant.compare_at else None,
        "planned": [str(each) for each in variant.planned],
        "picture": variant.picture,
        "weight_grams": variant.weight_grams,
        "barcode": variant.barcode,
        "mpn": variant.mpn,
        "content": str(variant.content),
        "cost_price": to_minor_units(variant.cost_price) if variant.cost_price else None,
        "sold": variant.sold,
    }
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
