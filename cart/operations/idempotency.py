"""Which cart a submit of "Add to cart" went to.

An idempotency key counts once in a cart. The active cart may be another when a submit is sent again, by a reload or after
a time-out: so the first call notes into which cart it puts units, and every other one goes there. That it counts once
there is checked by the batch that adds it (cart.operations.lines).
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
    """Return the cart that a submit goes to: the one that was active at its first call.

    If that has been deleted since, or is shared no more, it is `active`. Raises CassandraUnavailable.
    """
    # The key is stored without the person: a guest who signs in between two calls has another id, and the same carts.
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
