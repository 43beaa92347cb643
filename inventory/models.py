"""Stock: what is available, held, committed and shipped, and who holds it."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class Inventory(Model):
    """Q16, Q17: a variant's stock in one warehouse. The numbers are static, a row is a hold or a receipt.

    All numbers start at 0, never null: Cassandra's conditional arithmetic on null applies and writes nothing.
    received = available + held + committed + shipped, always (I1). The row with the nil id is a sentinel that sorts
    first, so that the numbers are read quickly whatever lies behind it. A receipt's row stays: it makes goods that
    arrive count once, however often their arrival is told.
    Bound: the holds of ten minutes, the committed units not yet shipped, and the receipts, some tens a year.
    Writer: inventory.operations, by conditional batches alone.
    """

    __table_name__ = "inventory"
    # Cassandra's own ten days: a deleted hold that a repair missed and that came back would move the numbers twice.
    __options__ = {"gc_grace_seconds": 10 * 24 * 3600}
    variant_id = columns.UUID(partition_key=True)
    warehouse_id = columns.Text(partition_key=True)
    hold_id = columns.UUID(primary_key=True)
    product_id = columns.UUID(static=True)
    available = columns.Integer(static=True)
    held = columns.Integer(static=True)
    committed = columns.Integer(static=True)
    shipped = columns.Integer(static=True)
    received = columns.Integer(static=True)
    threshold = columns.Integer(static=True)
    quantity = columns.Integer()
    state = columns.Text()  # held, committed; received for a receipt
    order_id = columns.UUID()
    held_at = columns.DateTime()


class StockByProduct(Model):
    """Q16: a product's stock for its pages; a copy of `inventory`, rewritten from a read.

    Bound: variants times warehouses, at most 2,000 rows.
    Writer: inventory.operations.stock_copied, with the time of its read, so that a slower and older copy loses.
    """

    __table_name__ = "stock_by_product"
    product_id = columns.UUID(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    available = columns.Integer()
    threshold = columns.Integer()


class HoldByMinute(Model):
    """Q17: which holds run out in a minute. Written before the hold, so that a crash leaves a hint too many, never one too few.

    Bound: the holds of one minute.
    Writer: inventory.operations.held, hold_kept and hint_removed.
    """

    __table_name__ = "holds_by_minute"
    __options__ = {"gc_grace_seconds": 24 * 3600}
    minute = columns.DateTime(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    warehouse_id = columns.Text(primary_key=True)
    hold_id = columns.UUID(primary_key=True)
    order_id = columns.UUID()
    quantity = columns.Integer()
