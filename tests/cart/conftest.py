"""What the tests of carts share."""

import pytest

from catalogue.entities import Product
from tests.factories import make_product, make_stock


@pytest.fixture
def teapot() -> Product:
    product = make_product("Teapot")
    make_stock(50, product_id=product.product_id, variant_id=product.variants[0].variant_id)
    return product
