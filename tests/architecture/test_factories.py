"""What the factories write by a shorter way reads as what the shop writes."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

from catalogue import queries
from catalogue.entities import Product, ProductCard
from catalogue.operations import (
    add_former_prices,
    list_changed_products,
    list_positions,
    save_product,
    set_availability,
)
from catalogue.queries import SORTS, get_category_page
from demo.loader import former_prices
from inventory import queries as stock
from inventory.entities import SENTINEL
from inventory.operations import copy_stock, receive_stock
from inventory.warehouses import list_warehouses
from tests.catalogue.reads import stored
from tests.factories import make_category, make_product, make_stock

SORT_OF = {sort: name for name, (sort, is_down) in SORTS.items() if name != "price-down"}


def without_ids(product_id: UUID) -> Product:
    found = queries.get_product_at_quorum(product_id)
    assert found
    assert queries.find_product_id_by_slug(found.slug) == product_id
    for each in found.variants:
        row = queries.find_variant_by_sku(each.sku)
        assert row
        assert (row.product_id, row.variant_id) == (product_id, each.variant_id)
    variants = tuple(replace(each, variant_id=SENTINEL, sku="") for each in found.variants)
    in_stock = {
        UUID(int=n) for n, v in enumerate(found.variants) if v.variant_id in found.in_stock_ids
    }
    return replace(
        found, product_id=SENTINEL, slug="", variants=variants, in_stock_ids=frozenset(in_stock)
    )


def save_as_staff(product: Product, now: datetime) -> Product:
    """Save another product that is like this one, as the shop does it."""
    variants = tuple(
        replace(each, variant_id=uuid4(), sku=f"{each.sku}-S") for each in product.variants
    )
    like = replace(
        product, product_id=uuid4(), slug=f"{product.slug}-s", variants=variants, version=0
    )
    add_former_prices(former_prices(like, now))
    save_product(like, now)
    set_availability(like.product_id, product.availability, [each.variant_id for each in variants])
    return like


def cards_of(product: Product) -> list[tuple[str, bytes, ProductCard]]:
    """A product's cards in all lists, with their keys; what names the product is left out."""
    found = []
    for category_id, sort, sort_key in sorted(list_positions(product.product_id)):
        cards = get_category_page(category_id, SORT_OF[sort], limit=24).cards
        (card,) = (each for each in cards if each.product_id == product.product_id)
        found.append((sort, sort_key, replace(card, product_id=SENTINEL, slug="")))
    return found


def test_a_product_reads_as_one_that_staff_have_saved_and_stands_in_lists_if_it_is_listed() -> None:
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
    theirs = save_as_staff(listed, now)
    product = without_ids(theirs.product_id)
    for each in (plain, listed):
        assert replace(without_ids(each.product_id), updated_at=product.updated_at) == product
        histories = [
            [queries.list_price_history(read, variant) for variant in read.variants]
            for read in map(stored, (each, theirs))
        ]
        assert histories[0] == histories[1]
    assert list_positions(plain.product_id) == set()
    assert cards_of(listed) == cards_of(theirs)
    assert len(cards_of(listed)) == 5
    changed = list_changed_products(now, datetime.now(UTC))
    assert [each.product_id in changed for each in (plain, listed, theirs)] == [False, True, True]


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
