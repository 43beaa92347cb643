"""What the tests of carts share."""

import pytest

from catalogue.entities import Product
from tests.factories import make_product


@pytest.fixture
def teapot() -> Product:
    product = make_product("Teapot", stock=50)
    return product
