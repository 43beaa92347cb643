"""A cart of a thousand lines: its page is rendered, and the header of all other pages costs no more."""

import re
from datetime import UTC, datetime
from html import unescape
from time import time_ns
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from cart import operations, queries
from cart.errors import CartFull
from cart.limits import MAX_LINES
from cart.pages import MAX_LINES_DRAWN
from cassandra_db import write_batch
from cassandra_db.session import get_session
from catalogue.entities import Product
from inventory.operations.stock_copies import COPY
from tests.cart.products import add_all, make_mug
from tests.factories import make_product
from tests.threads import map_at_once

PRODUCTS = 125
SIZES = tuple(f"{number} ml" for number in range(100, 900, 100))
# The list of carts in parallel with the lines; then the products, a hundred at a time, in parallel with the header's sums.
MAX_ROUNDS = 1 + -(-PRODUCTS // 100)
# Without compression. A submit answers with the cart's part of the page, too.
MAX_BYTES, MAX_BYTES_OF_ALL = 400_000, 4_000_000


@pytest.fixture(scope="module")
def products(keyspace: str) -> list[Product]:
    """A hundred and twenty-five products in eight sizes, all of them in stock."""
    found = [make_product(f"Mug {number}", options={"Size": SIZES}) for number in range(PRODUCTS)]
    stock = {"warehouse_id": "berlin", "available": 9, "threshold": 3, "read_at": time_ns() // 1000}
    for product in found:
        # The copy alone, which is all that a cart reads of stock.
        row = {"product_id": product.product_id, **stock}
        write_batch(
            [COPY.bind(variant_id=variant.variant_id, **row) for variant in product.variants]
        )
    return found


def guest_with(lines: list[Product]) -> tuple[Client, UUID]:
    """Return a guest whose cart has a line of each variant of these products, and the cart's id."""
    client = Client()
    first = lines[0].variants[0]
    assert client.post("/cart/add/", {"variant": first.sku, "quantity": "1"}).status_code == 303
    cart_id = _cart_of(client)
    add_all(
        cart_id,
        [(product, each) for product in lines for each in product.variants if each is not first],
    )
    return client, cart_id


def _cart_of(client: Client) -> UUID:
    found = re.search(r'name="cart" value="([0-9a-f-]{36})"', client.get("/cart/").content.decode())
    assert found
    return UUID(found[1])


def counted(client: Client, path: str) -> dict[str, int]:
    """Return what a page costs in Cassandra, once the process has read what it reads once."""
    client.get(path)
    counts = client.get(path)["X-Cassandra"]
    return {name: int(value) for name, value in (part.split("=") for part in counts.split(", "))}


def test_x45_the_page_of_a_cart_with_a_thousand_lines(products: list[Product]) -> None:
    client, cart_id = guest_with(products)
    cart = queries.get_cart(cart_id)
    assert (cart.line_count, len(cart.lines), cart.item_count) == (MAX_LINES, MAX_LINES, MAX_LINES)
    answer = client.get("/cart/")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert text.count("data-row") == MAX_LINES_DRAWN
    assert f"Showing the first {MAX_LINES_DRAWN} of {MAX_LINES} items" in text
    assert "€12,000.00" in text, "all of them count"
    assert len(answer.content) < MAX_BYTES
    assert counted(client, "/cart/")["rounds"] <= MAX_ROUNDS
    answer = client.get("/cart/?all=1")
    assert answer.content.decode().count("data-row") == MAX_LINES
    assert len(answer.content) < MAX_BYTES_OF_ALL


def test_x45_a_cart_with_a_thousand_lines_takes_no_more_and_says_so(
    products: list[Product],
) -> None:
    client, cart_id = guest_with(products)
    other = make_product("One too many", stock=9)
    answer = client.post("/cart/add/", {"variant": other.variants[0].sku, "quantity": "1"})
    assert answer.status_code == 422
    assert str(CartFull(MAX_LINES)) in unescape(answer.content.decode())
    # More units of an existing line are still possible.
    answer = client.post("/cart/add/", {"variant": products[3].variants[2].sku, "quantity": "2"})
    assert answer.status_code == 303
    assert queries.get_cart(cart_id).item_count == MAX_LINES + 2


def test_a_thousand_adds_fill_a_cart_and_the_next_one_is_refused() -> None:
    owner, sizes = uuid4(), tuple(map(str, range(MAX_LINES + 1)))
    product = make_mug(sizes=sizes)
    cart_id = operations.add_line(
        owner, product, product.variants[0], 1, uuid4(), datetime.now(UTC)
    ).cart_id
    add_all(cart_id, [(product, each) for each in product.variants[1 : MAX_LINES - 4]])

    def add(variant: Any) -> bool:
        try:
            operations.add_line(owner, product, variant, 1, uuid4(), datetime.now(UTC))
        except CartFull:
            return False
        return True

    added = map_at_once(add, product.variants[-5:], 5)
    assert sum(added) == 4, "four places were left for five"
    cart = queries.get_cart(cart_id)
    assert (cart.line_count, len(cart.lines), cart.item_count) == (MAX_LINES, MAX_LINES, MAX_LINES)


def test_the_header_costs_the_same_with_a_thousand_lines(products: list[Product]) -> None:
    small, _ = guest_with(products[:1])
    large, _ = guest_with(products)
    nobody = counted(Client(), "/")
    assert counted(large, "/") == counted(small, "/")
    assert counted(large, "/")["statements"] == nobody["statements"] + 2, (
        "the list of carts, and one static row"
    )
    assert counted(large, "/")["rounds"] <= 2


def test_the_header_reads_one_row_whatever_lies_behind_it() -> None:
    """The sums' read stops at the row that sorts first: neither lines nor a thousand old idempotency rows cost it anything."""
    owner, product = uuid4(), make_mug(sizes=tuple(map(str, range(100))))
    cart_id = operations.add_line(
        owner, product, product.variants[0], 1, uuid4(), datetime.now(UTC)
    ).cart_id
    operations.remove_line(owner, cart_id, str(product.variants[0].variant_id), datetime.now(UTC))
    plain = get_session()
    delete = plain.prepare(
        "DELETE FROM items_by_cart WHERE cart_id = ? AND kind = 'op' AND key = ?"
    )
    for _ in range(10):
        write_batch([delete.bind((cart_id, str(uuid4()))) for _ in range(100)])
    reading = plain.execute_async(queries.SUMS.bind(cart_id=cart_id), trace=True)
    reading.result()
    trace = reading.get_query_trace(max_wait=10)
    assert trace
    descriptions = [
        event.description
        for event in trace.events
        if re.match("Read .* live rows", event.description)
    ]
    assert descriptions == ["Read 2 live rows and 0 tombstone cells"], (
        "the static row, and the row that sorts first"
    )
