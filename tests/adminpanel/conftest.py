"""Orders for the staff to work on, and Ann, who packs them, and Bea, who moves their money, too."""

from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import uuid4

import pytest
from django.test import Client

from accounts.addresses import Address
from accounts.models import User
from orders import operations
from orders.lifecycle.entities import Order
from orders.lifecycle.transitions import Transition
from orders.operations import OrderDraft
from pricing import tax
from tests.factories import (
    find_delivery_method,
    make_payment,
    make_product,
    make_user,
    sign_in_staff,
)

# Orders of other tests stand on the same board; these are older, so that they stand first.
_LONG_AGO = datetime(1999, 1, 1, 12, tzinfo=UTC)
_minutes = count()


def make_order_with_events(
    *moves: str,
    now: datetime | None = None,
    name: str = "Sam Shopper",
    email: str = "",
    quantity: int = 2,
) -> Order:
    """An order of one line, to which these things have happened since: "paid", "packed" …"""
    now = now or _LONG_AGO + timedelta(minutes=next(_minutes))
    product = make_product("Mug", options={"Colour": ["Olive"]}, stock=10)
    variant = product.variants[0]
    address = Address(
        name=name, street="Hauptstraße 1", postal_code="10115", city="Berlin", country="DE"
    )
    line = product.quote_line(variant, quantity)
    draft = OrderDraft(
        order_id=uuid4(),
        owner_id=uuid4(),
        user_id=None,
        email=email or f"sam-{uuid4().hex}@example.com",
        delivery_address=address,
        billing_address=address,
        method=find_delivery_method("DE", "standard"),
        tax_rates=tax.get_tax_rates("DE"),
        lines=(line,),
        cart_id=None,
        fingerprint="one mug",
    )
    order = operations.place_order(draft, now)
    for move in moves:
        if move == "paid":
            order = make_payment(order)
        else:
            order = operations.transition_order(
                order, Transition(move, actor="system", at=datetime.now(UTC))
            )
    return order


@pytest.fixture
def ann() -> User:
    return make_user("Ann", role="warehouse")


@pytest.fixture
def staff_client(client: Client, ann: User) -> Client:
    return sign_in_staff(client, ann)


@pytest.fixture
def cleo(client: Client) -> Client:
    """Cleo's browser: she edits the catalogue."""
    return sign_in_staff(client, make_user("Cleo", role="catalogue"))


@pytest.fixture
def will() -> Client:
    """Will's browser: he works in the warehouse."""
    return sign_in_staff(Client(), make_user("Will", role="warehouse"))


@pytest.fixture
def support_client() -> Client:
    """Bea's browser: of those who work on orders, support alone notes money and gives it back."""
    return sign_in_staff(Client(), make_user("Bea", role="support"))
