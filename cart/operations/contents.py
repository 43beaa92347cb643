"""A cart's whole contents at one version, and changes that apply only to this version.

A change of many lines is also one conditional batch. Its condition is the version that was read, so the computed sums equal the lines.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cassandra.query import BoundStatement
from django.conf import settings

from cart import queries
from cart.errors import CartBusy, NoSuchCart, TooManyLines, TooManyUnitsTogether
from cart.limits import MAX_LINES, MAX_QUANTITY
from cart.operations.news import change_announced
from cassandra_db import Row, applied_if, apply_batch, conditional_write, read, retry_attempts
from pricing.quotes import line_label, snapshot_columns

MAX_ATTEMPTS = 30
DAY = 24 * 3600
# The idempotency row identifies a batch that was refused, or whose answer was lost.
IDEMPOTENCY_ROW = read(
    "U1",
    "SELECT version, key, note FROM items_by_cart WHERE cart_id = :cart_id AND kind = 'op' AND key = :operation",
)
ALL_SUMS = conditional_write(
    "U1",
    """UPDATE items_by_cart SET version = :version, line_count = :lines, item_count = :items, subtotal = :amount,
              later_count = :later, currency = :currency, changed_at = :now, owner_id = :owner_id, guest = :guest, added_at = :now,
              voucher_code = :voucher
       WHERE cart_id = :cart_id AND kind = '' AND key = '' IF version = :seen AND deleted_at = :deleted""",
)
INSERT_ROW = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, product_id, variant_id, sku, name, slug, options, picture, price, quantity, added_at)
       VALUES (:cart_id, :kind, :key, :product_id, :variant_id, :sku, :name, :slug, :options, :picture, :price, :quantity, :added_at)""",
)
SET_UNITS = conditional_write(
    "U1",
    "UPDATE items_by_cart SET quantity = :quantity WHERE cart_id = :cart_id AND kind = :kind AND key = :key IF quantity = :was",
)
DELETE_ROW = conditional_write(
    "U1",
    "DELETE FROM items_by_cart WHERE cart_id = :cart_id AND kind = :kind AND key = :key IF EXISTS",
)
INSERT_NOTED_IDEMPOTENCY_ROW = conditional_write(
    "U1",
    """INSERT INTO items_by_cart (cart_id, kind, key, added_at, note) VALUES (:cart_id, 'op', :operation, :now, :note)
       IF NOT EXISTS USING TTL :seconds""",
)


@dataclass(frozen=True)
class CartContents:
    """A cart at one version. `version` is None for a cart that never had a line."""

    cart_id: UUID
    version: int | None
    sums: Row | None
    lines: dict[str, Row]
    saved_lines: dict[str, Row]

    @property
    def is_deleted(self) -> bool:
        return self.sums is not None and self.sums.deleted_at is not None


def get_contents(cart_id: UUID) -> CartContents:
    """Return the present contents of a cart. Raises CartBusy, CassandraUnavailable."""
    for _ in retry_attempts(MAX_ATTEMPTS):
        reading = (queries.LINES.start(cart_id=cart_id), queries.SAVED_LINES.start(cart_id=cart_id))
        sums = queries.SUMS.one(cart_id=cart_id)
        lines, saved_lines = (
            {row.key: row for row in pending.rows() if row.key is not None} for pending in reading
        )
        if sums is None or sums.version is None:
            if not lines and not saved_lines:
                return CartContents(cart_id, None, sums, {}, {})
            continue
        # The three reads belong together if all three saw the same version.
        same_version = all(
            row.version == sums.version for row in (*lines.values(), *saved_lines.values())
        )
        if same_version and (len(lines), len(saved_lines)) == (
            sums.line_count,
            sums.later_count or 0,
        ):
            return CartContents(cart_id, sums.version, sums, lines, saved_lines)
    raise CartBusy


@dataclass
class CartChange:
    """A planned change of a cart's contents: the statements, and the differences of the sums."""

    contents: CartContents
    statements: list[BoundStatement] = field(default_factory=list)
    lines: int = 0
    items: int = 0
    amount: int = 0
    saved_lines: int = 0
    voucher: str | None = None  # a code to add; an existing one stays

    def put(self, row: Row, quantity: int, kind: str = "line") -> None:
        """Add units of the row's variant. An existing line keeps its price. Raises TooManyUnitsTogether."""
        existing = self._rows(kind).get(row.key)
        if existing is None:
            statement = INSERT_ROW.bind(
                **snapshot_columns(row),
                cart_id=self.contents.cart_id,
                kind=kind,
                key=row.key,
                price=row.price,
                quantity=quantity,
                added_at=row.added_at,
            )
            self._count(kind, 1, quantity, row.price * quantity, statement)
        else:
            together = existing.quantity + quantity
            if together > MAX_QUANTITY:
                raise TooManyUnitsTogether(
                    line_label(row.name, row.options or {}), MAX_QUANTITY, together
                )
            self._count(
                kind, 0, quantity, existing.price * quantity, self._units(kind, existing, together)
            )

    def take(self, key: str, quantity: int, kind: str = "line") -> None:
        """Remove units of a line; if the line has fewer, remove them all."""
        existing = self._rows(kind).get(key)
        if existing is None:
            return
        taken = min(quantity, existing.quantity)
        if taken == existing.quantity:
            statement = DELETE_ROW.bind(cart_id=self.contents.cart_id, kind=kind, key=key)
            self._count(kind, -1, -taken, -existing.price * taken, statement)
        else:
            statement = self._units(kind, existing, existing.quantity - taken)
            self._count(kind, 0, -taken, -existing.price * taken, statement)

    def build_sums(self, owner_id: UUID | None, *, guest: bool, now: datetime) -> BoundStatement:
        """Return the statement that writes the new sums. Raises TooManyLines."""
        was: Any = self.contents.sums if self.contents.version is not None else None
        for count in (
            (was.line_count if was else 0) + self.lines,
            ((was.later_count or 0) if was else 0) + self.saved_lines,
        ):
            if count > MAX_LINES and (self.lines > 0 or self.saved_lines > 0):
                raise TooManyLines(MAX_LINES, count)
        return ALL_SUMS.bind(
            cart_id=self.contents.cart_id,
            seen=self.contents.version,
            deleted=was.deleted_at if was else None,
            version=(self.contents.version or 0) + 1,
            lines=(was.line_count if was else 0) + self.lines,
            items=(was.item_count if was else 0) + self.items,
            amount=(was.subtotal if was else 0) + self.amount,
            later=((was.later_count or 0) if was else 0) + self.saved_lines,
            currency=was.currency if was else settings.CURRENCY,
            owner_id=was.owner_id if was and was.owner_id else owner_id,
            guest=bool(was.guest) if was else guest,
            voucher=(was.voucher_code if was else None) or self.voucher,
            now=now,
        )

    def _rows(self, kind: str) -> dict[str, Row]:
        return self.contents.lines if kind == "line" else self.contents.saved_lines

    def _units(self, kind: str, existing: Row, quantity: int) -> BoundStatement:
        return SET_UNITS.bind(
            cart_id=self.contents.cart_id,
            kind=kind,
            key=existing.key,
            quantity=quantity,
            was=existing.quantity,
        )

    def _count(
        self, kind: str, lines: int, items: int, amount: int, statement: BoundStatement
    ) -> None:
        self.statements.append(statement)
        if kind == "line":
            self.lines += lines
            self.items += items
            self.amount += amount
        else:
            self.saved_lines += lines


def change_contents(
    cart_id: UUID,
    idempotency_key: UUID,
    now: datetime,
    change: Callable[[CartChange], str | None],
    *,
    owner_id: UUID | None = None,
    guest: bool = False,
    days: int = 1,
    even_deleted: bool = False,
) -> str | None:
    """Change a cart's contents, and return the note of the change. A repeat with the same key returns the first call's note.

    `change` plans the change of the contents, and returns the note. `change` is called again if another request has changed the
    cart. Raises the errors of `change`, NoSuchCart, TooManyLines, CartBusy, CassandraUnavailable.
    """
    for _ in retry_attempts(MAX_ATTEMPTS):
        if (earlier := get_idempotency_row(cart_id, idempotency_key)) is not None:
            return str(earlier.note) if earlier.note is not None else None
        contents = get_contents(cart_id)
        if contents.is_deleted and not even_deleted:
            raise NoSuchCart
        planned = CartChange(contents)
        note = change(planned)
        with change_announced(cart_id):
            outcome = apply_batch(
                planned.build_sums(owner_id, guest=guest, now=now),
                *planned.statements,
                idempotency_row_statement(cart_id, idempotency_key, now, note, days),
                if_lost=applied_if(idempotency_row_matcher(idempotency_key)),
            )
        if outcome:
            return note
    raise CartBusy


def get_idempotency_row(cart_id: UUID, idempotency_key: UUID) -> Row | None:
    """Return the row of an idempotency key in a cart, or None. Raises CassandraUnavailable."""
    return IDEMPOTENCY_ROW.one(cart_id=cart_id, operation=str(idempotency_key))


def idempotency_row_statement(
    cart_id: UUID, idempotency_key: UUID, now: datetime, note: str | None, days: int = 1
) -> BoundStatement:
    """Return the statement that writes an idempotency key's row."""
    return INSERT_NOTED_IDEMPOTENCY_ROW.bind(
        cart_id=cart_id, operation=str(idempotency_key), now=now, note=note, seconds=days * DAY
    )


def idempotency_row_matcher(idempotency_key: UUID) -> Callable[[Row], bool]:
    """Return a function that says whether a row is the row of this idempotency key."""

    def is_own(row: Row) -> bool:
        return getattr(row, "kind", None) == "op" and row.key == str(idempotency_key)

    return is_own


def parse_note(note: str | None) -> dict[str, Any]:
    """Return the parsed note of a change. Raises CartBusy if the worker has prevented the change."""
    if note is None:
        raise CartBusy
    return dict(json.loads(note))
