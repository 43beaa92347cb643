"""The stock that pages show: a copy, rewritten from the numbers themselves.

Within a process one copy of a product runs at a time; who asks meanwhile waits for the next, which is for all that wait. So a
copy that somebody has waited for began after whatever they had written before.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from cassandra_db import (
    CassandraUnavailable,
    current_microseconds,
    read,
    retry_attempts,
    write,
    write_batch,
)
from catalogue import operations as catalogue
from catalogue.queries import prefetch_availability
from inventory.entities import Allocation
from inventory.queries import (
    prefetch_stock_at_quorum,
    prefetch_stock_numbers,
    product_availability,
    stock_from_rows,
)

# A variant and a warehouse.
StockItemKey = tuple[UUID, str]

STOCK_ITEMS = read(
    "Q16",
    "SELECT variant_id, warehouse_id FROM stock_by_product WHERE product_id = :product_id",
)
COPY = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :read_at SET available = :available, threshold = :threshold
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)
# How often a product's availability is set again because another process has copied meanwhile.
_TRIES = 10


@dataclass(eq=False)
class _Copy:
    """One copy, of all that was asked for before it began."""

    stock_items: set[StockItemKey] = field(default_factory=set)
    is_over: bool = False
    error: BaseException | None = None


_next_copies: dict[UUID, _Copy] = {}
_guard = Lock()  # of _next_copies
_turns = tuple(Lock() for _ in range(64))  # by product


def copy_stock(product_id: UUID, stock_items: Iterable[StockItemKey] | None = None) -> None:
    """Rewrite a product's stock for its pages, from a read of the numbers themselves: of these stock items, or of all.

    The copy carries the time at which its read began: of two that overtake each other the later read stays. When the
    product's availability changes (in stock, few left, to come, out), its cards are updated. Raises CassandraUnavailable.
    """
    if stock_items is None:
        stock_items = map(tuple, STOCK_ITEMS.all(product_id=product_id))
    with _guard:
        copy = _next_copies.setdefault(product_id, _Copy())
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
        del _next_copies[product_id]  # what is asked for from now on needs a later read
    try:
        if _copy_numbers(product_id, copy.stock_items):
            _update_availability(product_id)
    except CassandraUnavailable as error:
        copy.error = error
    except BaseException as error:
        copy.error = error
        raise
    finally:
        copy.is_over = True


def _copy_numbers(product_id: UUID, stock_items: Iterable[StockItemKey]) -> bool:
    read_at = current_microseconds()
    reading = [(key, prefetch_stock_numbers(*key)) for key in sorted(stock_items)]
    found = [(key, numbers) for key, pending in reading if (numbers := pending.one())]
    if found:
        write_batch(
            [
                COPY.bind(
                    product_id=product_id,
                    read_at=read_at,
                    variant_id=variant_id,
                    warehouse_id=warehouse_id,
                    available=numbers.available,
                    threshold=numbers.threshold,
                )
                for (variant_id, warehouse_id), numbers in found
            ]
        )
    return bool(found)


def _update_availability(product_id: UUID) -> None:
    """Set the product's availability to what its copied stock says.

    Both are read after the copy was written, and again after the availability was set: of two processes at once the later
    one sees what both have written.
    """
    for _ in retry_attempts(_TRIES):
        stock, product = prefetch_stock_at_quorum(product_id), prefetch_availability(product_id)
        availability = product_availability(stock_from_rows(stock.rows()).values())
        row = product.one()
        if row is None or (row.availability or "out") == availability:
            return
        catalogue.set_availability(product_id, availability)
