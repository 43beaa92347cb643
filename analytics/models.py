"""What was sold, line by line, and what that comes to by day and category."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class SaleFact(Model):
    """Q18: a line of a paid order: what was sold, and what of it was given back since. Absolute, never counted up.

    Bound: what is sold in a day, over 16 shards (analytics.days.SHARDS).
    Writer: analytics.operations.record_sale, with the timestamp "placed + version" of the order, so that late writes lose.
    """

    __table_name__ = "sales_facts"
    __personal_data__ = {"why": "products and sums; the customer stands in orders"}
    day = columns.Date(partition_key=True)  # of the order's placing, in the shop's time zone
    shard = columns.Integer(partition_key=True)
    order_id = columns.UUID(primary_key=True)
    line_number = columns.Integer(primary_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    # JSON: the product's category and its ancestors, the root first, as they were then
    categories = columns.Text()
    currency = columns.Text()
    units = columns.Integer()
    gross = columns.BigInt()  # what was paid for the line
    net = columns.BigInt()  # without tax
    refunded_units = columns.Integer()
    refunded_gross = columns.BigInt()
    refunded_net = columns.BigInt()


class DailySale(Model):
    """Q18: what was sold on a day, by category; rolled up from the facts.

    A line counts in its category and in each above it, once; the nil category is the whole shop.
    Bound: 31 days of the categories in which something was sold, at most 62,000 rows.
    Writer: analytics.operations.roll_up_day, with the time of its read, so that a slower and older sum loses.
    """

    __table_name__ = "daily_sales"
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    category_id = columns.UUID(primary_key=True)
    currency = columns.Text(primary_key=True)
    orders = columns.Integer()
    units = columns.Integer()
    gross = columns.BigInt()
    net = columns.BigInt()
    refunded_units = columns.Integer()
    refunded_gross = columns.BigInt()
    refunded_net = columns.BigInt()


class SalesDay(Model):
    """Which days have facts that may not be rolled up yet. Written before the facts and once more after them.

    Bound: the days that changed in the last minutes; an importer of old orders changes hundreds.
    Writer: analytics.operations.record_sale; removed by analytics.operations.roll_up_changed_days.
    """

    __table_name__ = "sales_days"
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    shop = columns.Text(partition_key=True)  # always 'shop'
    day = columns.Date(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal
