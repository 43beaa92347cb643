"""Products, categories and visitors that the tests of the shop window share."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client, override_settings

from catalogue.entities import CategoryNode, Product
from catalogue.search_index import build_index
from tests.factories import make_category, make_product, make_stock, make_user


@pytest.fixture(scope="session")
def leaf_category(keyspace: str) -> CategoryNode:
    """The third level of a tree, with 30 products on it: more than a page."""
    root = make_category("Kitchenware")
    leaf = make_category("Cups", parent=make_category("Tableware", parent=root))
    start = datetime.now(UTC) - timedelta(days=60)
    for place in range(30):
        then = start + timedelta(hours=place)
        make_product(
            f"Quaich {place:02}", price=f"{10 + place}.00", category=leaf, now=then, listed=True
        )
    return leaf


@pytest.fixture(scope="session")
def jug(keyspace: str) -> Product:
    """A jug in two colours and two sizes, of which one is sold out."""
    jug = make_product(
        "Stone Jug",
        price="40.00",
        compare_at="55.00",
        options={"Colour": ["Teal", "Oat"], "Size": ["Small", "Large"]},
    )
    for variant, units in zip(jug.variants, (9, 3, 0, 40), strict=True):
        if units:
            make_stock(units, product_id=jug.product_id, variant_id=variant.variant_id)
    return jug


@pytest.fixture
def index(jug: Product, leaf_category: CategoryNode, tmp_path: Path) -> Iterator[None]:
    with override_settings(SEARCH_INDEX_DIR=tmp_path):
        build_index()
        yield


@pytest.fixture
def member() -> Client:
    client = Client()
    client.force_login(make_user())
    return client
