"""The places of a product's cards: as 0.1.0 recorded them, and as they move to the product."""

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from moneyed import EUR, Money

from cassandra_db import write_batch
from catalogue import operations, queries
from catalogue.entities import CategoryNode, Product
from catalogue.operations.cards import FORMER_PLACES, ListKey
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


def test_x573_the_backfill_deletes_what_either_version_has_left() -> None:
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
    *_, (position, _) = operations.move_list_places("")
    assert position == "256"
    assert list_prices(node) == [Money("30.00", EUR)]
    assert FORMER_PLACES.all(product_id=product.product_id) == []
