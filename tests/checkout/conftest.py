"""Shoppers for the checkout."""

import pytest

from catalogue.entities import Product
from tests.checkout.shopper import Shopper


@pytest.fixture
def shopper(mug: Product) -> Shopper:
    """A guest with a mug in the cart."""
    return Shopper((mug, 1))
