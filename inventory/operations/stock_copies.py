"""The stock that pages show: a copy of the stock items' numbers.

Within a process one copy of a product is made at a time. Further callers wait for the next copy, which serves all of them. So
every caller's copy begins after its own writes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from cassandra.query import BoundStatement

from cassandra_db import (
    CassandraUnavailable,
    Row,
    current_microseconds,
    retry_attempts,
    write,
    write_batch,
)
from catalogue import operations
from catalogue.queries import prefetch_availability
from inventory.entities import Allocation
from inventory.operations.stock_lists import COPIED, find_last_write, is_moving, plan_list_changes
from inventory.queries import (
    list_in_stock,
    prefetch_stock_numbers,
    product_availability,
    stock_from_rows,
)
from inventory.shortages import forget_shortages

# A stock item: its variant and warehouse.
StockItemKey = tuple[UUID, str]
COPY = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :read_at SET available = :available, threshold = :threshold
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)
# How often a copy is compared again because other processes have sold or copied in the meantime.
MAX_ATTEMPTS = 10


@dataclass(eq=False)
class _Copy:
    """One run that copies a product's stock. It serves all requests that were made before it began."""

    stock_items: set[StockItemKey] = field(default_factory=set)
    is_over: bool = False
    error: BaseException | None = None


next_copies: dict[UUID, _Copy] = {}
_guard = Lock()  # guards next_copies
_turns = tuple(Lock() for _ in range(64))  # chosen by product


def copy_stock(product_id: UUID, stock_items: Iterable[StockItemKey] | None = None) -> None:
    """Rewrite a product's stock for its pages from the numbers of these stock items, or of all its stock items.

    If the product's availability changes, its cards are updated. If a stock item becomes low, out or neither, the lists of its
    warehouse are updated (stock_lists). Raises CassandraUnavailable.
    """
    if stock_items is None:
        rows = COPIED.all(product_id=product_id)
        stock_items = [(row.variant_id, row.warehouse_id) for row in rows]
    with _guard:
        copy = next_copies.setdefault(product_id, _Copy())
        copy.stock_items.update(stock_items)
    with _turns[hash(product_id) % len(_turns)]:
        if not copy.is_over:
            _run_copy(product_id, copy)
    if copy.error:
        raise CassandraUnavailable(str(copy.error)) from copy.error


def copy_allocated_stock(allocations: Iterable[Allocation]) -> None:
    """Copy the stock of these allocations for the pages of their products. Raises CassandraUnavailable."""
    stock_items: dict[UUID, set[StockItemKey]] = {}
    for each in allocations:
        stock_items.setdefault(each.product_id, set()).add((each.variant_id, each.warehouse_id))
    for product_id, changed in stock_items.items():
        copy_stock(product_id, changed)


def _run_copy(product_id: UUID, copy: _Copy) -> None:
    with _guard:
        del next_copies[product_id]  # later requests need a copy that is read later
    try:
        copy_numbers(product_id, sorted(copy.stock_items))
    except CassandraUnavailable as error:
        copy.error = error
    except BaseException as error:
        copy.error = error
        raise
    finally:
        forget_shortages(variant_id for variant_id, _ in copy.stock_items)
        copy.is_over = True


def copy_numbers(product_id: UUID, stock_items: Sequence[StockItemKey]) -> None:
    """Write the differences until the copy equals the numbers, and the product's availability equals the copy.

    Of two processes the later one sees the writes of both. A copy's timestamp is when its read began, or later than the copy that
    it has read. So if two copies overtake each other, the later read wins, even if the clocks of the processes differ.

    A copy that overtakes this call has not seen its writes, and may have kept rows of the lists that this call deletes. So the
    lists are written again if the numbers now mean other lists, or if the copy still has the mark of an interrupted write.
    """
    has_written = False
    listed: dict[StockItemKey, Row] = {}  # the numbers for which the lists were last written

    def must_list(copy: Row | None, key: StockItemKey, numbers: Row) -> bool:
        is_overtaken = key in listed and is_moving(listed[key], numbers)
        return is_overtaken or (copy is not None and bool(copy.lists_written))

    for _ in retry_attempts(MAX_ATTEMPTS):
        read_at = current_microseconds()
        reading = COPIED.start(product_id=product_id)
        # The second comparison mostly finds no difference, so it reads the availability, too.
        product = prefetch_availability(product_id) if has_written else None
        pending = [(key, prefetch_stock_numbers(*key)) for key in stock_items]
        copied = {(row.variant_id, row.warehouse_id): row for row in reading.rows()}
        found = [(key, numbers) for key, each in pending if (numbers := each.one())]
        outdated = [
            (key, numbers)
            for key, numbers in found
            if not is_copied(copied.get(key), numbers) or must_list(copied.get(key), key, numbers)
        ]
        if outdated:
            rows = [copied[key] for key, _ in outdated if key in copied]
            at = max([read_at, *(find_last_write(row) + 1 for row in rows)])
            moving = [
                (key, copied.get(key), numbers)
                for key, numbers in outdated
                if is_moving(copied.get(key), numbers) or must_list(copied.get(key), key, numbers)
            ]
            listed |= {key: numbers for key, _, numbers in moving}
            lists = plan_list_changes(product_id, moving, at)
            lists.begin()
            write_copies(product_id, outdated, at, lists.notes)
            lists.end()
            has_written = True
            continue
        row = (product or prefetch_availability(product_id)).one()
        stock = stock_from_rows(copied.values())
        availability, in_stock_ids = product_availability(stock.values()), list_in_stock(stock)
        if not found or row is None:
            return
        is_new = (row.availability or "out") != availability
        if not is_new and set(row.in_stock_ids or ()) == in_stock_ids:
            return
        operations.set_availability(product_id, availability, in_stock_ids, on_cards=is_new)
        has_written = True
    raise CassandraUnavailable(f"the stock of product {product_id} keeps changing")


def is_copied(row: Row | None, numbers: Row) -> bool:
    """Return whether a row of the copied stock has these numbers."""
    names = ("available", "threshold")
    return row is not None and all(getattr(row, each) == getattr(numbers, each) for each in names)


def write_copies(
    product_id: UUID,
    outdated: Iterable[tuple[StockItemKey, Row]],
    read_at: int,
    notes: Sequence[BoundStatement],
) -> None:
    copies = [
        COPY.bind(
            product_id=product_id,
            read_at=read_at,
            variant_id=variant_id,
            warehouse_id=warehouse_id,
            available=numbers.available,
            threshold=numbers.threshold,
        )
        for (variant_id, warehouse_id), numbers in outdated
    ]
    write_batch([*notes, *copies])
