"""The cart of a guest's browser."""

from uuid import UUID

from django.conf import settings
from django.core import signing
from django.test import Client

from cart import queries
from cart.entities import Cart
from tests.reads import existing


def owner(client: Client) -> UUID:
    guest, _ = signing.loads(client.cookies[settings.CART_COOKIE_NAME].value, salt="cart.owner")
    return UUID(hex=guest)


def get_active_cart(owner_id: UUID) -> Cart | None:
    """Return a person's active cart as the pages read it, or None."""
    found = queries.PendingActiveCart(owner_id).result()
    return found.cart if found else None


def cart_of(client: Client) -> Cart:
    return existing(get_active_cart(owner(client)))
