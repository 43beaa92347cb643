"""Renaming a cart: in its owner's list first, then in the lists of its people."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from cart import people, queries
from cart.access import OWN, require_access
from cart.errors import CartBusy, NameTaken, NoSuchCart
from cart.names import clean_name, free_name, name_key
from cart.operations.carts import CART, DELETE_CART, MAX_ATTEMPTS
from cassandra_db import SEND_AGAIN, Row, applied_if, apply_batch, conditional_write, retry_attempts

UPDATE_NAME_SPELLING = conditional_write(
    "K1",
    "UPDATE carts_by_user SET cart_name = :name WHERE owner_id = :owner_id AND name_key = :name_key IF cart_id = :cart_id",
)
UPDATE_SHARED_NAME = conditional_write(
    "sharing",
    "UPDATE people_by_cart SET cart_name = :name WHERE cart_id = :cart_id IF row_count > 0",
)
# The page of a shared cart polls the version, so that it shows the new name.
INCREMENT_VERSION = conditional_write(
    "sharing",
    "UPDATE items_by_cart SET version = version + 1 WHERE cart_id = :cart_id IF version > 0",
)


def rename_cart(person_id: UUID, cart_id: UUID, name: str, now: datetime) -> str:
    """Rename a person's own cart, also for the people with whom it is shared; return the stored name.

    If such a person has another cart of that name, the shared cart's name gets a number on their list. A second call
    finishes an interrupted one. Raises NoSuchCart, NotAllowed, InvalidCartName, NameTaken, CartBusy, CassandraUnavailable.
    """
    name = clean_name(name)
    require_access(person_id, cart_id, OWN)
    _rename_in_list(person_id, cart_id, name, own=True)
    if UPDATE_SHARED_NAME.apply(
        if_lost=applied_if(lambda row: row.row_count is not None), cart_id=cart_id, name=name
    ):
        for person in people.get_people(cart_id).people:
            _rename_in_list(person.user_id, cart_id, name, own=False)
        INCREMENT_VERSION.apply(if_lost=SEND_AGAIN, cart_id=cart_id)
    return name


def _rename_in_list(person_id: UUID, cart_id: UUID, name: str, *, own: bool) -> None:
    """Write the cart's new name into one person's list. A taken name is refused in the owner's list; otherwise it gets a number."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id)
        row = next((row for row in carts if row.cart_id == cart_id), None)
        if row is None:
            if own:
                raise NoSuchCart
            return
        others = {each.name_key for each in carts if each.name_key and each.cart_id != cart_id}
        if own and name_key(name) in others:
            raise NameTaken(name)
        free = free_name(name, others)
        if row.cart_name == free:
            return
        where = {"owner_id": person_id, "cart_id": cart_id}
        if row.name_key == name_key(free):
            UPDATE_NAME_SPELLING.apply(
                if_lost=SEND_AGAIN, name_key=row.name_key, name=free, **where
            )
        else:
            renamed = CART.bind(
                name_key=name_key(free),
                name=free,
                created_at=row.created_at,
                activated_at=row.activated_at,
                role=row.role,
                shared_by=row.shared_by,
                **where,
            )
            apply_batch(
                DELETE_CART.bind(name_key=row.name_key, **where),
                renamed,
                if_lost=applied_if(_is_cart_row(cart_id, free)),
            )
    raise CartBusy


def _is_cart_row(cart_id: UUID, name: str) -> Callable[[Row], bool]:
    return lambda row: bool(getattr(row, "cart_id", None) == cart_id and row.cart_name == name)
