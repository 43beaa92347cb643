"""A cart that is being ordered: which checkout has it, so that no other one orders the same things beside it."""

from uuid import UUID

from cart.entities import Cart
from cart.errors import CartChanged
from cassandra_db import applied_if, conditional_write

# The version stays: the cart is what it was, and its checkout's id is made of it.
ASSIGN_CHECKOUT = conditional_write(
    "U1",
    """UPDATE items_by_cart SET checkout_id = :checkout_id, checkout_number = :number
       WHERE cart_id = :cart_id IF version = :version AND checkout_id = :seen AND deleted_at = null""",
)


def claim_cart_for_checkout(cart: Cart, checkout_id: UUID, number: int) -> UUID:
    """Let a checkout have a cart as it was read, and return the checkout that has it: this one, or who was faster.

    Doing it again changes nothing. `number` is how many of the cart's checkouts have ended without payment.
    Raises CartChanged when it is not as it was read any more, CassandraUnavailable.
    """
    taken = ASSIGN_CHECKOUT.apply(
        if_lost=applied_if(
            lambda row: row.checkout_id == checkout_id and row.version == cart.version
        ),
        cart_id=cart.cart_id,
        checkout_id=checkout_id,
        number=number,
        version=cart.version,
        seen=cart.checkout_id,
    )
    if taken:
        return checkout_id
    there = taken.current
    if (
        there is None
        or there.version != cart.version
        or there.deleted_at is not None
        or there.checkout_id is None
    ):
        raise CartChanged
    other: UUID = there.checkout_id
    return other
