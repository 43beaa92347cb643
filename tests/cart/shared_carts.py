"""A shared cart for tests: its owner, and people in it in each role."""

import re
from datetime import UTC, datetime
from uuid import UUID, uuid4

from django.urls import reverse

from accounts.models import User
from cart import operations, people, queries
from cart.operations import sharing
from cart.people import CartUser
from tests.cart.products import make_mug
from tests.factories import make_user

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def as_cart_user(user: User) -> CartUser:
    """Return a user as a cart's member."""
    return CartUser(user.user_id, user.name, user.email)


def make_shared_cart(owner: User, name: str = "Gifts for Mom", *, mugs: int = 1) -> UUID:
    """Make an active cart of the owner's with some mugs in it."""
    cart_id = operations.create_cart(owner.user_id, name, uuid4(), NOW)
    if mugs:
        product = make_mug()
        operations.add_line(owner.user_id, product, product.variants[0], mugs, uuid4(), NOW)
    return cart_id


def make_person(owner: User, cart_id: UUID, role: str, *, name: str = "Ben") -> User:
    """Make a member who was invited into the cart in a role, and has accepted."""
    user = make_user(name)
    made = sharing.invite_person(as_cart_user(owner), cart_id, user.email, role, datetime.now(UTC))
    assert sharing.accept_invitation(made.token, as_cart_user(user), datetime.now(UTC)) == cart_id
    return user


def list_cart_names(user_id: UUID) -> list[str]:
    """Return the names of the carts on a person's list."""
    return sorted(row.cart_name for row in queries.CARTS.all(owner_id=user_id) if row.cart_id)


def get_row_count(cart_id: UUID) -> int:
    """Return the table's row count; it must equal the number of rows."""
    rows = people.PEOPLE.all(cart_id=cart_id)
    count = rows[0].row_count or 0
    assert count == sum(1 for row in rows if row.key is not None)
    return int(count)


def find_invitation_token(text: str) -> str:
    """Return the token of the first invitation in a mail."""
    path = reverse("cart:invitation", args=["-"]).partition("-")[0]
    found = re.search(rf"{re.escape(path)}([^/\s]+)/", text)
    assert found, text
    return found[1]
