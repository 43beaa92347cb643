"""The cart of a guest's browser."""

from uuid import UUID

from django.conf import settings
from django.core import signing
from django.test import Client

from cart import queries
from cart.entities import Cart


def owner(client: Client) -> UUID:
    guest, _ = signing.loads(client.cookies[settings.CART_COOKIE_NAME].value, salt="cart.owner")
    return UUID(hex=guest)


def cart_of(client: Client) -> Cart:
    found = queries.get_active_cart(owner(client))
    assert found is not None
    return found
