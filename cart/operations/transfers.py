"""Transfers between carts: moves and copies of lines, copies of carts, and merges.

Two carts are two partitions. The target is written first, in one conditional batch with a note of the added units; then the
source is written. A failure in between loses nothing, but leaves units in both carts for a moment. Meanwhile a row in
`pending_cart_moves_by_minute` leads the worker to moves that were interrupted.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from cart import queries
from cart.access import EDIT, OWN, VIEW, require_access
from cart.errors import CartError, NoSuchCart, NoSuchLine, SameCart, UndoExpired
from cart.operations import carts
from cart.operations.contents import (
    CartChange,
    change_contents,
    get_contents,
    get_idempotency_row,
    idempotency_row_matcher,
    idempotency_row_statement,
    parse_note,
)
from cart.undo import Undo
from cassandra_db import applied_if, apply_batch, conditional_write, current_time, read, write
from jobs.due_rows import DueRows
from jobs.minutes import MINUTE, floor_to_minute
from pricing.quotes import line_label

# One day more than the time in which a merge can be undone, and in which the worker may be down.
RETENTION_DAYS = 10
INSERT_PENDING_MOVE = write(
    "moves",
    """INSERT INTO pending_cart_moves_by_minute (minute, move_id, kind, person_id, source_id, target_id)
       VALUES (:minute, :move_id, :kind, :person_id, :source_id, :target_id)""",
)
DELETE_PENDING_MOVE = write(
    "moves",
    "DELETE FROM pending_cart_moves_by_minute WHERE minute = :minute AND move_id = :move_id",
)
SELECT_PENDING_MOVES = read(
    "moves",
    "SELECT minute, move_id, kind, person_id, source_id, target_id FROM pending_cart_moves_by_minute WHERE minute = :minute",
)
# Two minutes after its start a move has either ended or was interrupted.
PENDING_MOVES = DueRows(
    job="moves",
    label="move",
    select=SELECT_PENDING_MOVES,
    insert=INSERT_PENDING_MOVE,
    delete=DELETE_PENDING_MOVE,
    wait=2 * MINUTE,
    max_write_delay=2 * MINUTE,
)
MARK_DELETED_AT_VERSION = conditional_write(
    "U1",
    """UPDATE items_by_cart SET deleted_at = :now, version = :version, owner_id = :owner_id WHERE cart_id = :cart_id
       IF version = :seen AND deleted_at = null""",
)


@dataclass(frozen=True)
class MoveResult:
    """The result of a move: the variant's name, the units, and the names of both carts."""

    label: str
    quantity: int
    source: str
    target: str


@dataclass(frozen=True)
class PendingMove:
    """A move between two carts that is under way."""

    minute: datetime
    move_id: UUID
    kind: str
    person_id: UUID
    source_id: UUID
    target_id: UUID


def move_line(
    person_id: UUID,
    source_id: UUID,
    target_id: UUID,
    key: str,
    idempotency_key: UUID,
    now: datetime,
    *,
    copy: bool = False,
    guest: bool = False,
) -> MoveResult:
    """Move a line's units to another cart, or with `copy` copy them.

    If the target has a line of the variant, that line gets the units, at its own price. A repeat with the same `idempotency_key` changes
    nothing. Raises NoSuchCart, NotAllowed, NoSuchLine, SameCart, TooManyUnitsTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    source = require_access(person_id, source_id, VIEW if copy else EDIT)
    target = require_access(person_id, target_id, EDIT)
    if source_id == target_id:
        raise SameCart
    move = PendingMove(
        floor_to_minute(current_time()), idempotency_key, "move", person_id, source_id, target_id
    )

    def put(change: CartChange) -> str:
        line = queries.LINE.one(cart_id=source_id, key=key)
        if line is None or line.key is None:
            raise NoSuchLine
        change.put(line, line.quantity)
        return json.dumps(
            {"label": line_label(line.name, line.options or {}), "lines": {key: line.quantity}}
        )

    owner_id = person_id if target.is_owner else None
    if copy:
        done = parse_note(
            change_contents(target_id, idempotency_key, now, put, owner_id=owner_id, guest=guest)
        )
    else:
        done = parse_note(_begin_move(move, put, now, owner_id=owner_id, guest=guest))
        _take_units(source_id, done["lines"], {}, uuid5(idempotency_key, "taken"), now)
        clear_pending_move(move)
    return MoveResult(done["label"], sum(done["lines"].values()), source.name, target.name)


def duplicate_cart(
    person_id: UUID, cart_id: UUID, idempotency_key: UUID, now: datetime, *, guest: bool = False
) -> tuple[UUID, str]:
    """Copy a cart that the person may view; return the copy's id and name. Raises NotAllowed, and the errors of `copy_cart`."""
    name = f"{require_access(person_id, cart_id, VIEW).name[:50]} (copy)"
    return copy_cart(person_id, cart_id, name, idempotency_key, now, guest=guest)


def copy_cart(
    person_id: UUID,
    source_id: UUID,
    wanted: str,
    idempotency_key: UUID,
    now: datetime,
    *,
    guest: bool = False,
) -> tuple[UUID, str]:
    """Make a new cart of a person with the lines and prices of another cart; return its id and name. The active cart stays.

    The caller checks that the person may view the source. `wanted` gets a number if the person has a cart of that name. A repeat with the
    same `idempotency_key` makes no second cart. Raises NoSuchCart, TooManyCarts, CartBusy, CassandraUnavailable.
    """
    copy_id = carts.created_cart_id(person_id, idempotency_key)
    if getattr(queries.SUMS.one(cart_id=copy_id), "deleted_at", None):
        raise NoSuchCart  # made by the first submit, and deleted since
    name = carts.add_cart_to_list(person_id, copy_id, wanted, now)

    def put(change: CartChange) -> str:
        for row in get_contents(source_id).lines.values():
            change.put(row, row.quantity)
        return "{}"

    change_contents(copy_id, idempotency_key, now, put, owner_id=person_id, guest=guest)
    return copy_id, name


def merge_carts(
    person_id: UUID,
    source_id: UUID,
    target_id: UUID,
    idempotency_key: UUID,
    now: datetime,
    *,
    guest: bool = False,
) -> Undo:
    """Move a cart's whole content to another cart, and delete the first; return the undo, which is valid for a day.

    For a variant in both carts, the target's price stays. If units are added to the source during the merge, the source stays
    with these units. A repeat with the same `idempotency_key` changes nothing. Raises NoSuchCart, NotAllowed, SameCart,
    TooManyUnitsTogether, TooManyLines, CartBusy, CassandraUnavailable; then nothing was changed.
    """
    target = require_access(person_id, target_id, EDIT)
    if source_id == target_id:
        raise SameCart
    earlier = get_idempotency_row(target_id, idempotency_key)
    name = (
        parse_note(earlier.note)["name"]
        if earlier
        else require_access(person_id, source_id, OWN).name
    )
    # gives the source a version, on which its deletion is conditional
    carts.initialize_cart(source_id, person_id, now, guest=guest)
    move = PendingMove(
        floor_to_minute(current_time()), idempotency_key, "merge", person_id, source_id, target_id
    )
    row = queries.get_listed_cart_row(person_id, source_id)
    is_active = getattr(row, "active_cart_id", None) == source_id

    def put(change: CartChange) -> str:
        return json.dumps({"name": name, "active": is_active} | _put_all(change, source_id))

    owner_id = person_id if target.is_owner else None
    done = parse_note(_begin_move(move, put, now, owner_id=owner_id, guest=guest))
    _finish_merge(move, done, now)
    clear_pending_move(move)
    return Undo(
        "merge",
        person_id,
        source_id,
        name,
        is_active=done["active"],
        idempotency_key=idempotency_key,
        target_cart_id=target_id,
    )


def unmerge_carts(person_id: UUID, undo: Undo, now: datetime) -> str:
    """Undo a merge: restore the source with its content, and remove this content from the target.

    Returns the source's name. A second call does nothing. Raises UndoExpired, NoSuchCart, NotAllowed, TooManyCarts,
    TooManyUnitsTogether, CartBusy, CassandraUnavailable.
    """
    if undo.target_cart_id is None or undo.idempotency_key is None or undo.person_id != person_id:
        raise UndoExpired
    require_access(person_id, undo.target_cart_id, EDIT)
    row = get_idempotency_row(undo.target_cart_id, undo.idempotency_key)
    source_row = get_idempotency_row(undo.cart_id, uuid5(undo.idempotency_key, "gone"))
    if row is None or source_row is None:
        raise UndoExpired
    step = uuid5(undo.idempotency_key, "undo")
    if get_idempotency_row(undo.target_cart_id, step) is not None:
        # The merge was undone before: later changes, perhaps the same merge again, stay.
        if (listed := queries.get_listed_cart_row(person_id, undo.cart_id)) is None:
            raise UndoExpired
        return str(listed.cart_name)
    done = parse_note(row.note)
    if source_row.note == "marked":
        name = carts.undelete_cart(person_id, undo, now)
    else:
        # The source still exists, because units were added meanwhile: put the moved units back.
        name = require_access(person_id, undo.cart_id, EDIT).name
        _put_back(undo.target_cart_id, undo.cart_id, done, uuid5(undo.idempotency_key, "back"), now)
    _take_units(undo.target_cart_id, done["lines"], done["later"], step, now)
    return name


def finish_move(move: PendingMove, now: datetime) -> None:
    """Finish a move whose target is written, or prevent the move. The row of the pending move stays.

    A second call does nothing. Raises CartBusy, CassandraUnavailable.
    """
    row = get_idempotency_row(move.target_id, move.move_id)
    if row is None:
        # The move's process may still run: this idempotency row makes the database refuse the process's batch.
        batch = idempotency_row_statement(move.target_id, move.move_id, now, None, RETENTION_DAYS)
        if apply_batch(batch, if_lost=applied_if(idempotency_row_matcher(move.move_id))):
            return
        row = get_idempotency_row(move.target_id, move.move_id)
    if row is not None and row.note is not None:
        done = parse_note(row.note)
        if move.kind == "merge":
            _finish_merge(move, done, now)
        else:
            _take_units(move.source_id, done["lines"], {}, uuid5(move.move_id, "taken"), now)


def clear_pending_move(move: PendingMove) -> None:
    """Delete the row of a move that is finished. Raises CassandraUnavailable."""
    PENDING_MOVES.clear(asdict(move))


def _begin_move(
    move: PendingMove,
    put: Callable[[CartChange], str | None],
    now: datetime,
    *,
    owner_id: UUID | None,
    guest: bool,
) -> str | None:
    """Write the row of the pending move and then the target cart; return the note. A refused move leaves no pending row."""
    INSERT_PENDING_MOVE.run(**asdict(move))
    try:
        return change_contents(
            move.target_id,
            move.move_id,
            now,
            put,
            owner_id=owner_id,
            guest=guest,
            days=RETENTION_DAYS,
        )
    except CartError:
        clear_pending_move(move)
        raise


def _put_all(change: CartChange, source_id: UUID) -> dict[str, Any]:
    """Add a cart's content to the change of another cart; return the source's version, and its units by kind and key."""
    source = get_contents(source_id)
    if source.is_deleted:
        raise NoSuchCart
    change.voucher = source.sums.voucher_code if source.sums else None
    moved: dict[str, Any] = {"version": source.version}
    for kind, name, rows in (
        ("line", "lines", source.lines),
        ("later", "later", source.saved_lines),
    ):
        for row in rows.values():
            change.put(row, row.quantity, kind)
        moved[name] = {row.key: row.quantity for row in rows.values()}
    return moved


def _finish_merge(move: PendingMove, done: dict[str, Any], now: datetime) -> None:
    """Delete the source of a merge at the version that was read. If it has changed, remove only the moved units."""
    step = uuid5(move.move_id, "gone")
    if get_idempotency_row(move.source_id, step) is None:
        seen = done["version"]
        marked = apply_batch(
            MARK_DELETED_AT_VERSION.bind(
                cart_id=move.source_id,
                seen=seen,
                version=seen + 1,
                owner_id=move.person_id,
                now=now,
            ),
            idempotency_row_statement(move.source_id, step, now, "marked", RETENTION_DAYS),
            if_lost=applied_if(idempotency_row_matcher(step)),
        )
        if not marked:
            _take_units(move.source_id, done["lines"], done["later"], step, now, "taken")
    sums = queries.SUMS.one(cart_id=move.source_id)
    if sums is not None and sums.deleted_at is not None:
        carts.remove_cart_from_list(move.person_id, move.source_id, following=move.target_id)


def _take_units(
    cart_id: UUID,
    lines: Mapping[str, int],
    saved_lines: Mapping[str, int],
    step: UUID,
    now: datetime,
    note: str = "{}",
) -> None:
    """Remove moved units from a cart, once for each `step`. If another change has removed some of them, remove the rest."""

    def take(change: CartChange) -> str:
        for kind, units in (("line", lines), ("later", saved_lines)):
            for key, quantity in units.items():
                change.take(key, quantity, kind)
        return note

    change_contents(cart_id, step, now, take, days=RETENTION_DAYS, even_deleted=True)


def _put_back(
    source_id: UUID, target_id: UUID, done: dict[str, Any], step: UUID, now: datetime
) -> None:
    def put(change: CartChange) -> str:
        source = get_contents(source_id)
        for kind, units, rows in (
            ("line", done["lines"], source.lines),
            ("later", done["later"], source.saved_lines),
        ):
            for key, quantity in units.items():
                if key in rows:
                    change.put(rows[key], min(quantity, rows[key].quantity), kind)
        return "{}"

    change_contents(target_id, step, now, put, days=RETENTION_DAYS)
