"""Tables of stock: its numbers, reservations, ledger, copies for pages, transfers and backorders."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

# Rows of these tables are often deleted: their tombstones are collected after a day.
SHORT_GRACE = {"gc_grace_seconds": 24 * 3600}


class Inventory(Model):
    """Q16, Q17: a variant in one warehouse. The numbers are static; a row is a reservation, receipt, correction, transfer or return.

    Numbers start at 0, never null: conditional arithmetic on null is applied in Cassandra, but writes nothing. Always (I1):
    received = available + reserved + committed + shipped. The row with the nil id is a sentinel that sorts first, so the numbers
    are read quickly. The row of an ended reservation is deleted. The other rows stay, so that each receipt or correction counts
    once.
    Bound: the reservations of ten minutes, and a row per order line that is paid but not yet shipped. Also some tens of receipts,
    corrections and transfers a year, and the returns.
    Writer: inventory.operations, only by conditional batches.
    """

    __table_name__ = "inventory"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"why": "a reservation knows its order, and no more"}
    # Cassandra's default of ten days: a deleted reservation that reappeared after a missed repair would move the numbers twice.
    __options__ = {"gc_grace_seconds": 10 * 24 * 3600}
    variant_id = columns.UUID(partition_key=True)
    warehouse_id = columns.Text(partition_key=True)
    reservation_id = columns.UUID(primary_key=True)
    product_id = columns.UUID(static=True)
    available = columns.Integer(static=True)
    reserved = columns.Integer(static=True)
    committed = columns.Integer(static=True)
    shipped = columns.Integer(static=True)
    received = columns.Integer(static=True)
    threshold = columns.Integer(static=True)
    place = columns.Text(static=True)  # the shelf, as the warehouse's staff call it
    quantity = columns.Integer()  # of a reservation: its units that are still reserved
    sent = columns.Integer()  # of a reservation: its shipped units; null for none
    released = columns.Integer()  # of a paid reservation: its units given back; null for none
    # States: held, committed, ended (until the ledger has the reservation); received, adjusted, returned, transferred; refused (a
    # transfer that does not leave).
    state = columns.Text()
    order_id = columns.UUID()
    line_number = columns.Integer()
    reserved_at = columns.DateTime()


class StockLedger(Model):
    """Q16: permanent changes of a variant's stock in a warehouse, by order or receipt; entries never change. Those of an order
    that a restore has lost are deleted.

    Kinds: received, adjusted (with a reason) and transferred by staff, committed, released_committed and shipped for an order's
    line, returned. `units` is a running total: the largest value counts. With `inventory`, entries rebuild every number.
    Bound: 16 partitions a stock item, so that a million sales are some ten megabytes in each (STOCK_LEDGER_SHARDS).
    Writer: inventory.operations, after each change of a stock item, and again when that change is repeated.
    """

    __table_name__ = "stock_ledger"
    __partition_bytes__ = 20 * MB
    __personal_data__ = {"why": "an entry knows its order, and which of the staff wrote it"}
    variant_id = columns.UUID(partition_key=True)
    warehouse_id = columns.Text(partition_key=True)
    shard = columns.Integer(partition_key=True)
    source_id = columns.UUID(primary_key=True)  # the order, the receipt or the transfer
    line_number = columns.Integer(primary_key=True)
    kind = columns.Text(primary_key=True)
    ref = columns.UUID(primary_key=True)  # the row of `inventory` that the entry is about
    units = columns.Integer(primary_key=True)
    # Set for the staff's bookings and returns. An order's own history has the moments of its other entries.
    booked_at = columns.DateTime()
    actor = columns.Text()
    reason = columns.Text()


class StockHistoryEntry(Model):
    """Q16: the stock history of a variant in all warehouses, newest first.

    It copies the ledger's entries that have a time: the staff's bookings, and returns.
    Bound: the receipts, corrections and transfers of a variant, some hundreds a year, and its returns; read page by page.
    Writer: inventory.operations.ledger.write_ledger_entries, together with the ledger's entry.
    """

    __table_name__ = "stock_history"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"why": "an entry knows its order, and which of the staff wrote it"}
    variant_id = columns.UUID(partition_key=True)
    booked_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    entry_id = columns.UUID(primary_key=True, clustering_order="DESC")  # the row of `inventory`
    warehouse_id = columns.Text()
    kind = columns.Text()  # as in the ledger
    units = columns.Integer()
    source_id = columns.UUID()
    actor = columns.Text()
    reason = columns.Text()


class StockByProduct(Model):
    """Q16: the copy of a product's stock that its pages show, and its backorders. The source is `inventory`.

    Units that are sold before they arrive are in the stock item "ahead": its `available` is how many more can be promised.
    Bound: variants times warehouses, at most 2,000 rows.
    Writer: inventory.operations.copy_stock (timestamp: its read, so an older copy loses) and set_backorder; stock_lists the
    lists' columns.
    """

    __table_name__ = "stock_by_product"
    __partition_bytes__ = 500 * KB
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    available = columns.Integer()
    threshold = columns.Integer()
    # Of the stock item "ahead": backorder or preorder; null if the variant cannot be backordered.
    backorder_kind = columns.Text()
    expected_on = columns.Date()  # when the units are expected; null when unknown
    # The stock item's SKU in `stock_items_by_warehouse`, and whether it is listed as sold. Both are null while it is not listed.
    listed_sku = columns.Text()
    listed_sold = columns.Boolean()
    # True while rows of the lists are written, and after a crash during these writes.
    lists_written = columns.Boolean()


class StockItemByWarehouse(Model):
    """Q16: the lists of a warehouse's stock items, sorted by SKU: all, low (at or below their threshold), and out.

    Bound: the variants that ever were in a warehouse; a hundred thousand are some ten megabytes. Read page by page.
    Writer: inventory.operations.stock_copies.copy_stock when a stock item changes its lists, and
    inventory.operations.stock_lists.follow_product. A row is written before its copy and deleted after it. So a crash leaves a
    row too many, never one too few, and readers check the numbers.
    """

    __table_name__ = "stock_items_by_warehouse"
    __partition_bytes__ = 20 * MB
    __options__ = SHORT_GRACE
    __personal_data__ = None
    warehouse_id = columns.Text(partition_key=True)
    list_name = columns.Text(partition_key=True)  # all, low, out
    sku = columns.Text(primary_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()


class StockTransfer(Model):
    """Q16: units in transit between warehouses. The row decides once where they arrive.

    States: leaving (until the source has booked it), in_transit, arriving (until the destination has booked it), arrived. A
    transfer is refused if there were too few units.
    Bound: one row a partition.
    Writer: inventory.operations.transfers, only by conditional writes.
    """

    __table_name__ = "stock_transfers"
    __partition_bytes__ = 100 * KB
    __personal_data__ = {"why": "a transfer knows which of the staff sent and received it"}
    transfer_id = columns.UUID(partition_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    source = columns.Text()
    destination = columns.Text()
    units = columns.Integer()
    reason = columns.Text()
    state = columns.Text()
    actor = columns.Text()
    started_at = columns.DateTime()
    arrived_in = columns.Text()  # the destination, or the source if the transfer was called off
    ended_by = columns.Text()
    ended_at = columns.DateTime()


class OpenStockTransfer(Model):
    """Q16: the open transfers, for staff and the worker. A row is written before units leave, and deleted once their arrival is booked.

    Bound: one partition; the transfers under way, at most some hundreds (inventory.queries.MAX_OPEN_TRANSFERS).
    Writer: inventory.operations.transfers.
    """

    __table_name__ = "open_stock_transfers"
    __partition_bytes__ = 100 * KB
    __options__ = SHORT_GRACE
    __personal_data__ = {"why": "a transfer knows which of the staff sent it"}
    shop = columns.Text(partition_key=True)
    transfer_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    source = columns.Text()
    destination = columns.Text()
    units = columns.Integer()
    reason = columns.Text()
    actor = columns.Text()
    started_at = columns.DateTime()


class BackorderedVariant(Model):
    """Q16: the variants that are or were sold before they arrive. The worker reads them.

    Bound: one partition; a row for each of these variants, some thousands at most.
    Writer: inventory.operations.set_backorder.
    """

    __table_name__ = "backorders"
    __partition_bytes__ = 1 * MB
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()


class ReservationByMinute(Model):
    """Q17: the reservations that expire in a minute. Each row is written before its reservation, so no reservation lacks a row.

    Bound: the reservations of one minute. A minute with many rows is deleted as a whole once all have ended.
    Writer: inventory.operations.reserve_stock, extend_reservations and drop_expired_minute; cleared by orders.jobs.
    """

    __table_name__ = "reservations_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    reservation_id = columns.UUID(primary_key=True)
    order_id = columns.UUID()
    quantity = columns.Integer()
