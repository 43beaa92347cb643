"""The variants that a product's options make."""

from dataclasses import replace

import pytest

from cassandra_db import current_time
from catalogue.entities import Product
from catalogue.errors import ProductRefused
from catalogue.rules import list_refusals
from catalogue.variants import fingerprint_variant, generate_variants, list_options
from pricing.quotes import line_label, options_label
from tests.factories import make_product
from tests.rules import for_each

OPTIONS = {"Colour": ("Oat", "Slate"), "Size": ("S", "M", "L")}


@pytest.fixture
def shirt() -> Product:
    return make_product("Shirt", options={"Colour": ["Oat"], "Size": ["S", "M"]}, price="20.00")


def test_x96_each_combination_is_a_variant_and_those_that_are_there_stay(shirt: Product) -> None:
    made = generate_variants(shirt, OPTIONS)
    assert [each.label for each in made.variants] == [
        *("Oat, S", "Oat, M", "Oat, L"),
        *("Slate, S", "Slate, M", "Slate, L"),
    ]
    assert (made.variants[0], made.variants[1]) == shirt.variants
    assert [each.label for each in made.added] == ["Oat, L", "Slate, S", "Slate, M", "Slate, L"]
    assert made.retired == ()
    assert {each.price for each in made.added} == {shirt.variants[0].price}
    changed = made.apply_to(shirt)
    assert not list(list_refusals(changed, current_time()))  # all SKUs are possible, and differ
    assert list_options(changed) == OPTIONS


def test_done_again_it_makes_the_same_and_nothing_more(shirt: Product) -> None:
    once = generate_variants(shirt, OPTIONS)
    assert generate_variants(shirt, OPTIONS).variants == once.variants
    again = generate_variants(once.apply_to(shirt), OPTIONS)
    assert (again.added, again.retired, again.variants) == ((), (), once.variants)


def test_what_has_no_combination_any_more_is_retired_and_comes_back_as_it_was(
    shirt: Product,
) -> None:
    small = generate_variants(shirt, {"Colour": ("Oat",), "Size": ("S",)})
    assert [(each.label, each.sold) for each in small.variants] == [
        ("Oat, S", True),
        ("Oat, M", False),
    ]
    assert [each.label for each in small.retired] == ["Oat, M"]
    back = generate_variants(small.apply_to(shirt), {"Colour": ("Oat",), "Size": ("S", "M")})
    assert back.variants == shirt.variants
    assert back.added == ()


def test_without_options_there_is_one_variant(shirt: Product) -> None:
    plain = generate_variants(shirt, {})
    assert [each.label for each in plain.variants if each.sold] == [""]
    assert len(plain.retired) == 2
    assert not list(list_refusals(plain.apply_to(shirt), current_time()))


def test_x96_options_that_are_renamed_added_or_taken_away_lose_no_variant(shirt: Product) -> None:
    ids = [each.variant_id for each in shirt.variants]
    for options in (
        {"Color": ("Oat",), "Size": ("S", "M")},  # renamed
        {"Colour": ("Oat",), "Size": ("S", "M"), "Fit": ("Wide",)},  # one more, of one value
        {"Size": ("S", "M")},  # one less, of one value
    ):
        made = generate_variants(shirt, options)
        assert [each.variant_id for each in made.variants] == ids, options
        assert (made.added, made.retired) == ((), ())
    plain = make_product("Stool")
    made = generate_variants(plain, {"Colour": ("Oat", "Slate")})
    assert made.variants[0].variant_id == plain.variants[0].variant_id
    assert [each.label for each in made.added] == ["Slate"]


def test_two_hundred_and_no_more(shirt: Product) -> None:
    most = {"Number": tuple(str(number) for number in range(100)), "Size": ("S", "M")}
    assert not list(list_refusals(generate_variants(shirt, most).apply_to(shirt), current_time()))
    with pytest.raises(ProductRefused, match="200") as refused:
        generate_variants(shirt, most | {"Size": ("S", "M", "L")})
    assert refused.value.field == "options"


def test_a_fingerprint_is_of_all_that_is_shown(shirt: Product) -> None:
    variant = shirt.variants[0]
    assert fingerprint_variant(replace(variant, position=7)) == fingerprint_variant(variant)
    changed = [
        replace(variant, sku="OTHER"),
        replace(variant, sold=False),
        replace(variant, price=variant.price * 2),
        replace(variant, compare_at=variant.price * 2),
        replace(variant, weight_grams=1),
        replace(variant, barcode="4006381333931"),
        replace(variant, picture=""),
    ]
    assert len({fingerprint_variant(each) for each in (variant, *changed)}) == 8


@for_each(
    [
        ({"Colour": "mustard", "Size": "s"}, "Mustard, S"),
        ({"Colour": "Mustard", "Size": "xxl"}, "Mustard, XXL"),
        ({"Size": "3xl"}, "3XL"),
        ({"Size": "45 × 45 cm", "Filling": "with filling"}, "45 × 45 cm, With filling"),
        ({"Model": "iPhone 15", "Size": "m"}, "iPhone 15, M"),
        ({}, ""),
    ],
    at_least=6,
)
def test_x132_options_read_as_people_write_them(written: tuple[dict[str, str], str]) -> None:
    options, label = written
    assert options_label(options) == label
    assert line_label("Shirt", options) == f"Shirt, {label}".removesuffix(", ")
