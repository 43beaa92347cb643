"""What the tests of carts share."""

import pytest

from catalogue.entities import Product
from tests.factories import make_product


@pytest.fixture
def teapot() -> Product:
    return make_product("Teapot", stock=50)
