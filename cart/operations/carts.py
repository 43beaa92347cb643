"""Every write to a person's list of carts: one function a command, each one conditional batch in the person's partition."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4, uuid5

from cassandra.query import BoundStatement
from django.conf import settings

from cart import queries
from cart.access import OWN, VIEW, require_access
from cart.errors import CartBusy, NameTaken, NoSuchCart, TooManyCarts, UndoExpired
from cart.limits import MAX_CARTS
from cart.names import adopted_name, clean_name, default_name, free_name, name_key
from cart.queries import find_active_cart_row
from cart.undo import Undo
from cassandra_db import (
    RAISE_UNKNOWN,
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    Row,
    UnknownOutcome,
    applied_if,
    apply_batch,
    conditional_write,
    retry_attempts,
)

# How often a batch is tried again when others changed the carts meanwhile.
MAX_ATTEMPTS = 30
FIRST_CART = conditional_write(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :active, cart_count = 1 WHERE owner_id = :owner_id IF cart_count = null",
)
ANOTHER_CART = conditional_write(
    "K1",
    "UPDATE carts_by_user SET cart_count = cart_count + 1 WHERE owner_id = :owner_id IF cart_count < :most",
)
ANOTHER_ACTIVE_CART = conditional_write(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :active, cart_count = cart_count + 1 WHERE owner_id = :owner_id IF cart_count < :most",
)
CART = conditional_write(
    "K1",
    """INSERT INTO carts_by_user (owner_id, name_key, cart_id, cart_name, created_at, activated_at, role, shared_by)
       VALUES (:owner_id, :name_key, :cart_id, :name, :created_at, :activated_at, :role, :shared_by) IF NOT EXISTS""",
)
ONE_CART_LESS = conditional_write(
    "K1",
    "UPDATE carts_by_user SET active_cart_id = :active, cart_count = cart_count + -1 WHERE owner_id = :owner_id IF active_cart_id = :was",
)
DELETE_CART = conditional_write(
    "K1",
    "DELETE FROM carts_by_user WHERE owner_id = :owner_id AND name_key = :name_key IF cart_id = :cart_id",
)
# The condition is the cart's own row: one on the active cart alone would make a deleted one active.
SWITCH_CART = conditional_write(
    "U2",
    """UPDATE carts_by_user SET active_cart_id = :cart_id, activated_at = :now
       WHERE owner_id = :owner_id AND name_key = :name_key IF cart_id = :cart_id""",
)
INSERT_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = 1, line_count = 0, item_count = 0, subtotal = 0, later_count = 0, currency = :currency,
              changed_at = :now, owner_id = :owner_id, guest = :guest, added_at = :now
       WHERE cart_id = :cart_id AND kind = '' AND key = '' IF version = null""",
)
SET_OWNER = conditional_write(
    "K1",
    """UPDATE items_by_cart SET owner_id = :owner_id, guest = :guest, deleted_at = null, version = version + 1
       WHERE cart_id = :cart_id IF version > 0""",
)
MARK_DELETED = conditional_write(
    "K1",
    """UPDATE items_by_cart SET deleted_at = :now, owner_id = :owner_id, version = version + 1 WHERE cart_id = :cart_id
       IF version > 0 AND deleted_at = null""",
)
MARK_EMPTY_DELETED = conditional_write(
    "K1",
    """UPDATE items_by_cart SET deleted_at = :now, version = version + 1 WHERE cart_id = :cart_id
       IF line_count = 0 AND later_count = 0 AND deleted_at = null""",
)
UNMARK_DELETED = conditional_write(
    "K1",
    """UPDATE items_by_cart SET deleted_at = null, changed_at = :now, version = version + 1 WHERE cart_id = :cart_id
       IF deleted_at > :never AND owner_id = :owner_id""",
)
NEVER = datetime(2000, 1, 1)  # noqa: DTZ001 Cassandra's timestamps have no zone


@dataclass(frozen=True)
class ActiveCart:
    """A person's active cart, and the `rows` of the list in which it was found; one that was made just now is in none."""

    cart_id: UUID
    cart_name: str
    role: str
    created_at: datetime
    rows: tuple[Row, ...] = ()
    is_new: bool = False


@dataclass(frozen=True)
class ClaimedCarts:
    """What came of a login: the names of the carts that moved, and how many exceeded the limit and are still the guest's."""

    names: tuple[str, ...] = ()
    unadopted_count: int = 0


def create_cart(
    person_id: UUID, name: str, idempotency_key: UUID, now: datetime, *, guest: bool = False
) -> UUID:
    """Make an empty cart of this name, make it the active one and return its id.

    The same `idempotency_key` makes one cart. Raises InvalidCartName, NameTaken, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    name = clean_name(name)
    cart_id = created_cart_id(person_id, idempotency_key)
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id)
        if any(row.cart_id == cart_id for row in carts):
            return cart_id
        if getattr(queries.SUMS.one(cart_id=cart_id), "deleted_at", None):
            raise NoSuchCart  # made by the first submit, and deleted since
        if any(row.name_key == name_key(name) for row in carts):
            raise NameTaken(name)
        initialize_cart(cart_id, person_id, now, guest=guest)
        if _insert_cart(person_id, carts, cart_id, name, now, now, activate=True):
            return cart_id
    raise CartBusy


def created_cart_id(person_id: UUID, idempotency_key: UUID) -> UUID:
    """Return the id of the cart that a submit makes. A browser chooses the key, but reaches no cart of others with it."""
    return uuid5(person_id, f"cart:{idempotency_key}")


def switch_cart(person_id: UUID, cart_id: UUID, now: datetime) -> str:
    """Make a cart the active one (U2) and return its name. Raises NoSuchCart, CartBusy, CassandraUnavailable."""
    require_access(person_id, cart_id, VIEW)
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = queries.get_listed_cart_row(person_id, cart_id)
        if row is None:
            raise NoSuchCart
        # Sent twice, it does the same once more.
        if SWITCH_CART.apply(
            if_lost=SEND_AGAIN, owner_id=person_id, name_key=row.name_key, cart_id=cart_id, now=now
        ):
            return str(row.cart_name)
    raise CartBusy


def delete_cart(person_id: UUID, cart_id: UUID, now: datetime) -> Undo:
    """Delete a person's own cart, and return what brings it back within a day.

    It is marked first, so that an add at the same moment is refused and goes to the cart that is active then. If it
    was the active one, the one that was active before it becomes active.
    Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable.
    """
    found = require_access(person_id, cart_id, OWN)
    initialize_cart(cart_id, person_id, now)
    MARK_DELETED.apply(
        if_lost=applied_if(lambda row: row.deleted_at is not None),
        cart_id=cart_id,
        owner_id=person_id,
        now=now,
    )
    was_active = remove_cart_from_list(person_id, cart_id)
    return Undo("delete", person_id, cart_id, found.name, is_active=was_active)


def undelete_cart(person_id: UUID, undo: Undo, now: datetime) -> str:
    """Bring a deleted cart back and return its name, which gets a number if it is taken by now.

    A second call does nothing. Raises UndoExpired, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    sums = queries.SUMS.one(cart_id=undo.cart_id)
    if (
        undo.person_id != person_id
        or sums is None
        or sums.version is None
        or sums.owner_id != person_id
    ):
        raise UndoExpired
    for _ in retry_attempts(MAX_ATTEMPTS):
        # Listed first and unmarked then: a crash in between leaves a cart that is both, which the nightly job unmarks.
        # An add that finds it still marked may take it off the list again: so the list is read once more.
        name = add_cart_to_list(person_id, undo.cart_id, undo.name, now)
        UNMARK_DELETED.apply(
            if_lost=applied_if(lambda row: row.deleted_at is None),
            cart_id=undo.cart_id,
            owner_id=person_id,
            never=NEVER,
            now=now,
        )
        if queries.get_listed_cart_row(person_id, undo.cart_id):
            if undo.is_active:
                switch_cart(person_id, undo.cart_id, now)
            return name
    raise CartBusy


def add_cart_to_list(
    person_id: UUID,
    cart_id: UUID,
    wanted: str,
    now: datetime,
    *,
    created_at: datetime | None = None,
    role: str = "",
    shared_by: str = "",
    activate: bool = False,
) -> str:
    """Put a cart on a person's list under this name, or one with a number, and return the name it has there.

    One that is listed already keeps its name. Raises TooManyCarts, CartBusy, CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id)
        if mine := next((row for row in carts if row.cart_id == cart_id), None):
            return str(mine.cart_name)
        name = free_name(wanted, {row.name_key for row in carts if row.name_key})
        if _insert_cart(
            person_id,
            carts,
            cart_id,
            name,
            created_at or now,
            now,
            activate=activate,
            role=role,
            shared_by=shared_by,
        ):
            return name
    raise CartBusy


def remove_cart_from_list(person_id: UUID, cart_id: UUID, following: UUID | None = None) -> bool:
    """Take a cart off a person's list, and return whether it was the active one. Its lines stay as they are.

    `following` becomes active then, if it is on the list; else the cart that was active last.
    Raises CartBusy, CassandraUnavailable.
    """
    was_active = False
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id)
        row = next((row for row in carts if row.cart_id == cart_id), None)
        if row is None:
            return was_active
        was_active = was_active or row.active_cart_id == cart_id
        less = ONE_CART_LESS.bind(
            owner_id=person_id,
            active=_next_active_cart_id(carts, cart_id, following),
            was=row.active_cart_id,
        )
        # A deleted row leaves no id by which a lost answer could be resolved; reading the carts again does it.
        with suppress(UnknownOutcome):
            if apply_batch(
                less,
                DELETE_CART.bind(owner_id=person_id, name_key=row.name_key, cart_id=cart_id),
                if_lost=RAISE_UNKNOWN,
            ):
                return was_active
    raise CartBusy


def drop_closed_cart(person_id: UUID, cart: ActiveCart, now: datetime) -> None:
    """Take a cart that accepts nothing any more off a person's list, unless it was brought back at this moment.

    Raises TooManyCarts, CartBusy, CassandraUnavailable.
    """
    was_active = remove_cart_from_list(person_id, cart.cart_id)
    sums = queries.SUMS.one(cart_id=cart.cart_id)
    if not cart.role and sums is not None and sums.version is not None and sums.deleted_at is None:
        add_cart_to_list(
            person_id,
            cart.cart_id,
            cart.cart_name,
            now,
            created_at=cart.created_at,
            activate=was_active,
        )


def claim_guest_carts(
    guest_id: UUID, user_id: UUID, now: datetime, device: str = "device"
) -> ClaimedCarts:
    """Make a guest's carts the member's, as carts of their own: nothing is merged, nothing lost.

    A name that the guest gave stays if it is free; else the cart is called by where it comes from: "From your phone,
    21 November". An empty one without a name of its own vanishes. If the member's active cart is empty, or there is
    none, the guest's active one takes its place. Each cart is written to the member first and then taken from the
    guest, so a crash in between leaves it with both, and the next call goes on from there. Carts beyond the limit
    stay the guest's (`unadopted_count`). Raises CartBusy, CassandraUnavailable.
    """
    names = []
    left = 0
    for cart in _iterate_all_carts(guest_id):
        if cart.name_key.startswith(name_key(default_name())) and _close_if_empty(
            cart.cart_id, now
        ):
            remove_cart_from_list(guest_id, cart.cart_id)
            if not _has_lines(cart.cart_id):
                continue
            # Another tab has added something in between.
        name = _adopt(guest_id, user_id, cart, now, device)
        if name is None:
            add_cart_to_list(guest_id, cart.cart_id, cart.cart_name, now)
            left += 1
            continue
        names.append(name)
        remove_cart_from_list(guest_id, cart.cart_id)
    return ClaimedCarts(tuple(names), left)


def get_or_create_active_cart(
    person_id: UUID, now: datetime, rows: list[Row] | None = None
) -> ActiveCart:
    """Return the active cart, making one if there is none. `rows` is the person's list of carts, if it was read already.

    Raises TooManyCarts, CartBusy, CassandraUnavailable.
    """
    cart_id = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id) if rows is None else rows
        rows = None
        if found := find_active_cart_row(carts):
            return active_cart_from_row(found, carts)
        name = free_name(default_name(), {row.name_key for row in carts if row.name_key})
        if _insert_cart(person_id, carts, cart_id, name, now, now, activate=True):
            return ActiveCart(cart_id, name, "", now, is_new=True)
    raise CartBusy


def active_cart_from_row(row: Row, rows: Iterable[Row] = ()) -> ActiveCart:
    """Return the row of a cart, which stands among `rows`, as the active cart."""
    return ActiveCart(row.cart_id, row.cart_name, row.role or "", row.created_at, tuple(rows))


def initialize_cart(cart_id: UUID, owner_id: UUID, now: datetime, *, guest: bool = False) -> None:
    """Write the sums and the owner of a new cart, if they are not there yet.

    Raises CassandraUnavailable.
    """
    INSERT_SUMS.apply(
        if_lost=REFUSED_MEANS_DONE,
        cart_id=cart_id,
        owner_id=owner_id,
        guest=guest,
        currency=settings.CURRENCY,
        now=now,
    )


def _insert_cart(
    owner_id: UUID,
    carts: list[Row],
    cart_id: UUID,
    name: str,
    created_at: datetime,
    now: datetime,
    *,
    activate: bool,
    role: str = "",
    shared_by: str = "",
) -> bool:
    """Write a cart's row, given the owner's other carts as read. False if these have changed. Raises TooManyCarts."""
    count = carts[0].cart_count if carts else None
    if count is not None and count >= MAX_CARTS:
        raise TooManyCarts(MAX_CARTS)
    if count is None:
        count_update = FIRST_CART.bind(owner_id=owner_id, active=cart_id if activate else None)
    elif activate:
        count_update = ANOTHER_ACTIVE_CART.bind(owner_id=owner_id, most=MAX_CARTS, active=cart_id)
    else:
        count_update = ANOTHER_CART.bind(owner_id=owner_id, most=MAX_CARTS)
    row = _cart_row(owner_id, cart_id, name, created_at, now if activate else None, role, shared_by)
    return bool(apply_batch(count_update, row, if_lost=applied_if(_is_cart_row(cart_id, name))))


def _cart_row(
    owner_id: UUID,
    cart_id: UUID,
    name: str,
    created_at: datetime,
    activated_at: datetime | None,
    role: str | None,
    shared_by: str | None,
) -> BoundStatement:
    return CART.bind(
        owner_id=owner_id,
        name_key=name_key(name),
        cart_id=cart_id,
        name=name,
        created_at=created_at,
        activated_at=activated_at,
        role=role or "",
        shared_by=shared_by or "",
    )


def _is_cart_row(cart_id: UUID, name: str) -> Callable[[Row], bool]:
    def mine(row: Row) -> bool:
        return getattr(row, "cart_id", None) == cart_id and row.name_key == name_key(name)

    return mine


def _next_active_cart_id(carts: list[Row], removed: UUID, following: UUID | None) -> UUID | None:
    """Return which cart is active once one is removed."""
    others = [row for row in carts if row.cart_id is not None and row.cart_id != removed]
    active = carts[0].active_cart_id
    for wanted in (active, following):
        if any(row.cart_id == wanted for row in others):
            return wanted
    latest = max(others, key=lambda row: row.activated_at or row.created_at, default=None)
    return latest.cart_id if latest else None


def _has_lines(cart_id: UUID) -> bool:
    sums = queries.SUMS.one(cart_id=cart_id)
    return sums is not None and bool(sums.line_count or sums.later_count)


def _iterate_all_carts(owner_id: UUID) -> Iterator[Row]:
    """Yield each of an owner's carts once, also those that another tab makes meanwhile."""
    seen: set[UUID | None] = {None}
    while unseen := [
        row for row in queries.CARTS.all(owner_id=owner_id) if row.cart_id not in seen
    ]:
        seen.update(row.cart_id for row in unseen)
        yield from unseen


def _close_if_empty(cart_id: UUID, now: datetime) -> bool:
    """Return whether a cart is empty. An empty one is closed: what another tab adds goes elsewhere."""
    outcome = MARK_EMPTY_DELETED.apply(
        if_lost=applied_if(lambda row: row.deleted_at is not None), cart_id=cart_id, now=now
    )
    return bool(outcome) or not _has_lines(cart_id)


def _adopt(guest_id: UUID, user_id: UUID, cart: Row, now: datetime, device: str) -> str | None:
    """Write a guest's cart to the member; return its name there, or None if the member has too many."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=user_id)
        if mine := next((row for row in carts if row.cart_id == cart.cart_id), None):
            return str(mine.cart_name)
        name = adopted_name(
            cart.cart_name, device, now, {row.name_key for row in carts if row.name_key}
        )
        active = find_active_cart_row(carts)
        is_empty = active is None or not getattr(
            queries.SUMS.one(cart_id=active.cart_id), "line_count", 0
        )
        activate = is_empty and cart.cart_id == cart.active_cart_id
        # The lines get their new owner first: a cart on a member's list must not be cleaned up as a guest's. One that is
        # being cleaned up just now stays, and one that its guest is about to begin is begun as the member's.
        initialize_cart(cart.cart_id, user_id, now)
        SET_OWNER.apply(if_lost=SEND_AGAIN, cart_id=cart.cart_id, owner_id=user_id, guest=False)
        try:
            if _insert_cart(
                user_id, carts, cart.cart_id, name, cart.created_at, now, activate=activate
            ):
                return name
        except TooManyCarts:
            SET_OWNER.apply(if_lost=SEND_AGAIN, cart_id=cart.cart_id, owner_id=guest_id, guest=True)
            return None
    raise CartBusy
