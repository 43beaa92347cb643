"""Sell a variant before it arrives, as a backorder or a pre-order, up to a limit that staff choose.

Promised units are a separate stock item, "ahead". Its `available` is how many more units can be promised. Its `committed` units
are paid for and waiting. When units arrive, the worker reserves them for the waiting orders
(orders.operations.allocate_backorders), which frees the promise.
"""

from datetime import date, datetime
from uuid import UUID, uuid5

from cassandra_db import applied_if, apply_batch, conditional_write, retry_attempts, write
from inventory.entities import BACKORDER, BACKORDER_WAREHOUSE, PREORDER
from inventory.errors import StockNumbersChanging
from inventory.operations.group_commit import write_turn
from inventory.operations.ledger import LedgerSource, write_ledger_entries
from inventory.operations.receipts import INSERT_RECEIPT, seed_stock_item
from inventory.operations.stock_copies import copy_stock
from inventory.queries import SHOP, get_stock_numbers

# How often the limit is set anew if a sale comes in between.
MAX_ATTEMPTS = 20
INSERT_BACKORDERED_VARIANT = write(
    "Q16",
    "INSERT INTO backorders (shop, variant_id, product_id) VALUES (:shop, :variant_id, :product_id)",
)
UPSERT_BACKORDER = write(
    "Q16",
    """INSERT INTO stock_by_product (product_id, variant_id, warehouse_id, backorder_kind, expected_on)
       VALUES (:product_id, :variant_id, :warehouse_id, :backorder_kind, :expected_on)""",
)
SET_BACKORDER_LIMIT = conditional_write(
    "Q16",
    """UPDATE inventory SET available = available + :units, received = received + :units
       WHERE variant_id = :variant_id AND warehouse_id = :warehouse_id
       IF received = :was AND available >= :least""",
)


def set_backorder(
    product_id: UUID,
    variant_id: UUID,
    kind: str,
    limit: int,
    expected_on: date | None,
    *,
    actor: str,
    now: datetime,
) -> int:
    """Sell a variant before it arrives, as BACKORDER or PREORDER; with '' as `kind`, stop that. Repeating changes nothing.

    `limit` bounds all promised units, including the units that waiting orders have. `expected_on` is their expected day. Returns
    how many more units can be promised now; 0 if more wait than the limit. Raises ValueError for an unknown kind or a negative
    limit. Also raises StockNumbersChanging and CassandraUnavailable.
    """
    if kind not in (BACKORDER, PREORDER, "") or limit < 0:
        raise ValueError(f"{kind} of {limit}")
    INSERT_BACKORDERED_VARIANT.run(shop=SHOP, variant_id=variant_id, product_id=product_id)
    seed_stock_item(product_id, variant_id, BACKORDER_WAREHOUSE, 0)
    stock_item = {"variant_id": variant_id, "warehouse_id": BACKORDER_WAREHOUSE}
    backorder_columns = {
        "backorder_kind": kind or None,
        "expected_on": expected_on if kind else None,
    }
    if kind:
        UPSERT_BACKORDER.run(product_id=product_id, **stock_item, **backorder_columns)
    free = _set_limit(variant_id, limit if kind else 0, actor, now)
    UPSERT_BACKORDER.run(product_id=product_id, **stock_item, **backorder_columns)
    copy_stock(product_id)
    return free


def _set_limit(variant_id: UUID, limit: int, actor: str, now: datetime) -> int:
    for _ in retry_attempts(MAX_ATTEMPTS):
        numbers = get_stock_numbers(variant_id, BACKORDER_WAREHOUSE)
        # Nothing is shipped from this stock item: a reservation in a warehouse gives its units back.
        units = max(limit - numbers.received, -numbers.available)
        if not units:
            return numbers.available
        entry_id = uuid5(variant_id, f"ahead {numbers.received} {units} {now.isoformat()}")
        stock_item = {"variant_id": variant_id, "warehouse_id": BACKORDER_WAREHOUSE}
        with write_turn(variant_id, BACKORDER_WAREHOUSE):
            booked = apply_batch(
                SET_BACKORDER_LIMIT.bind(
                    units=units, was=numbers.received, least=max(0, -units), **stock_item
                ),
                INSERT_RECEIPT.bind(
                    units=units, state="adjusted", receipt_id=entry_id, now=now, **stock_item
                ),
                if_lost=applied_if(lambda row: row.reservation_id == entry_id),  # noqa: B023 called before the next try
            )
        if booked:
            write_ledger_entries(
                variant_id,
                BACKORDER_WAREHOUSE,
                LedgerSource(
                    *(entry_id, 0, entry_id, now, actor), f"At most {limit} are sold ahead."
                ),
                [("adjusted", units)],
            )
            return numbers.available + units
    raise StockNumbersChanging(f"variant {variant_id}, sold ahead")
