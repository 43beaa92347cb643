"""The stock that pages show: a copy, rewritten from the numbers themselves."""

from uuid import UUID

from cassandra_db import current_microseconds, read, write, write_batch
from catalogue import operations as catalogue
from inventory.queries import prefetch_stock_numbers, product_availability, stock_from_rows

STOCK_ITEMS = read(
    "Q16",
    """SELECT variant_id, warehouse_id, available, threshold, backorder_kind, expected_on FROM stock_by_product
       WHERE product_id = :product_id""",
)
COPY = write(
    "Q16",
    """UPDATE stock_by_product USING TIMESTAMP :read_at SET available = :available, threshold = :threshold
       WHERE product_id = :product_id AND variant_id = :variant_id AND warehouse_id = :warehouse_id""",
)


def copy_stock(product_id: UUID) -> None:
    """Rewrite a product's stock for its pages, from a read of the numbers themselves.

    The copy carries the time at which its read began: of two that overtake each other the later read stays. When the
    product's availability changes (in stock, few left, to come, out), its cards are updated. Raises CassandraUnavailable.
    """
    read_at = current_microseconds()
    stock_items = STOCK_ITEMS.all(product_id=product_id)
    reading = [
        (row, prefetch_stock_numbers(row.variant_id, row.warehouse_id)) for row in stock_items
    ]
    fresh = []
    for row, pending in reading:
        numbers = pending.one()
        if numbers is not None:
            fresh.append(row._replace(available=numbers.available, threshold=numbers.threshold))
    if not fresh:
        return
    availability = product_availability(stock_from_rows(fresh).values())
    if availability != product_availability(stock_from_rows(stock_items).values()):
        catalogue.set_availability(product_id, availability)
    # Last: after a crash the next copy sees the change again, and updates the cards again.
    write_batch(
        [
            COPY.bind(
                product_id=product_id,
                read_at=read_at,
                variant_id=row.variant_id,
                warehouse_id=row.warehouse_id,
                available=row.available,
                threshold=row.threshold,
            )
            for row in fresh
        ]
    )
