"""The code in a cart. Each page of the cart checks whether it gives a discount."""

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
    """Set a cart's code, or remove it with None. Raises NoSuchCart, NotAllowed, CassandraUnavailable."""
    require_access(person_id, cart_id, EDIT)
    # A repeated write has the same effect.
    if not SET_VOUCHER_CODE.apply(if_lost=SEND_AGAIN, cart_id=cart_id, code=code or None, now=now):
        raise NoSuchCart
