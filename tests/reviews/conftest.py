"""A product to review, and a browser from a network of its own: of one network's reviews only some appear at once."""

from random import Random

import pytest
from django.test import Client

from catalogue.entities import Product
from tests.factories import make_product

_random = Random()


@pytest.fixture
def client() -> Client:
    return Client(REMOTE_ADDR=f"198.51.{_random.randrange(256)}.{_random.randrange(256)}")


@pytest.fixture
def product() -> Product:
    return make_product("Jug")
