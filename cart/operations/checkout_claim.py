"""A cart that is being ordered: which checkout has claimed it, so that no other one orders the same lines as well."""

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
    """Claim a cart, as it was read, for a checkout, and return the checkout that has it: this one, or one that was faster.

    Doing it again changes nothing. `number` is how many of the cart's checkouts have ended without payment.
    Raises CartChanged when the cart has changed since it was read, CassandraUnavailable.
    """
    outcome = ASSIGN_CHECKOUT.apply(
        if_lost=applied_if(
            lambda row: row.checkout_id == checkout_id and row.version == cart.version
        ),
        cart_id=cart.cart_id,
        checkout_id=checkout_id,
        number=number,
        version=cart.version,
        seen=cart.checkout_id,
    )
    if outcome:
        return checkout_id
    current = outcome.current
    if (
        current is None
        or current.version != cart.version
        or current.deleted_at is not None
        or current.checkout_id is None
    ):
        raise CartChanged
    other: UUID = current.checkout_id
    return other
