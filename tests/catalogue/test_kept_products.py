"""A product is decoded once for equal rows, and anew as soon as anything of it is another, or a planned price begins."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from moneyed import EUR, Money

from cassandra_db import current_time
from cassandra_db.kept_results import KeptResults
from catalogue.entities import CategoryMenu, Product
from catalogue.operations import change_product
from catalogue.prices import PricePoint
from catalogue.product_rows import keep_product_from_rows, product_from_rows
from catalogue.queries import clear_category_cache, get_category_tree, prefetch_product_at_quorum
from tests.factories import make_category, make_product
from tests.reads import existing

NOW = current_time()
TOMORROW = NOW + timedelta(days=1)


def keep(product: Product, days: int = 0) -> Product:
    """What a page shows of the product some days from now."""
    rows = prefetch_product_at_quorum(product.product_id).rows()
    return existing(keep_product_from_rows(rows, current_time() + timedelta(days=days)))


def rename(product: Product) -> Product:
    return replace(product, name="Cup")


def plan_price(product: Product) -> Product:
    point = PricePoint(TOMORROW, Money("5.00", EUR))
    return replace(product, variants=tuple(replace(e, planned=(point,)) for e in product.variants))


def test_x581_equal_rows_give_the_same_product_until_one_is_another() -> None:
    product = make_product("Mug")
    kept = keep(product)
    assert keep(product) is kept
    change_product(product.product_id, rename, current_time())
    assert (kept.name, keep(product).name) == ("Mug", "Cup")


def test_x581_a_planned_price_of_a_kept_product_begins() -> None:
    product = make_product("Mug")
    change_product(product.product_id, plan_price, current_time())
    rows = prefetch_product_at_quorum(product.product_id).rows()
    today, later = keep(product), keep(product, days=2)
    assert later.variants[0].price == Money("5.00", EUR) != today.variants[0].price
    assert later == product_from_rows(rows, NOW + timedelta(days=2))
    # Clocks differ, and a page may be drawn a moment after a later one.
    assert keep(product) == today


def test_x581_no_more_results_are_kept_than_may_be() -> None:
    results = KeptResults[int](max_count=2)
    for key in (1, 2, 3):
        assert results.get(key, [], lambda key=key: key, lambda _: True) == key  # type: ignore[misc]
    assert results.get(2, [], lambda: 0, lambda _: True) == 2
    assert results.get(1, [], lambda: 0, lambda _: True) == 0
    assert results.get(2, [], lambda: 9, lambda _: True) == 2, "what is asked for stays"
    assert results.get(3, [], lambda: 9, lambda _: True) == 9


def test_x581_results_of_many_rows_are_made_each_time() -> None:
    results: KeptResults[int] = KeptResults(max_rows=2)
    rows: Any = [object(), object(), object()]
    made = iter(range(9))
    assert [results.get(1, rows, lambda: next(made), lambda _: True) for _ in range(2)] == [0, 1]
    assert [results.get(1, rows[:2], lambda: next(made), lambda _: True) for _ in range(2)] == [
        2,
        2,
    ]


def test_x581_equal_rows_give_the_same_tree_of_categories_whose_menu_is_hashed_once() -> None:
    first = get_category_tree()
    clear_category_cache()
    assert get_category_tree() is first
    make_category()
    assert get_category_tree() is not first
    hashed: list[int] = []

    class Entry:
        def __hash__(self) -> int:
            hashed.append(1)
            return 1

    menu = CategoryMenu((Entry(),))  # type: ignore[arg-type]
    assert hash(menu) == hash(menu)
    assert len(hashed) == 1
