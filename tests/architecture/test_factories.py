"""What the factories write by a shorter way reads as what the shop writes."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from catalogue import queries
from catalogue.entities import Product
from catalogue.operations import LIST_POSITIONS, list_changed_products
from inventory import queries as stock
from inventory.entities import SENTINEL
from inventory.operations import copy_stock, receive_stock
from inventory.warehouses import list_warehouses
from tests.factories import make_category, make_product, make_stock


def without_ids(product_id: UUID) -> Product:
    found = queries.get_product_at_quorum(product_id)
    assert found
    assert queries.find_product_id_by_slug(found.slug) == product_id
    for each in found.variants:
        row = queries.find_variant_by_sku(each.sku)
        assert row
        assert (row.product_id, row.variant_id) == (product_id, each.variant_id)
    variants = tuple(replace(each, variant_id=SENTINEL, sku="") for each in found.variants)
    return replace(found, product_id=SENTINEL, slug="", variants=variants)


def test_a_product_that_is_not_listed_reads_as_one_that_is_and_stands_in_no_list() -> None:
    now, category = datetime.now(UTC), make_category()
    plain, listed = (
        make_product(
            "Teapot",
            price="48.00",
            compare_at="60.00",
            options={"Colour": ["Teal", "Oat"], "Size": ["S", "L"]},
            category=category,
            availability="few",
            tax_class="reduced",
            featured=True,
            now=now,
            listed=listed,
        )
        for listed in (False, True)
    )
    product = without_ids(plain.product_id)
    assert product == replace(without_ids(listed.product_id), updated_at=product.updated_at)
    assert LIST_POSITIONS.all(product_id=plain.product_id) == []
    assert [card.product_id for card in queries.get_category_page(category.category_id).cards] == [
        listed.product_id
    ]
    changed = list_changed_products(now, datetime.now(UTC))
    assert (plain.product_id in changed, listed.product_id in changed) == (False, True)


def test_stock_reads_as_if_it_had_come_and_been_copied() -> None:
    units = {"berlin": 5, "cork": 2}
    ours, theirs, variants = uuid4(), uuid4(), (uuid4(), uuid4())
    make_stock(units["berlin"], cork=units["cork"], product_id=ours, variant_id=variants[0])
    for warehouse_id in units:
        receive_stock(
            theirs, variants[1], warehouse_id, units[warehouse_id], 3, uuid4(), datetime.now(UTC)
        )
    copy_stock(theirs)
    assert stock.get_stock(ours)[variants[0]] == stock.get_stock(theirs)[variants[1]]
    for warehouse_id in list_warehouses():
        stock_items = [stock.get_stock_item(variant_id, warehouse_id) for variant_id in variants]
        assert stock_items[0][0] == stock_items[1][0]
        lying, entered = (
            [[(row.state, row.quantity) for row in rows] for _, rows in stock_items],
            [
                [
                    (row.kind, row.units)
                    for row in stock.list_ledger_entries(variant_id, warehouse_id)
                ]
                for variant_id in variants
            ],
        )
        assert lying[0] == lying[1] == [("received", units[warehouse_id])]
        assert entered[0] == entered[1] == [("received", units[warehouse_id])]
