"""The demo shop's products: complete, consistent and fit to be sold."""

import re
import uuid
from collections import Counter
from decimal import Decimal

import pytest

from catalogue.pictures import SHAPES, draw_picture, parse_picture
from demo.catalogue_data import (
    CATEGORIES,
    PRODUCTS,
    WAREHOUSES,
    DemoCategory,
    DemoChoice,
    DemoProduct,
    DemoVariant,
    demo_category_id,
    demo_product_id,
    demo_variant_id,
    make_variants,
    usual_stock,
)
from tests.rules import for_each

VARIANTS: list[tuple[DemoProduct, DemoVariant]] = [
    (product, variant) for product in PRODUCTS for variant in product.variants
]
BY_SLUG: dict[str, DemoCategory] = {category.slug: category for category in CATEGORIES}
LEAVES = set(BY_SLUG) - {category.parent for category in CATEGORIES}


def key(product: DemoProduct) -> str:
    return product.key


def slug(category: DemoCategory) -> str:
    return category.slug


def sku(sold: tuple[DemoProduct, DemoVariant]) -> str:
    return sold[1].sku


def test_there_are_about_sixty_products_in_twelve_categories() -> None:
    assert 55 <= len(PRODUCTS) <= 70
    assert len(LEAVES) == 12
    assert {product.category for product in PRODUCTS} == LEAVES


def test_every_category_that_is_sold_from_has_at_least_three_products() -> None:
    assert min(Counter(product.category for product in PRODUCTS).values()) >= 3


def test_the_tree_is_three_levels_deep_and_parents_stand_before_their_children() -> None:
    depth: dict[str | None, int] = {None: 0}
    for category in CATEGORIES:
        depth[category.slug] = depth[category.parent] + 1
    assert {depth[leaf] for leaf in LEAVES} == {3}
    assert [category.slug for category in CATEGORIES if category.parent is None] == [
        "house",
        "kitchen",
        "clothing",
        "desk",
    ]


def test_keys_slugs_names_and_skus_are_unique_and_readable() -> None:
    for many in (
        [category.slug for category in CATEGORIES],
        [product.slug for product in PRODUCTS],
        [product.key for product in PRODUCTS],
        [product.name for product in PRODUCTS],
        [product.description for product in PRODUCTS],
        [variant.sku for _, variant in VARIANTS],
    ):
        assert not [one for one, times in Counter(many).items() if times > 1]
    slugs = [*BY_SLUG, *(product.slug for product in PRODUCTS)]
    assert not [slug for slug in slugs if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)]
    assert not [
        variant.sku
        for _, variant in VARIANTS
        if not re.fullmatch(r"[A-Z]+(-[A-Z0-9]+)*", variant.sku)
    ]


@for_each(CATEGORIES, slug, at_least=22)
def test_a_category_has_a_name_a_description_and_a_picture(category: DemoCategory) -> None:
    assert category.name.strip() == category.name
    assert category.description.endswith(".")
    assert draw_picture(*parse_picture(category.picture))


@for_each(PRODUCTS, key, at_least=62)
def test_a_product_is_described_for_people(product: DemoProduct) -> None:
    assert product.name.strip() == product.name != ""
    assert product.brand
    assert 90 < len(product.description) < 420
    assert product.description.endswith(".")
    assert "  " not in product.description
    assert "lorem" not in product.description.lower()
    assert len(product.details) >= 3
    assert all(label and text for label, text in product.details.items())


@for_each(PRODUCTS, key, at_least=62)
def test_a_products_variants_answer_each_option_once_and_differ(product: DemoProduct) -> None:
    assert product.variants
    assert all(tuple(variant.options) == product.option_names for variant in product.variants)
    combinations = [tuple(variant.options.values()) for variant in product.variants]
    assert len(combinations) == len(set(combinations))
    if len(product.variants) > 1:
        assert product.option_names


@for_each(PRODUCTS, key, at_least=62)
def test_a_product_is_related_to_others_that_exist(product: DemoProduct) -> None:
    assert set(product.related) <= {other.key for other in PRODUCTS} - {product.key}


@for_each(PRODUCTS, key, at_least=62)
def test_each_colour_is_drawn_in_its_own_colour(product: DemoProduct) -> None:
    drawn = {
        (v.options.get("Colour"), v.picture.partition("/")[2])
        for v in product.variants
        if "Colour" in v.options
    }
    assert (
        len({colour for colour, _ in drawn}) == len(drawn) == len({picture for _, picture in drawn})
    )


@for_each(sorted({variant.picture for _, variant in VARIANTS}), at_least=205)
def test_every_variant_can_be_drawn(picture: str) -> None:
    assert draw_picture(*parse_picture(picture))


@for_each(sorted({parse_picture(variant.picture)[0] for _, variant in VARIANTS}), at_least=64)
def test_what_is_sold_has_a_view_from_near_by_and_one_in_its_place_in_the_same_colours(
    shape: str,
) -> None:
    views = {shape: "", f"{shape}-2": ", close", f"{shape}-3": ", in its place"}
    assert {SHAPES[view].most_colours for view in views} == {SHAPES[shape].most_colours}
    for view, word in views.items():
        assert f"<title>{shape.replace('-', ' ').capitalize()}{word}</title>" in draw_picture(
            view, ("9aae8c",)
        )


@for_each(VARIANTS, sku, at_least=340)
def test_prices_are_euro_and_cent_and_only_deals_had_a_higher_one(
    sold: tuple[DemoProduct, DemoVariant],
) -> None:
    product, variant = sold
    assert Decimal(1) < variant.price < Decimal(500)
    assert variant.price == variant.price.quantize(Decimal("0.01"))
    assert variant.price.as_tuple().exponent == -2
    assert (variant.compare_at is not None) == product.deal
    assert variant.compare_at is None or variant.compare_at > variant.price
    assert 10 <= variant.weight_grams <= 10_000


def test_stock_in_two_warehouses_makes_sense_together() -> None:
    assert {warehouse.slug for warehouse in WAREHOUSES} == {"berlin", "cork", "lyon"}
    total = [sum(variant.stock.values()) for _, variant in VARIANTS]
    assert not [
        variant.sku for _, variant in VARIANTS if not variant.stock.keys() >= {"berlin", "cork"}
    ]
    assert not [variant.sku for _, variant in VARIANTS if min(variant.stock.values()) < 0]
    assert 2 <= total.count(0) <= 6
    assert sum(0 < units <= 5 for units in total) >= 5
    assert sum(units > 10 for units in total) > len(total) * 0.8


@for_each(PRODUCTS, key, at_least=62)
def test_no_product_is_sold_out(product: DemoProduct) -> None:
    assert any(sum(variant.stock.values()) for variant in product.variants)


def test_there_is_something_for_the_front_page() -> None:
    assert sum(product.featured for product in PRODUCTS) >= 8
    assert sum(product.deal for product in PRODUCTS) >= 8
    assert sum(product.created_days_ago <= 30 for product in PRODUCTS) >= 8
    assert {product.tax_class for product in PRODUCTS} == {"standard", "reduced"}


def test_ids_never_change() -> None:
    assert demo_product_id("everyday-mug") == uuid.UUID("bd736642-3f41-587d-8e28-fe53e8ed3386")
    assert demo_variant_id("MUG-OAT-350") == uuid.UUID("8ea7265b-a0ff-5c65-881c-68fb42a7c988")
    assert demo_category_id("kitchen") == uuid.UUID("7f88dd11-d5f0-5d5e-802c-8db9f95eedd6")


def test_ids_of_different_kinds_never_meet() -> None:
    ids = [
        *(demo_category_id(category.slug) for category in CATEGORIES),
        *(demo_product_id(product.key) for product in PRODUCTS),
        *(demo_variant_id(variant.sku) for _, variant in VARIANTS),
    ]
    assert len(ids) == len(set(ids))
    assert demo_product_id("mug") != demo_category_id("mug") != demo_variant_id("mug")


def test_usual_stock_is_the_same_each_time_and_smaller_for_what_is_dear() -> None:
    assert usual_stock("MUG-OAT-350", Decimal("14.00")) == usual_stock(
        "MUG-OAT-350", Decimal("14.00")
    )
    assert sum(usual_stock("X", Decimal("200.00")).values()) < sum(
        usual_stock("X", Decimal("9.00")).values()
    )


def test_making_variants_refuses_stock_for_a_sku_that_is_not_made() -> None:
    with pytest.raises(KeyError, match="MUG-RED"):
        make_variants(
            DemoChoice("Mug", "MUG", price="14.00", grams=340, shape="mug"),
            options={"Colour": (DemoChoice("Oat", "OAT", ("dfcfb0",)),)},
            stock={"MUG-RED": (1, 1)},
        )
