"""The target cart of a submit of "Add to cart".

An idempotency key counts once per cart. When a submit is repeated by a reload or after a time-out, another cart may be active. So the
first call stores its cart, and a repeat goes to the same cart, whose batch counts the key once (cart.operations.line_batches).
"""

from uuid import UUID

from cart import queries
from cart.operations.carts import ActiveCart, active_cart_from_row
from cassandra_db import applied_if, conditional_write, retry_attempts

DAY = 24 * 3600
MAX_ATTEMPTS = 5

INSERT_IDEMPOTENCY_KEY = conditional_write(
    "U1",
    "INSERT INTO carts_by_idempotency_key (idempotency_key, cart_id) VALUES (:idempotency_key, :cart_id) IF NOT EXISTS USING TTL :seconds",
)
REDIRECT_IDEMPOTENCY_KEY = conditional_write(
    "U1",
    "UPDATE carts_by_idempotency_key USING TTL :seconds SET cart_id = :cart_id WHERE idempotency_key = :idempotency_key IF cart_id = :was",
)


def resolve_target_cart(person_id: UUID, idempotency_key: UUID, active: ActiveCart) -> ActiveCart:
    """Return the target of a submit: the cart that was active at its first call.

    If that cart is deleted or no longer shared, return `active`. Raises CassandraUnavailable.
    """
    # The key is stored without the person's id, because a guest who signs in between two calls gets another id.
    cart_id = active.cart_id
    noted = INSERT_IDEMPOTENCY_KEY.apply(
        if_lost=applied_if(lambda row: row.cart_id == cart_id),
        idempotency_key=idempotency_key,
        cart_id=cart_id,
        seconds=DAY,
    )
    for _ in retry_attempts(MAX_ATTEMPTS):
        noted_id = noted.current.cart_id if not noted and noted.current else cart_id
        if noted_id is None or noted_id == cart_id:
            break
        if (listed := queries.get_listed_cart_row(person_id, noted_id)) is not None:
            return active_cart_from_row(listed)
        noted = REDIRECT_IDEMPOTENCY_KEY.apply(
            if_lost=applied_if(lambda row: row.cart_id == cart_id),
            idempotency_key=idempotency_key,
            cart_id=cart_id,
            was=noted_id,
            seconds=DAY,
        )
    return active
