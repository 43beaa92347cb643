"""Stock: what is available, reserved, committed and shipped, and for which orders."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

# Rows that come and go: their tombstones are collected after a day.
SHORT_GRACE = {"gc_grace_seconds": 24 * 3600}


class Inventory(Model):
    """Q16, Q17: a stock item: a variant in one warehouse. The numbers are static; a row is a reservation, a receipt, a correction or a return.

    All numbers start at 0, never null: Cassandra's conditional arithmetic on null applies and writes nothing.
    received = available + reserved + committed + shipped, always (I1). The row with the nil id is a sentinel that sorts
    first, so that the numbers are read quickly whatever lies behind it. The row of a reservation that has ended is
    deleted; the rows of receipts, corrections, transfers and returns stay: they make each count once, however often it is sent.
    Bound: the reservations of ten minutes, the committed units not yet shipped, the receipts, corrections and transfers,
    some tens a year, and the returns of some of the orders.
    Writer: inventory.operations, by conditional batches alone.
    """

    __table_name__ = "inventory"
    __partition_bytes__ = 10 * MB
    __personal_data__ = {"why": "a reservation knows its order, and no more"}
    # Cassandra's own ten days: a deleted reservation that a repair missed and that came back would move the numbers twice.
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
    place = columns.Text(static=True)  # where in the warehouse it lies, as its people call it
    quantity = columns.Integer()  # of a reservation: the units that are still reserved
    sent = (
        columns.Integer()
    )  # of a reservation: the units that have left the warehouse; null for none
    released = columns.Integer()  # of a paid reservation: the units given back; null for none
    # held, committed, ended (until the ledger has it); received, adjusted, returned, transferred;
    # refused: a transfer that was to leave and does not
    state = columns.Text()
    order_id = columns.UUID()
    line_number = columns.Integer()
    reserved_at = columns.DateTime()


class StockLedger(Model):
    """Q16: what has happened to a variant in a warehouse for good, by order or receipt; nothing in it is ever changed.

    Kinds: received, adjusted (with a reason) and transferred by staff, committed, released_committed and shipped of an
    order's line (units so far: the largest counts), returned. With the rows of `inventory` it rebuilds every number.
    Bound: 16 partitions a stock item, so that a million sales are some ten megabytes in each (STOCK_LEDGER_SHARDS).
    Writer: inventory.operations, after each step and again whenever the step is repeated.
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
    ref = columns.UUID(primary_key=True)  # the row of `inventory` that it is about
    units = columns.Integer(primary_key=True)
    # of what staff have booked, and of returns; what else happens for an order is in its own history
    booked_at = columns.DateTime()
    actor = columns.Text()
    reason = columns.Text()


class StockHistoryEntry(Model):
    """Q16: what staff have booked of a variant, and what came back, in all warehouses, the newest first: the ledger's entries with a time.

    Bound: the receipts, corrections and transfers of a variant, some hundreds a year, and its returns; read page by page.
    Writer: inventory.operations.ledger.write_ledger_entries, beside the ledger's own entry.
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
    """Q16: a product's stock for its pages: a copy of `inventory`, rewritten from a read, and its backorders.

    What is sold before it has arrived is a stock item of its own, "ahead": its units are how many more may be promised.
    Bound: variants times warehouses, at most 2,000 rows.
    Writer: inventory.operations.copy_stock, with the time of its read, so that a slower and older copy loses;
    set_backorder; stock_lists, the columns of the lists.
    """

    __table_name__ = "stock_by_product"
    __partition_bytes__ = 500 * KB
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    available = columns.Integer()
    threshold = columns.Integer()
    # of the stock item "ahead": backorder or preorder; null when it cannot be backordered (any more)
    backorder_kind = columns.Text()
    expected_on = columns.Date()  # when the units are expected; null when unknown
    # by which SKU it stands in `stock_items_by_warehouse`, and whether as one that is sold; null while it stands nowhere
    listed_sku = columns.Text()
    listed_sold = columns.Boolean()
    # while rows of the lists are being written, or whoever wrote them has died over it
    lists_written = columns.Boolean()


class StockItemByWarehouse(Model):
    """Q16: the stock items of a warehouse by SKU: all, those that are low (at or below their threshold), those that are out.

    Bound: the variants that ever were in a warehouse; a hundred thousand are some ten megabytes. Read page by page.
    Writer: inventory.operations.stock_copies.copy_stock whenever a stock item gets low, out or neither, and
    inventory.operations.stock_lists.follow_product. A row comes before the copy says so and goes after it: a crash leaves one
    too many, never one too few, and whoever shows a row reads the numbers.
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
    """Q16: units on their way from one warehouse to another: what decides where they may arrive, once.

    leaving (until the first warehouse has booked it), in_transit, arriving (until the last one has), arrived; refused, when
    there were not enough.
    Bound: one row a partition.
    Writer: inventory.operations.transfers, by conditional writes alone.
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
    arrived_in = columns.Text()  # the destination; the source if it was called off
    ended_by = columns.Text()
    ended_at = columns.DateTime()


class OpenStockTransfer(Model):
    """Q16: the transfers that are not over, for staff and the worker. Written before units leave, deleted when they are booked.

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
    """Q16: the variants that are, or were, sold before they have arrived, for the worker.

    Bound: one partition; a variant each that was ever sold so, some thousands at most.
    Writer: inventory.operations.set_backorder.
    """

    __table_name__ = "backorders"
    __partition_bytes__ = 1 * MB
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()


class ReservationByMinute(Model):
    """Q17: which reservations expire in a minute. Written before the reservation, so that a crash leaves an expiry too many, never one too few.

    Bound: the reservations of one minute. A minute that had many is deleted as one, once all have ended.
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
