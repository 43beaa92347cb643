"""Lines saved for later: in the same cart, but not in its sums."""

import json
from datetime import datetime
from uuid import UUID

from cart.access import EDIT, require_access
from cart.errors import NoSuchLine
from cart.operations.contents import CartChange, change_contents, parse_note
from cart.operations.transfers import MoveResult
from pricing.quotes import line_label


def save_line_for_later(
    person_id: UUID, cart_id: UUID, key: str, idempotency_key: UUID, now: datetime
) -> MoveResult:
    """Save a line for later. A repeat with the same `idempotency_key` changes nothing.

    Raises NoSuchCart, NotAllowed, NoSuchLine, TooManyUnitsTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    return _swap_kind(person_id, cart_id, key, idempotency_key, now, "line", "later")


def move_saved_line_to_cart(
    person_id: UUID, cart_id: UUID, key: str, idempotency_key: UUID, now: datetime
) -> MoveResult:
    """Move a saved line back into the cart, at its old price. A repeat with the same `idempotency_key` changes nothing.

    Raises NoSuchCart, NotAllowed, NoSuchLine, TooManyUnitsTogether, TooManyLines, CartBusy, CassandraUnavailable.
    """
    return _swap_kind(person_id, cart_id, key, idempotency_key, now, "later", "line")


def remove_saved_line(
    person_id: UUID, cart_id: UUID, key: str, idempotency_key: UUID, now: datetime
) -> str:
    """Remove a saved line; return the name of its variant. Raises NoSuchCart, NotAllowed, NoSuchLine, CartBusy, CassandraUnavailable."""
    require_access(person_id, cart_id, EDIT)

    def drop(change: CartChange) -> str:
        row = change.contents.saved_lines.get(key)
        if row is None:
            raise NoSuchLine
        change.take(key, row.quantity, "later")
        return line_label(row.name, row.options or {})

    return change_contents(cart_id, idempotency_key, now, drop) or ""


def _swap_kind(
    person_id: UUID,
    cart_id: UUID,
    key: str,
    idempotency_key: UUID,
    now: datetime,
    source: str,
    target: str,
) -> MoveResult:
    found = require_access(person_id, cart_id, EDIT)

    def swap(change: CartChange) -> str:
        row = (change.contents.lines if source == "line" else change.contents.saved_lines).get(key)
        if row is None:
            raise NoSuchLine
        change.take(key, row.quantity, source)
        change.put(row, row.quantity, target)
        return json.dumps(
            {"label": line_label(row.name, row.options or {}), "quantity": row.quantity}
        )

    done = parse_note(change_contents(cart_id, idempotency_key, now, swap))
    return MoveResult(done["label"], done["quantity"], found.name, found.name)
