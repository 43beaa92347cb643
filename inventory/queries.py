"""What the shop reads of stock."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID, uuid5

from cassandra_db import LOCAL_ONE, Pending, Row, read

# In the order in which they are asked for goods.
WAREHOUSES = ("berlin", "cork")
# The row that is no hold: it sorts first and lets the numbers be read quickly.
SENTINEL = UUID(int=0)

Word = Literal["in", "few", "out"]


@dataclass(frozen=True)
class Stock:
    """What a page may say of a variant: how many there are over all warehouses, and the word for it."""

    available: int = 0
    word: Word = "out"
    by_warehouse: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Numbers:
    """A variant's numbers in one warehouse: received = available + held + committed + shipped (I1)."""

    received: int
    available: int
    held: int
    committed: int
    shipped: int


@dataclass(frozen=True)
class Want:
    """What an order's line needs."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    quantity: int


@dataclass(frozen=True)
class Allocation:
    """Units of a line that one warehouse keeps, or has sent."""

    line_number: int
    product_id: UUID
    variant_id: UUID
    warehouse_id: str
    quantity: int
    hold_id: UUID


# Q16: a product's stock, for its pages.
STOCK = read(
    "Q16",
    "SELECT variant_id, warehouse_id, available, threshold FROM stock_by_product WHERE product_id = :product_id",
    consistency=LOCAL_ONE,
)


def stock_started(product_id: UUID) -> Pending:
    """Start reading a product's stock beside whatever else the page reads; `stock_in` takes the rows."""
    return STOCK.start(product_id=product_id)


def stock_of(product_id: UUID) -> dict[UUID, Stock]:
    """Return the stock of a product's variants, by variant; one that was never received is missing.

    Raises CassandraUnavailable.
    """
    return stock_in(stock_started(product_id).rows())


def stocks_of(product_ids: Iterable[UUID]) -> dict[UUID, dict[UUID, Stock]]:
    """Return the stock of several products, by product and variant, read at once. Raises CassandraUnavailable."""
    reading = {product_id: stock_started(product_id) for product_id in set(product_ids)}
    return {product_id: stock_in(pending.rows()) for product_id, pending in reading.items()}


def stock_in(rows: Iterable[Row]) -> dict[UUID, Stock]:
    """Return rows of `stock_by_product` as stock by variant."""
    units: dict[UUID, dict[str, int]] = {}
    few: dict[UUID, int] = {}
    for row in rows:
        units.setdefault(row.variant_id, {})[row.warehouse_id] = row.available or 0
        few[row.variant_id] = max(few.get(row.variant_id, 0), row.threshold or 0)
    return {
        variant_id: Stock(sum(there.values()), word_for(sum(there.values()), few[variant_id]), there)
        for variant_id, there in units.items()
    }


def word_for(available: int, threshold: int) -> Word:
    """Return "out" for nothing, "few" up to the threshold, else "in"."""
    return "out" if available < 1 else "few" if available <= threshold else "in"


def word_of(stock: Iterable[Stock]) -> Word:
    """Return the word for a whole product: that of its best variant."""
    words = {each.word for each in stock}
    return "in" if "in" in words else "few" if "few" in words else "out"


# Q17: a variant's numbers in a warehouse and, among them, the holds that somebody asks for.
NUMBERS = read(
    "Q17",
    """SELECT hold_id, quantity, state, product_id, available, held, committed, shipped, received, threshold
       FROM inventory WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id AND hold_id IN (:sentinel, :hold_id)""",
)


def numbers_started(variant_id: UUID, warehouse_id: str, hold_id: UUID = SENTINEL) -> Pending:
    """Start reading a variant's numbers in a warehouse and, beside the sentinel's row, that of a hold."""
    return NUMBERS.start(variant_id=variant_id, warehouse_id=warehouse_id, sentinel=SENTINEL, hold_id=hold_id)


def numbers(variant_id: UUID, warehouse_id: str) -> Numbers:
    """Return the exact numbers of a variant in a warehouse; zeros where nothing was received.

    Raises CassandraUnavailable.
    """
    row = numbers_started(variant_id, warehouse_id).one()
    if row is None:
        return Numbers(0, 0, 0, 0, 0)
    return Numbers(row.received, row.available, row.held, row.committed, row.shipped)


def hold_id_for(order_id: UUID, line_number: int, variant_id: UUID, warehouse_id: str, take: int = 0) -> UUID:
    """Return the id that a hold always has, so that a repeated hold is recognised by its own row.

    `take` tells apart the times an order takes its stock: a paid order that had expired takes it once more.
    """
    return uuid5(order_id, f"{take}:{line_number}:{variant_id}:{warehouse_id}")


# I4: the holds that run out in a minute.
HOLDS_DUE = read(
    "Q17",
    "SELECT variant_id, warehouse_id, hold_id, order_id, quantity FROM holds_by_minute WHERE minute = :minute",
)


def holds_due(minutes: Sequence[datetime]) -> dict[datetime, list[Row]]:
    """Return the hints of holds that run out in these minutes. Raises CassandraUnavailable."""
    reading = {minute: HOLDS_DUE.start(minute=minute) for minute in minutes}
    return {minute: rows for minute, pending in reading.items() if (rows := pending.rows())}
