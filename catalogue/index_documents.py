"""What the search index stores of a product: its schema, and the conversion of products to documents and of documents to cards."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

import tantivy

from cassandra_db import current_time
from catalogue import filters, queries
from catalogue.card_rows import card_columns
from catalogue.colours import FAMILY_LABELS
from catalogue.descriptions import plain_description
from catalogue.entities import Product, ProductCard
from catalogue.filter_settings import COLOUR_TERM, find_colour_state, make_option_token
from catalogue.filter_tokens import (
    IN_STOCK,
    ON_SALE,
    has_several_prices,
    list_combinations,
    list_product_values,
    own_token,
    short_details,
)
from catalogue.operations import rating_rank
from catalogue.queries import product_card
from catalogue.rules import normalize_sku
from catalogue.unit_prices import compute_unit_price
from catalogue.words import fold_text, search_terms, split_words
from pricing.money import from_minor_units, to_minor_units

# Add 1 whenever `make_schema` or `make_document` changes: older indexes are then rebuilt.
SCHEMA_VERSION = 10
BOOSTS = {"name": 6.0, "kind": 3.0, "brand": 3.0, "sku": 4.0, "options": 2.0, "text": 1.0}
# Fields for exact values; blanks separate several values.
_EXACT_FIELDS = (
    *("status", "category", "brand_exact", "sku_exact", "availability", "marks"),
    *("name_begins", "begins"),
)
# Fields for several values that are not split: catalogue.filter_tokens.
_WHOLE_VALUES = ("combination", "detail", "value", "colour_state")
_ALWAYS = 1 << 62
# The letters of the longest beginning of a word that is a term of its own.
MAX_BEGINNING = 12
# What lists are sorted by. Each has a part of the product's id as its last bits, so that no two products change places while a
# shopper goes from page to page, whenever they are indexed again.
_ORDERS = ("by_price", "by_created", "by_discount", "by_rating", "by_popularity")
_ID_BITS = 14


def make_schema() -> Any:
    """Return the schema of an index."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("card", stored=True, indexed=False)
    for name in BOOSTS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in _EXACT_FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
    for name in _WHOLE_VALUES:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("looks", stored=True, indexed=False)
    for name in (*_ORDERS, "price", "created", "changed", "stars", "sale_from", "sale_until"):
        builder.add_integer_field(name, fast=True)
    builder.add_text_field("by_name", fast=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def to_milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def sku_token(sku: str) -> str:
    # A SKU is one word of the index: "~", which no SKU contains, stands for each blank.
    return normalize_sku(sku).replace(" ", "~")


def brand_token(brand: str) -> str:
    return "-".join(split_words(brand))


def make_document(product: Product) -> Any:
    """Return the product's document in the index. Raises CassandraUnavailable."""
    tree = queries.get_category_tree_with(*product.all_category_ids)
    node = tree.by_id.get(product.category_id)
    path = node.path if node else []
    texts = [plain_description(product.description), *product.details.values(), *product.tags]
    sold = [variant for variant in product.variants if variant.sold]
    options = {pair for variant in sold for pair in variant.options.items()}
    # The same few options come with each variant, and a token of a colour takes a while.
    make_token = cache(make_option_token)
    details = {make_token(*pair) for pair in short_details(product)}
    tokens = {make_token(*pair) for pair in options} | details
    families = {each.removeprefix(COLOUR_TERM) for each in tokens if each.startswith(COLOUR_TERM)}
    option_words = [*(value for _, value in options), *families & FAMILY_LABELS.keys()]
    skus = {variant.sku for variant in sold}
    card = product_card(product) if sold else None
    price = min(to_minor_units(variant.price) for variant in sold or product.variants)
    created = to_milliseconds(product.created_at or current_time())
    ranks = (0, 0, 0)
    if card:
        # Among equally popular products, the newer ones come first. The time has 42 bits.
        popularity = (card.popularity << 42) + created
        ranks = (round(10_000 * card.discount), rating_rank(card), popularity)
    orders, tie = (price, created, *ranks), product.product_id.int & ((1 << _ID_BITS) - 1)
    return tantivy.Document(
        id=product.product_id.hex,
        name=_join_terms(product.name),
        kind=_join_terms(" ".join(each.name for each in path)),
        brand=_join_terms(product.brand),
        sku=" ".join(
            {part for sku in skus for part in (*split_words(sku), "".join(split_words(sku)))}
        ),
        options=" ".join({term for value in option_words for term in search_terms(value)}),
        text=_join_terms(" ".join(texts)),
        combination=sorted(list_combinations(product, make_token)),
        detail=sorted(details),
        value=[*list_product_values(product), *_list_own_values(product, families)],
        colour_state=find_colour_state(),
        status=product.status,
        category=" ".join(sorted(each.hex for each in product.all_category_ids)),
        brand_exact=brand_token(product.brand),
        name_begins=_join_beginnings(product.name),
        begins=_join_beginnings(" ".join((product.brand, *option_words))),
        sku_exact=" ".join(sku_token(variant.sku) for variant in product.variants),
        availability=product.availability,
        marks=_join_marks(product, card),
        price=price,
        created=created,
        changed=to_milliseconds(product.updated_at or current_time()),
        by_name=f"{fold_text(product.name)} {product.product_id.hex}",
        sale_from=to_milliseconds(product.active_from) if product.active_from else -_ALWAYS,
        sale_until=to_milliseconds(product.active_until) if product.active_until else _ALWAYS,
        stars=int(product.rating or 0),
        **{name: (value << _ID_BITS) + tie for name, value in zip(_ORDERS, orders, strict=True)},
        **({"card": _packed(card), "looks": _packed_looks(product, make_token)} if card else {}),
    )


def _join_marks(product: Product, card: ProductCard | None) -> str:
    sold = [variant for variant in product.variants if variant.sold]
    is_sellable = product.status == "active" and bool(sold)
    is_scheduled = bool(product.active_from or product.active_until)
    marks = {
        "deal": card is not None and card.compare_at is not None,
        "sellable": is_sellable and not is_scheduled,
        "scheduled": is_sellable and is_scheduled,
        "bare": not all(product.picture_of(variant) for variant in sold),
        "without-alt": not all(each.alt for each in product.pictures),
        "reduced": any(variant.compare_at for variant in sold),
        "bestseller": product.bestseller,
        "several-prices": has_several_prices(product),
    }
    return " ".join(mark for mark, holds in marks.items() if holds)


def _list_own_values(product: Product, families: set[str]) -> list[str]:
    """Return the terms of the filters that every list has, except those that depend on the present time."""
    sold = [each for each in product.variants if each.sold]
    marks = {
        filters.BESTSELLER: product.bestseller,
        filters.STOCK: any(each.variant_id in product.in_stock_ids for each in sold),
        filters.SALE: any(each.compare_at for each in sold),
    }
    return [
        *(own_token(filters.COLOUR, each) for each in sorted(families)),
        *(own_token(mark, filters.YES) for mark, holds in marks.items() if holds),
        own_token(filters.BRAND, product.brand),
        own_token(filters.RATING, str(int(product.rating or 0))),
        # All in one term: a product counts once in a category above several of them.
        own_token(
            filters.CATEGORY, " ".join(sorted(each.hex for each in product.all_category_ids))
        ),
    ]


def _join_terms(text: str) -> str:
    return " ".join(search_terms(text))


def _join_beginnings(text: str) -> str:
    lengths = range(1, MAX_BEGINNING + 1)
    return " ".join({word[:length] for word in split_words(text) for length in lengths})


def list_vocabulary(product: Product) -> Iterator[str]:
    """Yield the words that a search may spell a typed word like."""
    for text in (product.name, product.brand, *product.option_names):
        yield from (word for word in split_words(text) if len(word) > 2)


def _packed(card: ProductCard) -> bytes:
    values = card_columns(card) | {
        "product_id": card.product_id.hex,
        "created_at": card.created_at.isoformat(),
    }
    return json.dumps(values, ensure_ascii=False).encode()


def _packed_looks(product: Product, make_token: Callable[[str, str], str]) -> bytes:
    """Return what a card shows of each sold variant, if the product has several. `make_token` takes an option's name and value."""
    sold = sorted((each for each in product.variants if each.sold), key=lambda each: each.price)
    looks = [
        {
            "sku": each.sku,
            "tokens": [make_token(*pair) for pair in each.options.items()]
            + ([IN_STOCK] if each.variant_id in product.in_stock_ids else [])
            + ([ON_SALE] if each.compare_at else []),
            "picture": product.picture_of(each),
            "price": to_minor_units(each.price),
            "compare_at": to_minor_units(each.compare_at) if each.compare_at else None,
            "unit_price": to_minor_units(per_unit)
            if (per_unit := compute_unit_price(product, each))
            else None,
        }
        for each in sold
    ]
    return json.dumps(looks if len(looks) > 1 else [], ensure_ascii=False).encode()


def unpack_card(packed: bytes) -> ProductCard:
    values = json.loads(bytes(packed))
    currency = values.pop("currency")
    was = values.pop("compare_at")
    per_unit = values.pop("unit_price", None)
    return ProductCard(
        **values
        | {
            "product_id": UUID(hex=values["product_id"]),
            "price": from_minor_units(values["price"], currency),
            "compare_at": from_minor_units(was, currency) if was is not None else None,
            "unit_price": from_minor_units(per_unit, currency) if per_unit is not None else None,
            "swatches": tuple(values["swatches"]),
            "created_at": datetime.fromisoformat(values["created_at"]),
        }
    )
