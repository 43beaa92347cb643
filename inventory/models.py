"""Stock: what is available, reserved, committed and shipped, and for which orders."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class Inventory(Model):
    """Q16, Q17: a stock item: a variant in one warehouse. The numbers are static; a row is a reservation, a receipt, a correction or a return.

    All numbers start at 0, never null: Cassandra's conditional arithmetic on null applies and writes nothing.
    received = available + reserved + committed + shipped, always (I1). The row with the nil id is a sentinel that sorts
    first, so that the numbers are read quickly whatever lies behind it. The row of a reservation that has ended is
    deleted; the rows of receipts, corrections and returns stay: they make each count once, however often it is sent.
    Bound: the reservations of ten minutes, the committed units not yet shipped, the receipts and corrections, some
    tens a year, and the returns of some of the orders.
    Writer: inventory.operations, by conditional batches alone.
    """

    __table_name__ = "inventory"
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
    quantity = columns.Integer()  # of a reservation: the units that are still reserved
    sent = (
        columns.Integer()
    )  # of a reservation: the units that have left the warehouse; null for none
    released = columns.Integer()  # of a paid reservation: the units given back; null for none
    # held, committed, ended (until the ledger has it); received, adjusted, returned
    state = columns.Text()
    order_id = columns.UUID()
    line_number = columns.Integer()
    reserved_at = columns.DateTime()


class StockLedger(Model):
    """Q16: what has happened to a variant in a warehouse for good, by order or receipt; nothing in it is ever changed.

    Kinds: received and adjusted (by staff, with a reason), committed, released_committed and shipped of an order's
    line (units so far: the largest counts), returned. With the rows of `inventory` it rebuilds every number.
    Bound: 16 partitions a stock item, so that a million sales are some ten megabytes in each (STOCK_LEDGER_SHARDS).
    Writer: inventory.operations, after each step and again whenever the step is repeated.
    """

    __table_name__ = "stock_ledger"
    __personal_data__ = {"why": "an entry knows its order, and which of the staff wrote it"}
    variant_id = columns.UUID(partition_key=True)
    warehouse_id = columns.Text(partition_key=True)
    shard = columns.Integer(partition_key=True)
    source_id = columns.UUID(primary_key=True)  # the order, or the receipt
    line_number = columns.Integer(primary_key=True)
    kind = columns.Text(primary_key=True)
    ref = columns.UUID(primary_key=True)  # the row of `inventory` that it is about
    units = columns.Integer(primary_key=True)
    booked_at = columns.DateTime()  # of receipts and corrections; an order has its own history
    actor = columns.Text()
    reason = columns.Text()


class StockByProduct(Model):
    """Q16: a product's stock for its pages: a copy of `inventory`, rewritten from a read, and its backorders.

    What is sold before it has arrived is a stock item of its own, "ahead": its units are how many more may be promised.
    Bound: variants times warehouses, at most 2,000 rows.
    Writer: inventory.operations.copy_stock, with the time of its read, so that a slower and older copy loses;
    set_backorder.
    """

    __table_name__ = "stock_by_product"
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    available = columns.Integer()
    threshold = columns.Integer()
    # of the stock item "ahead": backorder or preorder; null when it cannot be backordered (any more)
    backorder_kind = columns.Text()
    expected_on = columns.Date()  # when the units are expected; null when unknown


class BackorderedVariant(Model):
    """Q16: the variants that are, or were, sold before they have arrived, for the worker.

    Bound: one partition; a variant each that was ever sold so, some thousands at most.
    Writer: inventory.operations.set_backorder.
    """

    __table_name__ = "backorders"
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()


class ReservationByMinute(Model):
    """Q17: which reservations expire in a minute. Written before the reservation, so that a crash leaves an expiry too many, never one too few.

    Bound: the reservations of one minute.
    Writer: inventory.operations.reserve_stock, extend_reservations and clear_reservation_expiry.
    """

    __table_name__ = "reservations_by_minute"
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    reservation_id = columns.UUID(primary_key=True)
    order_id = columns.UUID()
    quantity = columns.Integer()
