"""Writes of a person's list of carts. Each is one conditional batch in the person's partition."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID, uuid4, uuid5

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

# The number of times that a batch is tried while other requests change the person's carts.
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
# The condition is on the cart's own row: otherwise a deleted cart could become active.
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
    """A person's active cart. `rows` are the rows of the person's list of carts that were read to find it; none for a new cart."""

    cart_id: UUID
    cart_name: str
    role: str
    created_at: datetime
    rows: tuple[Row, ...] = ()
    is_new: bool = False


@dataclass(frozen=True)
class _ListEntry:
    """A new row of a person's list."""

    cart_id: UUID
    name: str
    created_at: datetime
    role: str = ""
    shared_by: str = ""


@dataclass(frozen=True)
class ClaimedCarts:
    """The names of the carts that a login moved, and the number of carts beyond the limit, which stay the guest's."""

    names: tuple[str, ...] = ()
    unadopted_count: int = 0


def create_cart(
    person_id: UUID, name: str, idempotency_key: UUID, now: datetime, *, guest: bool = False
) -> UUID:
    """Create an empty cart, make it the active one and return its id.

    A repeat with the same `idempotency_key` makes no second cart. Raises InvalidCartName, NameTaken, TooManyCarts, CartBusy,
    CassandraUnavailable.
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
        if _insert_cart(person_id, carts, _ListEntry(cart_id, name, now), now, activate=True):
            return cart_id
    raise CartBusy


def created_cart_id(person_id: UUID, idempotency_key: UUID) -> UUID:
    """Return the id of the cart that a submit makes. It depends on the person, so no key leads to another person's cart."""
    return uuid5(person_id, f"cart:{idempotency_key}")


def switch_cart(person_id: UUID, cart_id: UUID, now: datetime) -> str:
    """Make a cart the active one (U2) and return its name. Raises NoSuchCart, CartBusy, CassandraUnavailable."""
    require_access(person_id, cart_id, VIEW)
    for _ in retry_attempts(MAX_ATTEMPTS):
        row = queries.get_listed_cart_row(person_id, cart_id)
        if row is None:
            raise NoSuchCart
        # A repeated write has the same effect.
        if SWITCH_CART.apply(
            if_lost=SEND_AGAIN, owner_id=person_id, name_key=row.name_key, cart_id=cart_id, now=now
        ):
            return str(row.cart_name)
    raise CartBusy


def delete_cart(person_id: UUID, cart_id: UUID, now: datetime) -> Undo:
    """Delete a person's own cart; return the undo, which is valid for a day.

    The cart is marked as deleted first, so that an add at the same moment goes to the next active cart. If the deleted cart was active,
    the previously active cart becomes the active one. Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable.
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
    """Restore a deleted cart and return its name, which gets a number if it is taken.

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
        # The cart is listed before its mark is removed: after a crash in between, the nightly job removes the mark. An add
        # that meets the mark may remove the cart from the list again, so the list is read once more.
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
    """Add a cart to a person's list under the name `wanted`, with a number if that is taken; return the name.

    A cart that is on the list already keeps its name. Raises TooManyCarts, CartBusy, CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id)
        if mine := next((row for row in carts if row.cart_id == cart_id), None):
            return str(mine.cart_name)
        name = free_name(wanted, {row.name_key for row in carts if row.name_key})
        entry = _ListEntry(cart_id, name, created_at or now, role, shared_by)
        if _insert_cart(person_id, carts, entry, now, activate=activate):
            return name
    raise CartBusy


def remove_cart_from_list(person_id: UUID, cart_id: UUID, following: UUID | None = None) -> bool:
    """Remove a cart from a person's list; return whether the cart was active. Its lines stay.

    If it was active, the cart `following` becomes active or, if `following` is not listed, the last active cart. Raises
    CartBusy, CassandraUnavailable.
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
        # After a lost answer, the next read shows whether the row was deleted.
        with suppress(UnknownOutcome):
            if apply_batch(
                less,
                DELETE_CART.bind(owner_id=person_id, name_key=row.name_key, cart_id=cart_id),
                if_lost=RAISE_UNKNOWN,
            ):
                return was_active
    raise CartBusy


def drop_closed_cart(person_id: UUID, cart: ActiveCart, now: datetime) -> None:
    """Remove a deleted cart from a list, unless it has just been restored.

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
    """Give a guest's carts to the member, without merging them.

    A name that the guest gave stays if it is free; otherwise the name says the source: "From your phone, 21 November". An
    empty unnamed cart is removed. If the member's active cart is empty or missing, the guest's active cart becomes active.
    Each cart is added to the member's list first, then removed from the guest's; after a crash the next call continues.
    Carts beyond the limit stay the guest's (`unadopted_count`). Raises CartBusy, CassandraUnavailable.
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
            # Another tab has just added a line.
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
    """Return a person's active cart; create a cart if there is none. `rows` is the person's list of carts, if it was read.

    Raises TooManyCarts, CartBusy, CassandraUnavailable.
    """
    cart_id = uuid4()
    for _ in retry_attempts(MAX_ATTEMPTS):
        carts = queries.CARTS.all(owner_id=person_id) if rows is None else rows
        rows = None
        if found := find_active_cart_row(carts):
            return active_cart_from_row(found, carts)
        name = free_name(default_name(), {row.name_key for row in carts if row.name_key})
        if _insert_cart(person_id, carts, _ListEntry(cart_id, name, now), now, activate=True):
            return ActiveCart(cart_id, name, "", now, is_new=True)
    raise CartBusy


def active_cart_from_row(row: Row, rows: Iterable[Row] = ()) -> ActiveCart:
    """Return the active cart that the row `row` of the list `rows` describes."""
    return ActiveCart(row.cart_id, row.cart_name, row.role or "", row.created_at, tuple(rows))


def initialize_cart(cart_id: UUID, owner_id: UUID, now: datetime, *, guest: bool = False) -> None:
    """Write the empty sums and the owner of a new cart, if the cart has none. Raises CassandraUnavailable."""
    INSERT_SUMS.apply(
        if_lost=REFUSED_MEANS_DONE,
        cart_id=cart_id,
        owner_id=owner_id,
        guest=guest,
        currency=settings.CURRENCY,
        now=now,
    )


def _insert_cart(
    owner_id: UUID, carts: list[Row], entry: _ListEntry, now: datetime, *, activate: bool
) -> bool:
    """Insert a cart's row into a list that was read as `carts`. Return False if the list has changed since. Raises TooManyCarts."""
    count = carts[0].cart_count if carts else None
    if count is not None and count >= MAX_CARTS:
        raise TooManyCarts(MAX_CARTS)
    active = entry.cart_id if activate else None
    if count is None:
        count_update = FIRST_CART.bind(owner_id=owner_id, active=active)
    elif activate:
        count_update = ANOTHER_ACTIVE_CART.bind(owner_id=owner_id, most=MAX_CARTS, active=active)
    else:
        count_update = ANOTHER_CART.bind(owner_id=owner_id, most=MAX_CARTS)
    row = CART.bind(
        owner_id=owner_id,
        name_key=name_key(entry.name),
        activated_at=now if activate else None,
        **asdict(entry),
    )
    is_own = _is_cart_row(entry.cart_id, entry.name)
    return bool(apply_batch(count_update, row, if_lost=applied_if(is_own)))


def _is_cart_row(cart_id: UUID, name: str) -> Callable[[Row], bool]:
    def mine(row: Row) -> bool:
        return getattr(row, "cart_id", None) == cart_id and row.name_key == name_key(name)

    return mine


def _next_active_cart_id(carts: list[Row], removed: UUID, following: UUID | None) -> UUID | None:
    """Return the id of the cart that becomes active after the cart `removed` is removed, or None."""
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
    """Yield each of an owner's carts once, including carts that another tab makes during the iteration."""
    seen: set[UUID | None] = {None}
    while unseen := [
        row for row in queries.CARTS.all(owner_id=owner_id) if row.cart_id not in seen
    ]:
        seen.update(row.cart_id for row in unseen)
        yield from unseen


def _close_if_empty(cart_id: UUID, now: datetime) -> bool:
    """Mark a cart as deleted if it is empty, so that other tabs add to another cart; return whether it was empty."""
    outcome = MARK_EMPTY_DELETED.apply(
        if_lost=applied_if(lambda row: row.deleted_at is not None), cart_id=cart_id, now=now
    )
    return bool(outcome) or not _has_lines(cart_id)


def _adopt(guest_id: UUID, user_id: UUID, cart: Row, now: datetime, device: str) -> str | None:
    """Add a guest's cart to the member's list; return its name, or None if the member has too many carts."""
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
        # The cart's contents get the new owner before the list: the cleanup of guests' carts must not remove a member's
        # cart, and the first line of an empty cart must belong to the member.
        initialize_cart(cart.cart_id, user_id, now)
        SET_OWNER.apply(if_lost=SEND_AGAIN, cart_id=cart.cart_id, owner_id=user_id, guest=False)
        try:
            entry = _ListEntry(cart.cart_id, name, cart.created_at)
            if _insert_cart(user_id, carts, entry, now, activate=activate):
                return name
        except TooManyCarts:
            SET_OWNER.apply(if_lost=SEND_AGAIN, cart_id=cart.cart_id, owner_id=guest_id, guest=True)
            return None
    raise CartBusy
