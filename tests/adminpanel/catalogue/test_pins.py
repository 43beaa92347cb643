"""The pages on which staff put products first: of a category, and of the front page's rows."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from catalogue import operations, queries
from catalogue.entities import CategoryNode, ListOrder, Product
from tests.factories import make_category, make_product
from tests.rules import assert_explained

FRONT_PAGE = reverse("adminpanel:front_page_rows")
DEALS = reverse("adminpanel:front_page_row", args=("deals",))


@pytest.fixture
def nothing_pinned() -> Iterator[None]:
    operations.pin_on_front_page("deals", lambda _: ())
    yield
    operations.pin_on_front_page("deals", lambda _: ())


def order_of(node: CategoryNode) -> ListOrder:
    return queries.get_category_tree_at_quorum().by_id[node.category_id].order


def names(products: list[Product], node: CategoryNode) -> list[str]:
    found = {each.product_id: each.name for each in products}
    return [found[each] for each in order_of(node).pinned_ids]


def sent(node: CategoryNode, **fields: Any) -> dict[str, Any]:
    """What the page's form would send as it is shown, with some fields typed anew."""
    order = order_of(node)
    places = {f"line_{place}": str(place + 1) for place in range(len(order.pinned_ids))}
    shown = " ".join(map(str, order.pinned_ids))
    return {"shown": shown, "rule": order.rule, "shown_rule": order.rule, **places} | fields


def test_x109_buttons_numbers_and_skus_put_products_in_their_order(cleo: Client) -> None:
    node = make_category("Stools")
    products = [make_product(name, category=node, listed=True) for name in ("A", "B", "C", "D")]
    a, b, c, d = (str(each.product_id) for each in products)
    address = reverse("adminpanel:category_order", args=(node.category_id,))
    page = cleo.get(address).content.decode()
    assert "No pinned products." in page
    assert f'name="pin" value="{a}"' in page
    for fields, expected in (
        ({"pin": a}, "A"),
        ({"pin": b}, "AB"),
        ({"sku": products[2].variants[0].sku.lower()}, "ABC"),
        ({"pin": a}, "ABC"),
        ({"first": c}, "CAB"),
        ({"down": c}, "ACB"),
        ({"up": b}, "ABC"),
        ({"up": a}, "ABC"),
        ({"down": c}, "ABC"),
        ({"pin": d}, "ABCD"),
        ({"line_3": "1"}, "DABC"),
        ({"line_0": "3", "line_3": "48"}, "ABDC"),
        ({"unpin": b, "rule": "price"}, "ADC"),
    ):
        answer = cleo.post(address, sent(node, **fields))
        assert (answer.status_code, answer["Location"]) == (303, address), fields
        assert "".join(names(products, node)) == expected, fields
    assert order_of(node).rule == "price"
    part = cleo.post(address, sent(node, up=c), HTTP_HX_REQUEST="true").content.decode()
    assert part.lstrip().startswith('<form class="stack" id="order"')
    assert part.index(f"pin-{c}") < part.index(f"pin-{d}")
    assert "within a few minutes" in part


def test_x109_of_two_who_order_at_once_none_loses_what_was_typed(cleo: Client) -> None:
    node = make_category("Stools")
    products = [make_product(name, category=node, listed=True) for name in ("A", "B", "C")]
    ids = tuple(each.product_id for each in products)
    address = reverse("adminpanel:category_order", args=(node.category_id,))
    operations.order_category_products(node.category_id, lambda _: ListOrder("name", ids))
    typed = sent(node, line_2="1", sku=products[0].variants[0].sku)
    pressed = sent(node, first=str(ids[1]))
    operations.order_category_products(node.category_id, lambda _: ListOrder("price", ids[::-1]))
    answer = cleo.post(address, typed)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else has changed this order" in page
    assert order_of(node).pinned_ids == ids[::-1], "a late form has put them in another order"
    # As it is now, with what was typed: C's place, which is the first one there already.
    assert f'value="{" ".join(map(str, ids[::-1]))}"' in page
    assert f'name="sku" value="{products[0].variants[0].sku}"' in page
    assert "Choose an order" not in page
    # A button acts on the order as it is, whatever the page has shown.
    assert cleo.post(address, pressed).status_code == 303
    assert order_of(node) == ListOrder("price", (ids[1], ids[2], ids[0]))


def test_x109_bad_input_is_said_beside_its_field(cleo: Client) -> None:
    node = make_category("Stools")
    product = make_product("A", category=node, listed=True)
    address = reverse("adminpanel:category_order", args=(node.category_id,))
    cleo.post(address, sent(node, pin=str(product.product_id)))
    assert_explained(
        lambda fields: cleo.post(address, sent(node, **fields)),
        (
            *(
                ({"line_0": bad}, "Enter a position from 1 to 48")
                for bad in ("0", "-1", "1e9", "", "x")
            ),
            ({"sku": "NO-SUCH"}, "No product has the SKU NO-SUCH."),
            ({"rule": "weight"}, "Choose an order"),
            ({"pin": str(uuid4())}, "This product no longer exists."),
        ),
    )
    full = ListOrder("newest", tuple(uuid4() for _ in range(48)))
    operations.order_category_products(node.category_id, lambda _: full)
    answer = cleo.post(address, sent(node, pin=str(product.product_id)))
    assert (answer.status_code, "At most 48 products" in answer.content.decode()) == (422, True)
    assert "Cannot be shown" in answer.content.decode()
    assert cleo.post(address, {"unpin": "no id", "rule": "newest"}).status_code == 303
    assert order_of(node) == full
    elsewhere = reverse("adminpanel:category_order", args=(uuid4(),))
    assert [cleo.get(elsewhere).status_code, cleo.post(elsewhere).status_code] == [404, 404]


@pytest.mark.usefixtures("nothing_pinned")
def test_x110_staff_pin_products_in_the_rows_of_the_front_page(cleo: Client) -> None:
    reduced = make_product("Reduced lamp", compare_at="20.00", listed=True)
    plain = make_product("Plain lamp", listed=True)
    for each in (reduced, plain):
        answer = cleo.post(DEALS, {"sku": each.variants[0].sku})
        assert (answer.status_code, answer["Location"]) == (303, f"{FRONT_PAGE}#deals")
    ids = (reduced.product_id, plain.product_id)
    assert queries.get_front_page_pins(["deals"]) == {"deals": ids}
    page = cleo.get(FRONT_PAGE).content.decode()
    assert page.index("Reduced lamp") < page.index("Plain lamp")
    assert "Not reduced" in page
    assert 'aria-current="true"' in page
    typed = {"shown": " ".join(map(str, ids)), "line_0": "1", "line_1": "1"}
    part = cleo.post(DEALS, typed, HTTP_HX_REQUEST="true").content.decode()
    assert part.index("Plain lamp") < part.index("Reduced lamp")
    late = cleo.post(DEALS, typed)
    assert (late.status_code, "Someone else has changed" in late.content.decode()) == (409, True)
    refused = cleo.post(DEALS, {"sku": "NO-SUCH"})
    assert (refused.status_code, "NO-SUCH" in refused.content.decode()) == (422, True)
    nowhere = reverse("adminpanel:front_page_row", args=("nowhere",))
    assert cleo.post(nowhere, {}).status_code == 404
