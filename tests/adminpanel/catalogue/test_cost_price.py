"""What a unit costs the shop: typed on the product's page and in files, and seen by those alone who edit products."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from moneyed import EUR, USD, Money

from catalogue.errors import ProductRefused
from catalogue.operations import save_product
from catalogue.search_index import build_index
from spreadsheets.entities import FileRow
from spreadsheets.files import csv_line, open_table
from spreadsheets.layouts import LAYOUTS
from spreadsheets.products import plan_products, product_lines
from tests.adminpanel.catalogue.product_page import address, stored, typed
from tests.factories import make_product


def test_x527_a_cost_price_is_saved_with_the_product_and_refused_in_its_cell(cleo: Client) -> None:
    product = make_product(options={"Size": ["S", "L"]}, listed=True)
    cells = {"variant-0-cost_price": "3.71", "variant-1-cost_price": ""}
    assert cleo.post(address(product), typed(product, cells)).status_code == 303
    saved = stored(product.product_id)
    assert [each.cost_price for each in saved.variants] == [Money("3.71", EUR), None]
    page = " ".join(cleo.get(address(product)).content.decode().split())
    assert 'name="variant-0-cost_price" value="3.71"' in page
    for text, said in (
        ("3.7155", "at most two decimals"),
        ("-1", "above 0"),
        ("0", "above 0"),
        ("2000000", "1000000 at most"),
        ("cheap", "Enter a price, such as 12.50"),
    ):
        refused = cleo.post(address(product), typed(saved, {"variant-1-cost_price": text}))
        assert (refused.status_code, said in refused.content.decode()) == (422, True), text
    assert stored(product.product_id) == saved
    # A page that was opened before the cost price was typed is stale.
    stale = cleo.post(address(product), typed(product, name="Other"))
    assert stale.status_code == 409
    # A new combination costs what its neighbour does.
    options = {"option-0-name": "Size", "option-0-values": "S, L, XL"}
    cleo.post(address(product), typed(saved, options, act="variants"))
    cleo.post(address(product), typed(saved, options))
    assert [each.cost_price for each in stored(product.product_id).variants if each.sold][0::2] == [
        Money("3.71", EUR)
    ] * 2


def test_x527_a_product_is_not_saved_with_an_impossible_cost_price() -> None:
    product = make_product()
    for cost, field in ((Money(0, EUR), "cost_price"), (Money(3, USD), "price")):
        variants = (replace(product.variants[0], cost_price=cost),)
        with pytest.raises(ProductRefused) as refused:
            save_product(replace(product, variants=variants), datetime.now(UTC))
        assert refused.value.field == field


def _planned(product: Any, cost: str) -> Any:
    layout = LAYOUTS["products"]
    (line,) = product_lines(product)
    line[layout.head.index("cost_price")] = cost
    content = b"".join(map(csv_line, [layout.head, line]))
    table = open_table(io.BytesIO(content), layout.head)
    cells = dict(zip(table.head, next(table.lines)[1], strict=True))
    row = FileRow(0, product.slug, ((2, cells),))
    (planned,) = plan_products([row], uuid4(), datetime.now(UTC))
    return planned


def test_x527_a_file_of_products_has_cost_prices(cleo: Client) -> None:
    product = make_product()
    planned = _planned(product, "4.80")
    assert [(each.column, each.before, each.after) for each in planned.changes] == [
        ("cost_price", "", "4.80")
    ]
    for text, said in (("0", "above 0"), ("4,8055", "two decimals"), ("free", "Enter a price")):
        (fault,) = _planned(product, text).faults
        assert (fault.column, said in fault.text) == ("cost_price", True), text
    # Prices go out to whoever sells; they are no secret, what a thing costs the shop is.
    assert "cost_price" not in LAYOUTS["prices"].head


@pytest.fixture
def product_at_cost(cleo: Client) -> Any:
    product = make_product("Costly mug", options={"Size": ["S", "L"]}, listed=True, stock=3)
    cells = {"variant-0-cost_price": "7.93", "variant-1-cost_price": "7.93"}
    assert cleo.post(address(product), typed(product, cells)).status_code == 303
    build_index([stored(product.product_id)])
    return stored(product.product_id)


def test_x527_nobody_but_who_edits_products_sees_a_cost_price(
    product_at_cost: Any, cleo: Client, will: Client
) -> None:
    product, shopper = product_at_cost, Client()
    assert "7.93" in cleo.get(address(product)).content.decode()
    sku = product.variants[0].sku
    added = {"variant": sku, "quantity": "1", "operation": str(uuid4())}
    assert shopper.post(reverse("cart:add"), added).status_code in (302, 303)
    pages = {
        "product": reverse("product", args=(product.slug,)),
        "variant": f"{reverse('product', args=(product.slug,))}?variant={sku}",
        "search": f"{reverse('search')}?q=costly",
        "cart": reverse("cart:show"),
    }
    for name, page in pages.items():
        answer = shopper.get(page)
        text = answer.content.decode()
        assert (answer.status_code, product.name in text) == (200, True), name
        assert ("7.93" in text, "cost_price" in text) == (False, False), name
    assert will.get(address(product)).status_code == 403
    assert will.get(reverse("adminpanel:stock_value")).status_code == 403
    assert will.get(reverse("adminpanel:attention")).status_code == 403
    stock = will.get(reverse("adminpanel:product_stock", args=[product.product_id]))
    assert (stock.status_code, "7.93" in stock.content.decode()) == (200, False)
    assert "Stock value" not in will.get(reverse("adminpanel:stock")).content.decode()
    assert "Stock value" in cleo.get(reverse("adminpanel:stock")).content.decode()
    assert "catalogue" in LAYOUTS["products"].roles
    assert "warehouse" not in LAYOUTS["products"].roles
