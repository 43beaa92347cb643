"""The tables of the reports that a job counts each night from all products: stock value, and products that need attention."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class StockValue(Model):
    """Q16: the units on hand and their value at cost, by warehouse and currency, at the end of each day; the latest day first.

    `units` are all units on hand. `value` is that of the units whose variant has a cost price; `unpriced_units` are the others.
    Bound: 366 days of ten warehouses, each with a row for each currency of the products.
    Writer: product_reports.operations.count_products. The write timestamp is the time of the count's start, so an older count loses.
    """

    __table_name__ = "stock_values"
    __partition_bytes__ = 1 * MB
    __personal_data__ = None
    year = columns.Integer(partition_key=True)
    day = columns.Date(primary_key=True, clustering_order="DESC")  # in the shop's time zone
    warehouse_id = columns.Text(primary_key=True)
    currency = columns.Text(primary_key=True)
    units = columns.BigInt()
    value = columns.BigInt()  # minor units, without tax
    unpriced_units = columns.BigInt()
    counted_at = columns.DateTime()


class ProductNeedingAttention(Model):
    """Q18: the products that need attention for one reason, the most urgent first, as counted each night.

    Of the reason `no_cost_price` a row is a variant, else a product. `total` counts also those that have no row.
    Bound: 100 rows (product_reports.operations.MAX_LISTED).
    Writer: product_reports.operations.count_products. The write timestamp is the time of the count's start, so an older count loses.
    """

    __table_name__ = "products_needing_attention"
    __partition_bytes__ = 50 * KB
    __personal_data__ = None
    reason = columns.Text(partition_key=True)  # product_reports.entities.REASONS
    position = columns.Integer(primary_key=True)
    total = columns.Integer(static=True)
    counted_at = columns.DateTime(static=True)
    product_id = columns.UUID()
    name = columns.Text()
    sku = columns.Text()  # of the variant; null for a whole product
    on_hand = columns.Integer()  # units in all warehouses
    visitors = columns.Integer()  # of its page in 30 days
    subscribers = columns.Integer()  # who wait for a sold-out variant
    sold = columns.Integer()  # units of the orders of 90 days
    refunded = columns.Integer()  # of these units
