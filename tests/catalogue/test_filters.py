"""Filters of lists: one variant satisfies the whole selection, and every count is exact (decision 081)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from math import inf
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
import tantivy
from django.test import override_settings
from moneyed import EUR, Money

from benchmarks.scale import product_statements
from cassandra_db import write_batch
from catalogue import facets, filters, index_colours, search_index
from catalogue.colour_settings import COLOURS as COLOUR_KIND
from catalogue.colour_settings import CURRENT_COLOURS, ColourSetting
from catalogue.entities import NEW_FOR, CategoryNode, Product, Variant
from catalogue.facets import Scope, find_facets
from catalogue.filter_settings import FIRST_FILTERS, FilterName
from catalogue.filter_tokens import cover_prices
from catalogue.filtered_lists import CATEGORY_SORTS, category_scope, list_selected
from catalogue.filters import NOTHING_CHOSEN, PriceRange, Selection, parse_filters, parse_price
from catalogue.index_documents import make_document
from catalogue.operations import COLOURS_CHANGED, record_product_change
from catalogue.operations.products import UPDATE_POPULARITY, UPDATE_RATING
from catalogue.queries import get_category_tree, get_products_at_quorum, leave_out
from catalogue.search_index import READER
from shop_settings.operations import save_setting
from tests.clock import now
from tests.factories import make_category, make_product
from tests.rules import for_each
from tests.shop_settings.saved import own_settings  # noqa: F401

COLOURS, SIZES, MATERIALS = ("Red", "Blue", "Green"), ("S", "M", "L"), ("Oak", "Steel")
NAMES = ("size", "material")
KEYS = frozenset({"colour", "stock", *NAMES})
FILTERS = (*FIRST_FILTERS, FilterName("material", "Material"))


def _make_product(random: Random, categories: list[CategoryNode]) -> Product:
    """A product with random variants. "Material" is an option of some products and a detail of others."""
    product_id, options = uuid4(), dict[str, tuple[str, ...]](Colour=COLOURS, Size=SIZES)
    is_detail = random.random() < 0.5
    if not is_detail and random.random() < 0.5:
        options["Material"] = MATERIALS
    price = random.choice([500, 1500, 2500])
    has_several_prices, made = random.random() < 0.4, {}
    for number in range(random.randint(1, 6)):
        chosen = {name: random.choice(values) for name, values in options.items()}
        euros = (
            Decimal(price + (random.choice([0, 1, 333, 1000]) if has_several_prices else 0)) / 100
        )
        reduced = Money(euros * 2, EUR) if random.random() < 0.3 else None
        made[tuple(chosen.values())] = Variant(
            uuid4(),
            f"F-{product_id.hex[:12]}-{number}",
            chosen,
            Money(euros, EUR),
            reduced,
            "mug/4f6d7a-efeae0",
            100,
            sold=number == 0 or random.random() < 0.9,
            position=number,
        )
    variants = tuple(made.values())
    created = now() - timedelta(days=random.choice([1, 29, 31, 90]))
    rating = random.choice([None, 1.0, 3.9, 4.0, 5.0])
    return Product(
        product_id=product_id,
        slug=product_id.hex,
        name="Filtered thing",
        brand=random.choice(["Hald", "Nordlicht", "hald"]),
        description="",
        details={"Material": random.choice(MATERIALS)} if is_detail else {},
        category_id=random.choice(categories).category_id,
        category_ids=frozenset({random.choice(categories).category_id}),
        option_names=tuple(options),
        tax_class="standard",
        variants=variants,
        status=random.choice(["active"] * 9 + ["draft"]),
        created_at=created,
        updated_at=created,
        in_stock_ids=frozenset(each.variant_id for each in variants if random.random() < 0.6),
        rating=rating,
        rating_count=1 if rating else 0,
        bestseller=random.random() < 0.3,
        active_from=now() - timedelta(days=2) if random.random() < 0.2 else None,
        active_until=now() - timedelta(days=1) if random.random() < 0.05 else None,
    )


@pytest.fixture(scope="module")
def products(
    keyspace: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[list[Product], list[CategoryNode]]]:
    """Random products in Cassandra, and an index of eight segments with deletions that has them."""
    random, parent = Random(7), make_category("Parent of filtered things")
    categories = [parent, *(make_category(parent=parent) for _ in range(2)), make_category()]
    made = [_make_product(random, categories) for _ in range(160)]
    for each in made:
        write_batch(product_statements(each))
        UPDATE_RATING.run(product_id=each.product_id, rating=each.rating, rating_count=1, at=1)
        counts = {"popularity": 0, "bestseller": each.bestseller, "at": 1}
        UPDATE_POPULARITY.run(product_id=each.product_id, **counts)
    stored = get_products_at_quorum([each.product_id for each in made], leave_out)
    everything = [stored[each.product_id] for each in made]
    folder = tmp_path_factory.mktemp("filtered")
    with override_settings(SEARCH_INDEX_DIR=folder):
        search_index.build_index(everything[:20])
        _add_segments(everything)
        yield everything, categories


def _add_segments(everything: list[Product]) -> None:
    """Write the products in small parts, each deleting what it replaces, until READER has eight segments."""
    home = search_index.index_home()
    path = home / next(home.glob("current-*")).read_text()
    index = tantivy.Index.open(str(path))
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    step = len(everything) // 7
    for start in count(0, step):
        for each in [everything[(start + number) % len(everything)] for number in range(step + 4)]:
            writer.delete_documents_by_term("id", each.product_id.hex)
            writer.add_document(make_document(each))
        writer.commit()
        READER.looked_at = -inf
        if READER.searcher()[1].num_segments >= 8 and start >= len(everything):
            return
        assert start < 40 * len(everything), "segments are always merged first"


def _matches(product: Product, selection: Selection, nodes: dict[UUID, CategoryNode]) -> bool:
    """The rule, as a scan."""
    chosen, moment = dict(selection.values), now()
    slugs = {above.slug for each in product.all_category_ids for above in nodes[each].path}
    if not product.is_on_sale(moment) or (
        filters.CATEGORY in chosen and not slugs & {*chosen[filters.CATEGORY]}
    ):
        return False
    created_at = product.created_at or moment
    facts: dict[str, Callable[[tuple[str, ...]], bool]] = {
        filters.BRAND: lambda values: product.brand.casefold() in values,
        filters.RATING: lambda values: (product.rating or 0) >= min(map(int, values)),
        filters.NEW: lambda _: created_at > moment - NEW_FOR,
        filters.BESTSELLER: lambda _: product.bestseller,
    }
    if not all(fact(chosen[name]) for name, fact in facts.items() if name in chosen):
        return False
    return any(_variant_matches(product, each, selection) for each in product.variants if each.sold)


def _variant_matches(product: Product, variant: Variant, selection: Selection) -> bool:
    values = {name.casefold(): text.casefold() for name, text in product.details.items()}
    values |= {name.casefold(): text.casefold() for name, text in variant.options.items()}
    chosen, price = dict(selection.values), selection.price or PriceRange()
    return (
        all(values.get(name) in chosen[name] for name in ("colour", *NAMES) if name in chosen)
        and (filters.STOCK not in chosen or variant.variant_id in product.in_stock_ids)
        and (filters.SALE not in chosen or variant.compare_at is not None)
        and (price.low is None or variant.price.amount >= price.low)
        and (price.high is None or variant.price.amount <= price.high)
    )


def _choose(random: Random, categories: list[CategoryNode]) -> Selection:
    selection = NOTHING_CHOSEN
    values: dict[str, list[str]] = {
        filters.COLOUR: [each.casefold() for each in COLOURS],
        "size": [each.casefold() for each in SIZES],
        "material": [each.casefold() for each in MATERIALS],
        filters.BRAND: ["hald", "nordlicht"],
        filters.RATING: ["4", "3"],
        filters.CATEGORY: [each.slug for each in categories],
    }
    for name in random.sample(sorted(values), random.randint(0, 3)):
        few = random.sample(values[name], random.randint(1, 2))
        selection = selection.with_values(name, few)
    for name in random.sample(filters.MARKS, random.choice([0, 0, 1, 2])):
        selection = selection.with_values(name, [filters.YES])
    if random.random() < 0.4:
        ends = sorted(random.choice([0, 5, 8.33, 15, 15.01, 18.33, 25, 35]) for _ in range(2))
        low, high = (Decimal(str(each)) for each in ends)
        selection = replace(selection, price=PriceRange(low, random.choice([high, None])))
    return selection


def test_x320_every_count_is_that_of_a_scan(
    products: tuple[list[Product], list[CategoryNode]], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything, categories = products
    nodes, random = get_category_tree().by_id, Random(11)
    searcher: Any = READER.searcher()[1]
    assert searcher.num_segments >= 8
    faults, counted = list[str](), 0
    for number in range(60):
        selection = _choose(random, categories) if number > 3 else NOTHING_CHOSEN
        # Facets that are kept or not, of many terms or of few.
        scope = Scope(("all",), tantivy.Query.all_query(), is_kept=number % 2 == 0)
        monkeypatch.setattr(facets, "_MOST_WALKED", 5 if number in (2, 3) else 10_000)
        READER.looked_at = READER._kept_since = -inf
        found = find_facets(scope, selection, FILTERS)
        expected = sum(_matches(each, selection, nodes) for each in everything)
        if found.total != expected:
            faults.append(f"{selection.parameters}: {found.total}, not {expected}")
        for facet in found.facets:
            for value in facet.values:
                alone = selection.with_values(facet.name, [value.value])
                expected = sum(_matches(each, alone, nodes) for each in everything)
                counted += expected > 0
                if value.count != expected:
                    faults.append(f"{alone.parameters}: {value.count}, not {expected}")
    assert not faults, "\n".join(faults[:20])
    assert counted > 300


@for_each(
    [
        (["size:M", "SIZE:m", "Größe:x"], [("filter", "size:m")]),
        (
            ["size:S", "colour:blue", "size:M"],
            [("filter", "colour:blue"), ("filter", "size:m"), ("filter", "size:s")],
        ),
        (["stock:yes", "size:", ":m", "x", ""], [("filter", "stock:yes")]),
    ]
)
def test_x321_an_address_names_a_selection_in_one_order(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    written, parameters = case
    assert parse_filters(written, KEYS)[0].parameters == parameters


def test_x321_too_many_filters_are_cut() -> None:
    many = [f"size:{number}" for number in range(50)]
    selection, is_cut = parse_filters(many, KEYS)
    assert is_cut
    assert len(selection.get("size")) == filters.MAX_CHOSEN
    product = [f"{name}:{number}" for name in NAMES for number in range(20)]
    selection, is_cut = parse_filters([*product[:30], "colour:blue", "colour:red"], KEYS)
    assert not is_cut
    for few in (product[:30], product[5:]):
        wide = PriceRange(Decimal("0.01"), Decimal("999999.99"))
        selection, is_cut = parse_filters([*few, "colour:blue", "colour:red"], KEYS, wide)
        assert is_cut
        assert 1 < selection.count_terms() <= filters.MAX_TERMS


@for_each(
    [
        ("20-40", "20-40"),
        ("40-20", "20-40"),
        ("19,99-", "19.99-"),
        ("1,000-2.000", "1000-2000"),
        ("-7.5", "-7.5"),
        ("20", "20-20"),
        ("-", "None"),
        ("", "None"),
    ]
)
def test_x322_a_range_of_prices_is_read(case: tuple[str, str]) -> None:
    written, expected = case
    assert str(parse_price(written)) == expected


@for_each(["NaN-", "Infinity", "x-20", "-1e9", "1e-99", "20-40-60", "²-", "1_0-", "1e3-"])
def test_x322_what_is_no_price_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_price(written)


def test_x322_the_steps_of_a_range_cover_exactly_its_prices() -> None:
    random = Random(3)
    for _ in range(300):
        low, high = sorted(
            random.choice([random.randrange(400), random.randrange(10**8)]) for _ in range(2)
        )
        steps = set(cover_prices(low, high))
        assert len(steps) <= 200
        for price in (
            low,
            high,
            low - 1,
            high + 1,
            random.randint(low, high),
            random.randrange(10**8),
        ):
            own = {f"{bits}:{price >> bits:x}" for bits in range(0, 28, 4)} if price >= 0 else set()
            assert bool(own & steps) == (low <= price <= high), (low, high, price)


@pytest.mark.usefixtures("own_settings")
def test_x292_the_index_follows_a_family_that_staff_choose(
    keyspace: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    category = make_category("Odd things")
    options = {"Colour": ["Zyx", "Zyy"], "Size": ["S"]}
    made = make_product("Odd one", category=category, options=options)

    def count_by_family() -> dict[str, int]:
        READER.looked_at = -inf
        found = find_facets(category_scope(category), NOTHING_CHOSEN, FILTERS).facets
        (colours,) = (each for each in found if each.name == "colour")
        return {each.value: each.count for each in colours.values}

    with override_settings(SEARCH_INDEX_DIR=tmp_path_factory.mktemp("recoloured")):
        search_index.build_index([made])
        assert count_by_family() == {"other": 1}
        colour = ColourSetting("zyx", "1f3a6e")
        save_setting(COLOUR_KIND, colour.key, colour, COLOUR_KIND.fingerprint(None), now())
        record_product_change(COLOURS_CHANGED, now())
        assert search_index.must_update_index(now() + timedelta(seconds=1))
        search_index.refresh_index(now() + timedelta(seconds=1))
        assert count_by_family() == {"blue": 1, "other": 1}


@pytest.mark.usefixtures("own_settings")
def test_x292_a_colour_that_changes_back_meanwhile_is_right_everywhere(
    keyspace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    category = make_category("Zyz things")
    made = [make_product(options={"Colour": ["Zyz"]}, category=category) for _ in range(2)]
    for module in (index_colours, search_index):
        monkeypatch.setattr(module, "MAX_RECOLOURED", 1)

    def change_to(hex6: str, runs: int) -> dict[str, int]:
        before = COLOUR_KIND.fingerprint(CURRENT_COLOURS.get().get_values(COLOUR_KIND).get("zyz"))
        save_setting(COLOUR_KIND, "zyz", ColourSetting("zyz", hex6), before, now())
        for _ in range(runs):
            search_index.refresh_index(now())
        READER.looked_at = -inf
        found = find_facets(category_scope(category), NOTHING_CHOSEN, FILTERS).facets
        return {
            each.value: each.count
            for facet in found
            if facet.name == "colour"
            for each in facet.values
        }

    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        search_index.build_index(made)
        assert change_to("1f3a6e", 3) == {"blue": 2}
        assert change_to("2e7d32", 1) == {"green": 1, "blue": 1}
        assert change_to("1f3a6e", 3) == {"blue": 2}


def test_x346_equal_products_keep_their_places_when_they_are_indexed_again(
    keyspace: str, tmp_path: Path
) -> None:
    category, created = make_category("Equal things"), now()
    made = [
        make_product(f"Linen shirt {name}", category=category, now=created)
        for name in ("Zulu", "Alfa", "Mike", "Echo", "Kilo")
    ]

    def list_orders() -> list[list[str]]:
        READER.looked_at = -inf
        scope = category_scope(category)
        found = (
            list_selected(scope, NOTHING_CHOSEN, order, 9, 0) for order in CATEGORY_SORTS.values()
        )
        return [[card.name for card in each.cards] for each in found]

    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        search_index.build_index(made)
        orders = list_orders()
        search_index.build_index(reversed(made))
        assert list_orders() == orders
    assert orders[list(CATEGORY_SORTS).index("name")] == sorted(each.name for each in made)
