"""The code in a cart. Whether it takes anything off is checked each time the cart is shown."""

from datetime import datetime
from uuid import UUID

from cart.access import EDIT, require_access
from cart.errors import NoSuchCart
from cassandra_db import SEND_AGAIN, conditional_write

SET_VOUCHER_CODE = conditional_write(
    "U1",
    """UPDATE items_by_cart SET voucher_code = :code, version = version + 1, changed_at = :now
       WHERE cart_id = :cart_id IF version > 0 AND deleted_at = null""",
)


def set_voucher(person_id: UUID | None, cart_id: UUID, code: str | None, now: datetime) -> None:
    """Put a code into a cart, instead of the one it has, or take it out with None.

    Raises NoSuchCart, NotAllowed, CassandraUnavailable.
    """
    require_access(person_id, cart_id, EDIT)
    # Sent a second time it sets the same.
    if not SET_VOUCHER_CODE.apply(if_lost=SEND_AGAIN, cart_id=cart_id, code=code or None, now=now):
        raise NoSuchCart
