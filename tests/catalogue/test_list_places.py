"""The places of a product's cards: as 0.1.0 recorded them, and as they move to the product."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from moneyed import EUR, Money

from cassandra_db import Row, write_batch
from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product
from catalogue.operations.cards import FORMER_PLACES, LISTED_PRODUCTS, ListKey
from consistency.findings import Scope
from tests.clock import now
from tests.consistency.test_check_consistency import cql, found
from tests.factories import make_category, make_product


def record_as_before(product_id: UUID, places: Iterable[ListKey]) -> None:
    """Record places of a product's cards as 0.1.0 did."""
    for place in places:
        cql(
            "INSERT INTO list_positions_by_product (product_id, category_id, sort, sort_key) VALUES (%s, %s, %s, %s)",
            *(product_id, *place),
        )


def change_price(product: Product, euros: str) -> Product:
    variant = replace(product.variants[0], price=Money(euros, EUR))
    return operations.save_product(replace(product, variants=(variant,)), now())


def list_prices(node: CategoryNode) -> list[Money]:
    return [card.price for card in queries.get_category_page(node.category_id, "price").cards]


def move_places(product: Product, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the backfill for one product; return its last position."""
    real = LISTED_PRODUCTS.iterate_part

    def iterate_own(part: int, parts: int) -> Iterator[Row]:
        return (row for row in real(part, parts) if row.product_id == product.product_id)

    with monkeypatch.context() as patch:
        patch.setattr(LISTED_PRODUCTS, "iterate_part", iterate_own)
        *_, (position, _) = operations.move_list_places("")
    return position


def test_x573_a_card_whose_place_the_former_version_recorded_is_moved() -> None:
    node = make_category()
    product = make_product(price="10.00", category=node, listed=True)
    places = operations.list_positions(product.product_id)
    record_as_before(product.product_id, places)
    operations.REMOVE_LIST_PLACES.run(product_id=product.product_id, places=places)
    assert found(Scope(products=frozenset([product.product_id])), "I14") == []
    change_price(product, "30.00")
    assert list_prices(node) == [Money("30.00", EUR)]
    assert FORMER_PLACES.all(product_id=product.product_id) == []
    assert len(operations.list_positions(product.product_id)) == 5


def test_x573_the_backfill_deletes_what_either_version_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = make_category()
    product = make_product(price="10.00", category=node, listed=True)
    saved = change_price(product, "20.00")
    former_cards = operations.card_statements(
        saved, queries.get_category_tree_with(node.category_id)
    )
    change_price(saved, "30.00")
    # A save of the former version, which does not know the places of this version.
    write_batch([card for _, card in former_cards])
    record_as_before(product.product_id, [place for place, _ in former_cards])
    assert list_prices(node) == [Money("20.00", EUR), Money("30.00", EUR)]
    assert move_places(product, monkeypatch) == "256"
    assert list_prices(node) == [Money("30.00", EUR)]
    assert FORMER_PLACES.all(product_id=product.product_id) == []


def test_x573_the_backfill_deletes_the_cards_of_a_product_that_the_former_version_has_archived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = make_category()
    product = make_product(price="10.00", category=node, listed=True)
    # The former version has recorded no place of this product, so it deletes no card.
    cql("UPDATE products SET status = 'archived' WHERE product_id = %s", product.product_id)
    move_places(product, monkeypatch)
    assert list_prices(node) == []
    assert operations.list_positions(product.product_id) == set()


def test_x573_a_place_that_the_former_version_records_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = make_product(price="10.00", listed=True)
    first, *others, last = sorted(operations.list_positions(product.product_id))
    record_as_before(product.product_id, [first, *others])
    real = operations.DELETE_CARD.start

    def record_first(**columns: Any) -> Any:
        record_as_before(product.product_id, [last])
        return real(**columns)

    monkeypatch.setattr(operations.DELETE_CARD, "start", record_first)
    change_price(product, "30.00")
    assert [tuple(row) for row in FORMER_PLACES.all(product_id=product.product_id)] == [last]
