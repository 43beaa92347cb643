"""Claims a cart for a checkout, so that no other checkout orders the same lines."""

from uuid import UUID

from cart.entities import Cart
from cart.errors import CartChanged
from cassandra_db import applied_if, conditional_write

# The cart's version stays the same, because the checkout's id is made of it.
ASSIGN_CHECKOUT = conditional_write(
    "U1",
    """UPDATE items_by_cart SET checkout_id = :checkout_id, checkout_number = :number
       WHERE cart_id = :cart_id IF version = :version AND checkout_id = :seen AND deleted_at = null""",
)


def claim_cart_for_checkout(cart: Cart, checkout_id: UUID, number: int) -> UUID:
    """Claim a cart for a checkout. Return the id of the checkout that has the claim: this one, or one that was faster.

    A second call changes nothing. `number` counts the cart's checkouts that have ended without payment. Raises CartChanged
    if the cart has changed since it was read. Also raises CassandraUnavailable.
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
