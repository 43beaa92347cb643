"""Sales and visits, and their sums by day."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class SaleFact(Model):
    """Q18: a line of a paid order, with its refunds. Values are absolute.

    Bound: the lines sold in a day, over 16 shards (analytics.days.SHARDS).
    Writer: analytics.operations.record_sale, with the timestamp "placed + version" of the order, so that late writes lose.
    """

    __table_name__ = "sales_facts"
    __partition_bytes__ = 20 * MB
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
    """Q18: the sales of a day by category, added up from the facts.

    A line counts once in its category and in each above it; the nil category is the whole shop.
    Bound: 31 days of the categories in which something was sold, at most 62,000 rows.
    Writer: analytics.operations.roll_up_day, with the time of its read, so that a slower and older sum loses.
    """

    __table_name__ = "daily_sales"
    __partition_bytes__ = 10 * MB
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


class DailyCustomer(Model):
    """Q18: a day's paid orders of new and of returning customers.

    `orders` includes orders of erased people, which count as neither.
    Bound: 31 rows.
    Writer: analytics.operations.record_daily_customers, with the time of its read, so that a slower and older count loses.
    """

    __table_name__ = "daily_customers"
    __partition_bytes__ = 10 * KB
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    orders = columns.Integer()
    first_orders = columns.Integer()
    returning_orders = columns.Integer()


class SalesDay(Model):
    """Days with facts that may not be added up yet, written before and after the facts.

    Bound: the days that changed in the last minutes; an import of old orders changes hundreds.
    Writer: analytics.operations.record_sale; removed by analytics.operations.roll_up_changed_days.
    """

    __table_name__ = "sales_days"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    shop = columns.Text(partition_key=True)  # always 'shop'
    day = columns.Date(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal


_PSEUDONYMS = "pseudonyms of a day: personal data until its salt is gone (visitor_salts, 26 hours), nobody's after that; no person can be looked up by them"
_DAYS_KEPT = 90 * 24 * 3600


class Event(Model):
    """Q19: the events of an hour, newest first.

    Bound: 10 MB, some 65,000 events of 150 bytes; 8 shards (analytics.event_writer.EVENT_SHARDS) hold 145 a second of each kind.
    Writer: analytics.event_writer.EventWriter, with the event's own time, so that a batch may be sent again.
    """

    __table_name__ = "events"
    __partition_bytes__ = 10 * MB
    __options__ = {
        "default_time_to_live": 3 * 24 * 3600,
        "gc_grace_seconds": 3 * 3600,
        "compaction": {
            "class": "TimeWindowCompactionStrategy",
            "compaction_window_unit": "HOURS",
            "compaction_window_size": "3",
        },
    }
    __personal_data__ = {"why": _PSEUDONYMS}
    kind = columns.Text(partition_key=True)  # analytics.kinds.KINDS
    hour = columns.DateTime(partition_key=True)
    shard = columns.Integer(partition_key=True)
    event_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    source = columns.Text()  # direct, own, search, social or other
    visitor = columns.Blob()  # eight bytes
    product_id = columns.UUID()
    category_id = columns.UUID()
    words = columns.Text()
    found = columns.Integer()


class VisitorSalt(Model):
    """Q19: the random key of a day's pseudonyms, which are anonymous once it has expired.

    Bound: one row.
    Writer: analytics.event_writer.get_or_create_salt, if there is none; it goes by its TTL of 26 hours.
    """

    __table_name__ = "visitor_salts"
    __partition_bytes__ = 1 * KB
    __options__ = {"default_time_to_live": 26 * 3600, "gc_grace_seconds": 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)  # in the shop's time zone
    salt = columns.Blob()


class LiveMinute(Model):
    """Q19: a process's counts of each minute of an hour, for the live page.

    Bound: 60 rows of each process, at most 1.1 kB each: 7 MB with 100 processes.
    Writer: analytics.live.LiveCounter: each process writes its own rows, always a whole minute.
    """

    __table_name__ = "live_minutes"
    __partition_bytes__ = 7 * MB
    __options__ = {"default_time_to_live": 2 * 3600, "gc_grace_seconds": 3600}
    __personal_data__ = {"why": "sketches of " + _PSEUDONYMS}
    hour = columns.DateTime(partition_key=True)
    minute = columns.Integer(primary_key=True)  # of the hour, from 0
    process = columns.UUID(primary_key=True)  # random, new in each process
    pages = columns.Integer()
    orders = columns.Integer()
    visitors = columns.Blob()  # analytics.sketches


class HourlyVisit(Model):
    """Q19: the sums of an hour's events by subject; `*` is the sum of all.

    Bound: the products, categories and words of an hour, at most 1 kB each: 10 MB with 10,000.
    Writer: analytics.roll_up.roll_up_hour, with the time of its read.
    """

    __table_name__ = "hourly_visits"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 3 * 24 * 3600}
    __personal_data__ = {"why": "sketches of " + _PSEUDONYMS}
    hour = columns.DateTime(partition_key=True)
    kind = columns.Text(partition_key=True)
    subject = columns.Text(primary_key=True)  # a product's or category's id, or words
    category_id = columns.UUID()
    events = columns.Integer()
    empty = columns.Integer()  # searches that found nothing
    visitors = columns.Blob()  # analytics.sketches


class ProductView(Model):
    """Q19: the views of a product by day, latest first.

    `visitors` is an estimate (standard error 3.25 %) for one day; pseudonyms change daily, so days cannot be merged.
    Bound: 90 rows, by their TTL.
    Writer: analytics.roll_up.roll_up_visits_of_day, with the time of its read.
    """

    __table_name__ = "product_views"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": _DAYS_KEPT}
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    day = columns.Date(primary_key=True, clustering_order="DESC")
    views = columns.Integer()
    visitors = columns.Integer()


class TopProduct(Model):
    """Q19: the most viewed products of a day by category; the nil category is the whole shop.

    Bound: 100 rows.
    Writer: analytics.roll_up.roll_up_visits_of_day, with the time of its read.
    """

    __table_name__ = "top_products"
    __partition_bytes__ = 50 * KB
    __options__ = {"default_time_to_live": _DAYS_KEPT}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    category_id = columns.UUID(partition_key=True)
    rank = columns.Integer(primary_key=True)
    product_id = columns.UUID()
    views = columns.Integer()
    visitors = columns.Integer()


class TopSearch(Model):
    """Q19: the most frequent searches of a day, and how many found nothing.

    Only words that three visitors of the day have used, or that a product has; others expire with their hours, after three days.
    Bound: 100 rows.
    Writer: analytics.roll_up.roll_up_visits_of_day, with the time of its read.
    """

    __table_name__ = "top_searches"
    __partition_bytes__ = 50 * KB
    __options__ = {"default_time_to_live": _DAYS_KEPT}
    __personal_data__ = {
        "why": "words of three visitors or of the catalogue, without an address or a long number; nobody's name stands beside them"
    }
    day = columns.Date(partition_key=True)
    rank = columns.Integer(primary_key=True)
    words = columns.Text()
    searches = columns.Integer()
    empty = columns.Integer()


class DailyVisit(Model):
    """Q19: a day's visitors by step: viewed, added, went to the checkout, ordered. `visit` is any of these.

    Bound: 31 days of seven rows.
    Writer: analytics.roll_up.roll_up_visits_of_day, with the time of its read.
    """

    __table_name__ = "daily_visits"
    __partition_bytes__ = 500 * KB
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    kind = columns.Text(primary_key=True)
    events = columns.Integer()
    visitors = columns.Integer()
