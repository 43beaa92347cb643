"""What goes from one cart to another: lines moved and copied, carts duplicated, emptied and merged, and kept for later.

Two carts are two partitions. The target is written first, in one conditional batch with a note of what was put in, and
the source then: whatever breaks in between, nothing is lost, at worst it is in both for a moment. A row in
`moves_to_finish` stands as long, and the worker finishes what is left behind.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from cassandra.query import BoundStatement

from cart import queries
from cart.access import EDIT, OWN, VIEW, access
from cart.errors import CartBusy, CartError, NoSuchCart, NoSuchLine, SameCart, TooLate
from cart.operations import carts
from cart.operations.contents import (
    DAY,
    Change,
    changed,
    contents,
    is_operation,
    noted,
    operation,
)
from cart.undo import Undo
from cassandra_db import Row, applied_if, conditional, conditional_batch, read, write
from jobs.minutes import minute_of
from pricing.quotes import line_label, snapshot_columns

# A day longer than the undo of a merge, and than the worker may be away.
KEPT_DAYS = 10
HINT = write(
    "moves",
    """INSERT INTO moves_to_finish (minute, operation_id, kind, person_id, source_id, target_id)
       VALUES (:minute, :operation_id, :kind, :person_id, :source_id, :target_id)""",
)
HINT_DROPPED = write(
    "moves", "DELETE FROM moves_to_finish WHERE minute = :minute AND operation_id = :operation_id"
)
HINTS = read(
    "moves",
    "SELECT minute, operation_id, kind, person_id, source_id, target_id FROM moves_to_finish WHERE minute = :minute",
)
GONE = conditional(
    "U1",
    """UPDATE items_by_cart SET deleted_at = :now, version = :version, owner_id = :owner_id WHERE cart_id = :cart_id
       IF version = :seen AND deleted_at = null""",
)
NO_LINES = conditional("U1", "DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'line'")
UNDO_ROW = conditional(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at)
       VALUES (:cart_id, 'undo', :key, :product_id, :variant_id, :sku, :name, :slug, :options, :picture, :price, :quantity, :added_at)
       USING TTL :seconds""",
)
UNDO_ROWS = read(
    "U1",
    """SELECT key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at FROM items_by_cart
       WHERE cart_id = :cart_id AND kind = 'undo' AND key > :after AND key < :before""",
)


@dataclass(frozen=True)
class Moved:
    """What came of a move: the thing's name, how many, and the names of both carts."""

    label: str
    quantity: int
    source: str
    target: str


@dataclass(frozen=True)
class Move:
    """A move between two carts that is under way, as its hint tells it."""

    minute: datetime
    operation_id: UUID
    kind: str
    person_id: UUID
    source_id: UUID
    target_id: UUID


def line_moved(
    person_id: UUID,
    source_id: UUID,
    target_id: UUID,
    key: str,
    operation_id: UUID,
    now: datetime,
    *,
    copy: bool = False,
    guest: bool = False,
) -> Moved:
    """Put a line's units into another cart and take them out of the first, or with `copy` leave them there as well.

    A line of the same variant that is there gets the units, at its own price. The same `operation_id` counts once.
    Raises NoSuchCart, NotAllowed, NoSuchLine, SameCart, TooManyTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    source = access(person_id, source_id, VIEW if copy else EDIT)
    target = access(person_id, target_id, EDIT)
    if source_id == target_id:
        raise SameCart
    move = Move(minute_of(datetime.now(UTC)), operation_id, "move", person_id, source_id, target_id)

    def put(change: Change) -> str:
        line = queries.LINE.one(cart_id=source_id, key=key)
        if line is None or line.key is None:
            raise NoSuchLine
        change.put(line, line.quantity)
        return json.dumps(
            {"label": line_label(line.name, line.options or {}), "lines": {key: line.quantity}}
        )

    owner_id = person_id if target.own else None
    if copy:
        done = _note(changed(target_id, operation_id, now, put, owner_id=owner_id, guest=guest))
    else:
        done = _note(_begun(move, put, now, owner_id=owner_id, guest=guest))
        _taken(source_id, done["lines"], {}, uuid5(operation_id, "taken"), now)
        hint_dropped(move)
    return Moved(done["label"], sum(done["lines"].values()), source.name, target.name)


def cart_duplicated(
    person_id: UUID, cart_id: UUID, operation_id: UUID, now: datetime, *, guest: bool = False
) -> tuple[UUID, str]:
    """Make a cart with the same lines at the same prices and return its id and name; the active one stays active.

    The same `operation_id` makes one. Raises NoSuchCart, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    found = access(person_id, cart_id, VIEW)
    copy_id = carts.cart_id_of(person_id, operation_id)
    if getattr(queries.SUMS.one(cart_id=copy_id), "deleted_at", None):
        raise NoSuchCart  # made by the first press, and deleted since
    name = carts.cart_listed(person_id, copy_id, f"{found.name[:50]} (copy)", now)

    def put(change: Change) -> str:
        for row in contents(cart_id).lines.values():
            change.put(row, row.quantity)
        return "{}"

    changed(copy_id, operation_id, now, put, owner_id=person_id, guest=guest)
    return copy_id, name


def cart_emptied(person_id: UUID, cart_id: UUID, operation_id: UUID, now: datetime) -> Undo:
    """Take all lines out of a cart, and return what puts them back within a day. What is kept for later stays.

    Raises NoSuchCart, NotAllowed, CartBusy, CassandraUnavailable.
    """
    found = access(person_id, cart_id, EDIT)

    def empty(change: Change) -> str:
        lines = change.of.lines
        for key in lines:
            change.take(key, lines[key].quantity)
        # One statement takes them all; the rows that can be put back go by themselves.
        change.statements = [
            NO_LINES.bind(cart_id=cart_id),
            *(_kept(cart_id, operation_id, lines[k]) for k in lines),
        ]
        return "{}"

    changed(cart_id, operation_id, now, empty)
    return Undo("empty", person_id, cart_id, found.name, operation_id=operation_id)


def cart_refilled(person_id: UUID, undo: Undo, now: datetime) -> str:
    """Put back what a cart was emptied of, on top of what has come since, and return the cart's name.

    A second call does nothing. Raises TooLate, NoSuchCart, NotAllowed, TooManyTogether, TooManyLines, CartBusy,
    CassandraUnavailable.
    """
    if undo.operation_id is None:
        raise TooLate
    found = access(person_id, undo.cart_id, EDIT)
    rows = UNDO_ROWS.all(
        cart_id=undo.cart_id, after=f"{undo.operation_id}/", before=f"{undo.operation_id}0"
    )
    if not rows and operation(undo.cart_id, undo.operation_id) is None:
        raise TooLate

    def put(change: Change) -> str:
        for row in rows:
            change.put(row._replace(key=row.key.partition("/")[2]), row.quantity)
        return "{}"

    changed(undo.cart_id, uuid5(undo.operation_id, "undo"), now, put)
    return found.name


def carts_merged(
    person_id: UUID,
    source_id: UUID,
    target_id: UUID,
    operation_id: UUID,
    now: datetime,
    *,
    guest: bool = False,
) -> Undo:
    """Put all of a cart into another one, and delete it; return what takes that apart again within a day.

    Of a variant that is in both, the target keeps its price and gets the units. What somebody puts into the source
    meanwhile stays there, and so does the source. The same `operation_id` counts once. Raises NoSuchCart, NotAllowed,
    SameCart, TooManyTogether, TooManyLines, CartBusy, CassandraUnavailable; then nothing was changed.
    """
    target = access(person_id, target_id, EDIT)
    if source_id == target_id:
        raise SameCart
    earlier = operation(target_id, operation_id)
    name = _note(earlier.note)["name"] if earlier else access(person_id, source_id, OWN).name
    # so that it has a version to be deleted at
    carts.cart_started(source_id, person_id, now, guest=guest)
    move = Move(
        minute_of(datetime.now(UTC)), operation_id, "merge", person_id, source_id, target_id
    )
    active = getattr(queries.listed(person_id, source_id), "active_cart_id", None) == source_id

    def put(change: Change) -> str:
        source = contents(source_id)
        if source.deleted:
            raise NoSuchCart
        for kind, rows in (("line", source.lines), ("later", source.later)):
            for row in rows.values():
                change.put(row, row.quantity, kind)
        change.voucher = source.sums.voucher_code if source.sums else None
        lines, later = (
            {row.key: row.quantity for row in rows.values()}
            for rows in (source.lines, source.later)
        )
        return json.dumps(
            {
                "name": name,
                "active": active,
                "version": source.version,
                "lines": lines,
                "later": later,
            }
        )

    note = _begun(move, put, now, owner_id=person_id if target.own else None, guest=guest)
    _merged(move, _note(note), now)
    hint_dropped(move)
    return Undo(
        "merge",
        person_id,
        source_id,
        name,
        active=_note(note)["active"],
        operation_id=operation_id,
        into=target_id,
    )


def carts_parted(person_id: UUID, undo: Undo, now: datetime) -> str:
    """Take a merge apart: the cart that went is there again with what was in it, and the other one has the rest.

    Returns the name of the cart that is back. A second call does nothing.
    Raises TooLate, NoSuchCart, NotAllowed, TooManyCarts, TooManyTogether, CartBusy, CassandraUnavailable.
    """
    if undo.into is None or undo.operation_id is None or undo.person_id != person_id:
        raise TooLate
    access(person_id, undo.into, EDIT)
    row = operation(undo.into, undo.operation_id)
    gone = operation(undo.cart_id, uuid5(undo.operation_id, "gone"))
    if row is None or gone is None:
        raise TooLate
    step = uuid5(undo.operation_id, "undo")
    if operation(undo.into, step) is not None:
        # Taken apart already: what has happened since, perhaps the same merge once more, stays as it is.
        if (there := queries.listed(person_id, undo.cart_id)) is None:
            raise TooLate
        return str(there.cart_name)
    done = _note(row.note)
    if gone.note == "marked":
        name = carts.cart_undeleted(person_id, undo, now)
    else:
        # The source had got more meanwhile and is still there: what was taken out goes back in.
        name = access(person_id, undo.cart_id, EDIT).name
        _put_back(undo.into, undo.cart_id, done, uuid5(undo.operation_id, "back"), now)
    _taken(undo.into, done["lines"], done["later"], step, now)
    return name


def line_kept(person_id: UUID, cart_id: UUID, key: str, operation_id: UUID, now: datetime) -> Moved:
    """Keep a line for later, in the same cart and out of its sums. The same `operation_id` counts once.

    Raises NoSuchCart, NotAllowed, NoSuchLine, TooManyTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    return _swapped(person_id, cart_id, key, operation_id, now, "line", "later")


def line_taken_up(
    person_id: UUID, cart_id: UUID, key: str, operation_id: UUID, now: datetime
) -> Moved:
    """Put what was kept for later back into the cart, at the price that it had. The same `operation_id` counts once.

    Raises NoSuchCart, NotAllowed, NoSuchLine, TooManyTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    return _swapped(person_id, cart_id, key, operation_id, now, "later", "line")


def later_dropped(
    person_id: UUID, cart_id: UUID, key: str, operation_id: UUID, now: datetime
) -> str:
    """Remove what was kept for later, and return its name.

    Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable.
    """
    access(person_id, cart_id, EDIT)

    def drop(change: Change) -> str:
        row = change.of.later.get(key)
        if row is None:
            raise NoSuchLine
        change.take(key, row.quantity, "later")
        return line_label(row.name, row.options or {})

    return changed(cart_id, operation_id, now, drop) or ""


def hints(minutes: Iterable[datetime]) -> list[Move]:
    """Return the moves that were begun in these minutes and are not finished. Raises CassandraUnavailable."""
    reading = [HINTS.start(minute=minute) for minute in minutes]
    return [
        Move(row.minute, row.operation_id, row.kind, row.person_id, row.source_id, row.target_id)
        for pending in reading
        for row in pending.rows()
    ]


def move_finished(move: Move, now: datetime) -> None:
    """Finish a move that was begun, or see to it that it cannot happen any more.

    A second call does nothing. Raises CartBusy, CassandraUnavailable.
    """
    row = operation(move.target_id, move.operation_id)
    if row is None:
        # Its process may still be at it: with the operation's row there, its batch is refused.
        batch = noted(move.target_id, move.operation_id, now, None, KEPT_DAYS)
        if conditional_batch(batch, if_lost=applied_if(is_operation(move.operation_id))):
            return hint_dropped(move)
        row = operation(move.target_id, move.operation_id)
    if row is not None and row.note is not None:
        done = _note(row.note)
        if move.kind == "merge":
            _merged(move, done, now)
        else:
            _taken(move.source_id, done["lines"], {}, uuid5(move.operation_id, "taken"), now)
    hint_dropped(move)
    return None


def hint_dropped(move: Move) -> None:
    """Forget a move that is finished. Raises CassandraUnavailable."""
    HINT_DROPPED.run(minute=move.minute, operation_id=move.operation_id)


def _begun(
    move: Move,
    put: Callable[[Change], str | None],
    now: datetime,
    *,
    owner_id: UUID | None,
    guest: bool,
) -> str | None:
    """Write the hint and then the target, and return the operation's note. What is refused leaves no hint."""
    HINT.run(
        minute=move.minute,
        operation_id=move.operation_id,
        kind=move.kind,
        person_id=move.person_id,
        source_id=move.source_id,
        target_id=move.target_id,
    )
    try:
        return changed(
            move.target_id,
            move.operation_id,
            now,
            put,
            owner_id=owner_id,
            guest=guest,
            days=KEPT_DAYS,
        )
    except CartError:
        hint_dropped(move)
        raise


def _merged(move: Move, done: dict[str, Any], now: datetime) -> None:
    """Delete the source of a merge as it was when its lines were read; if it has changed, take those lines alone."""
    step = uuid5(move.operation_id, "gone")
    if operation(move.source_id, step) is None:
        seen = done["version"]
        marked = conditional_batch(
            GONE.bind(
                cart_id=move.source_id,
                seen=seen,
                version=seen + 1,
                owner_id=move.person_id,
                now=now,
            ),
            noted(move.source_id, step, now, "marked", KEPT_DAYS),
            if_lost=applied_if(is_operation(step)),
        )
        if not marked:
            _taken(move.source_id, done["lines"], done["later"], step, now, "taken")
    there = queries.SUMS.one(cart_id=move.source_id)
    if there is not None and there.deleted_at is not None:
        carts.cart_unlisted(move.person_id, move.source_id, following=move.target_id)


def _taken(
    cart_id: UUID,
    lines: Mapping[str, int],
    later: Mapping[str, int],
    step: UUID,
    now: datetime,
    note: str = "{}",
) -> None:
    """Take units out of a cart, once: as many as were moved, and what is left of them if somebody was faster."""

    def take(change: Change) -> str:
        for kind, units in (("line", lines), ("later", later)):
            for key, quantity in units.items():
                change.take(key, quantity, kind)
        return note

    changed(cart_id, step, now, take, days=KEPT_DAYS, even_deleted=True)


def _put_back(
    source_id: UUID, target_id: UUID, done: dict[str, Any], step: UUID, now: datetime
) -> None:
    def put(change: Change) -> str:
        there = contents(source_id)
        for kind, units, rows in (
            ("line", done["lines"], there.lines),
            ("later", done["later"], there.later),
        ):
            for key, quantity in units.items():
                if key in rows:
                    change.put(rows[key], min(quantity, rows[key].quantity), kind)
        return "{}"

    changed(target_id, step, now, put, days=KEPT_DAYS)


def _swapped(
    person_id: UUID,
    cart_id: UUID,
    key: str,
    operation_id: UUID,
    now: datetime,
    source: str,
    target: str,
) -> Moved:
    found = access(person_id, cart_id, EDIT)

    def swap(change: Change) -> str:
        row = (change.of.lines if source == "line" else change.of.later).get(key)
        if row is None:
            raise NoSuchLine
        change.take(key, row.quantity, source)
        change.put(row, row.quantity, target)
        return json.dumps(
            {"label": line_label(row.name, row.options or {}), "quantity": row.quantity}
        )

    done = _note(changed(cart_id, operation_id, now, swap))
    return Moved(done["label"], done["quantity"], found.name, found.name)


def _note(note: str | None) -> dict[str, Any]:
    """Return what an operation has noted. Raises CartBusy for one that the worker has put an end to."""
    if note is None:
        raise CartBusy
    return dict(json.loads(note))


def _kept(cart_id: UUID, operation_id: UUID, row: Row) -> BoundStatement:
    return UNDO_ROW.bind(
        cart_id=cart_id,
        key=f"{operation_id}/{row.key}",
        **snapshot_columns(row),
        price=row.price,
        quantity=row.quantity,
        added_at=row.added_at,
        seconds=DAY,
    )
