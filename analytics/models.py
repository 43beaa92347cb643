"""The tables of sales and visits, and of their sums by day."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class SaleFact(Model):
    """Q18: a line of a paid order, with its refunds. After a refund, the row is written again with the new totals.

    Rows of earlier versions lack `placed_at` and what follows it until `manage.py rebuild sales`.
    Bound: a sixteenth of the lines sold in a day; the lines are spread over 16 shards (analytics.days.SHARDS).
    Writer: analytics.operations.record_sale. The write timestamp is "placed + version", so that an older version loses.
    analytics.operations.mark_returning adds `is_returning` with the row's own timestamp; true is never taken back.
    """

    __table_name__ = "sales_facts"
    __partition_bytes__ = 20 * MB
    __personal_data__ = {
        "why": "the books' basis: what was sold when, to which country, how paid, and whether to a returning customer; the customer stands in orders, and no reason for a discount that staff typed is kept"
    }
    day = columns.Date(partition_key=True)  # of the order's placing, in the shop's time zone
    shard = columns.Integer(partition_key=True)
    order_id = columns.UUID(primary_key=True)
    line_number = columns.Integer(primary_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    # JSON: the ids of the product's category and its ancestors at the time of the sale, the root first
    categories = columns.Text()
    currency = columns.Text()
    units = columns.Integer()
    gross = columns.BigInt()  # the amount paid for the line, with tax
    net = columns.BigInt()  # the same amount without tax
    refunded_units = columns.Integer()
    refunded_gross = columns.BigInt()
    refunded_net = columns.BigInt()
    placed_at = columns.DateTime()
    country = columns.Text()  # of the delivery address
    payment_method = columns.Text()
    # JSON: the keys of the promotions that reduced the line, or made the order's delivery free; a name if the order has no key
    promotions = columns.Text()
    is_returning = columns.Boolean()  # whether the customer had bought before


class DailySaleByDimension(Model):
    """Q18: the sales of a day by the keys of a dimension (analytics.dimensions), added up from `sales_facts`.

    The key "" stands for all keys beyond a day's 500 best by gross, "?" for what is not known, "-" for no promotion.
    Bound: 31 days of 501 rows for each currency; of categories, those in which something was sold, at most 62,000 rows.
    Writer: analytics.operations.roll_up_day. The write timestamp is the time of its read, so that a sum of older facts loses.
    """

    __table_name__ = "daily_sales_by_dimension"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    dimension = columns.Text(partition_key=True)
    day = columns.Date(primary_key=True)
    key = columns.Text(primary_key=True)
    currency = columns.Text(primary_key=True)
    orders = columns.Integer()
    units = columns.Integer()
    gross = columns.BigInt()
    net = columns.BigInt()
    refunded_units = columns.Integer()
    refunded_gross = columns.BigInt()
    refunded_net = columns.BigInt()


class DailyCustomer(Model):
    """Q18: the numbers of a day's paid orders by new and by returning customers.

    `orders` also counts the orders of erased people, which are in neither of the other two numbers.
    Bound: 31 rows.
    Writer: analytics.operations.record_daily_customers. The write timestamp is the time of its read, so that an older count loses.
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
    """The days whose sales must be added up again. A day is stored before its facts are written, and again if that took long.

    Bound: the days that changed in the last minutes; an import of old orders changes hundreds.
    Writer: analytics.operations.record_sale; removed by analytics.operations.roll_up_changed_days.
    """

    __table_name__ = "sales_days"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    shop = columns.Text(partition_key=True)  # always 'shop'
    day = columns.Date(primary_key=True)
    # the timestamp of the row and of its deletion, in microseconds since 1970
    written = columns.BigInt()


_PSEUDONYMS = "pseudonyms of a day: personal data until its salt is gone (visitor_salts, 26 hours), nobody's after that; no person can be looked up by them"
_DAYS_KEPT = 90 * 24 * 3600


class Event(Model):
    """Q19: the events of one kind in an hour, newest first.

    Bound: 10 MB, some 65,000 events of 150 bytes; 8 shards (analytics.event_writer.EVENT_SHARDS) hold 145 events a second.
    Writer: analytics.event_writer.EventWriter. The write timestamp is the event's own time, so that a batch may be written twice.
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
    found = columns.Integer()  # the results of a search, or the place of a clicked product


class VisitorSalt(Model):
    """Q19: the random key that makes a day's pseudonyms. Once the key has expired, the pseudonyms are anonymous.

    Bound: one row.
    Writer: analytics.event_writer.get_or_create_salt, if the day has no salt yet. The row expires after 26 hours.
    """

    __table_name__ = "visitor_salts"
    __partition_bytes__ = 1 * KB
    __options__ = {"default_time_to_live": 26 * 3600, "gc_grace_seconds": 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)  # in the shop's time zone
    salt = columns.Blob()


class LiveMinute(Model):
    """Q19: the page loads, orders and visitors that a process counted in each minute of an hour, for the live page.

    Bound: 60 rows for each process, at most 1.1 kB each: 7 MB with 100 processes.
    Writer: analytics.live.LiveCounter. Each process writes only its own rows, with the totals of the whole minute.
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
    """Q19: an hour's events of one kind, counted by subject. The subject `*` stands for all events of the kind.

    Bound: a row of at most 1 kB for each product, category or search of the hour: 10 MB with 10,000.
    Writer: analytics.roll_up.roll_up_hour. The write timestamp is the time of its read.
    """

    __table_name__ = "hourly_visits"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 3 * 24 * 3600}
    __personal_data__ = {"why": "sketches of " + _PSEUDONYMS}
    hour = columns.DateTime(partition_key=True)
    kind = columns.Text(partition_key=True)
    # a product's or category's id, search words, or a click's place
    subject = columns.Text(primary_key=True)
    category_id = columns.UUID()
    events = columns.Integer()
    empty = columns.Integer()  # searches that found nothing
    visitors = columns.Blob()  # analytics.sketches


class ProductView(Model):
    """Q19: the views of a product by day, the latest day first.

    `visitors` is an estimate (standard error 3.25 %). Visitors of several days cannot be merged: pseudonyms change daily.
    Bound: 90 rows, one for each day until it expires.
    Writer: analytics.roll_up.roll_up_visits_of_day. The write timestamp is the time of its read.
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
    """Q19: the most viewed products of a category on a day. The nil UUID stands for the whole shop.

    Bound: 100 rows.
    Writer: analytics.roll_up.roll_up_visits_of_day. The write timestamp is the time of its read.
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
    """Q19: the most frequent searches of a day, each with the number of times that it found nothing.

    It keeps only words that three visitors used that day, or that a product has. Others expire with `hourly_visits` after 3 days.
    Bound: 100 rows.
    Writer: analytics.roll_up.roll_up_visits_of_day. The write timestamp is the time of its read.
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
    visitors = columns.Integer()  # without it in rows of older versions


class DailyVisit(Model):
    """Q19: the numbers of events and visitors on a day, a row for each kind of event (analytics.kinds.KINDS).

    The row of the kind `visit` counts the events of all kinds, and each visitor once.
    Bound: 31 days of eight rows.
    Writer: analytics.roll_up.roll_up_visits_of_day. The write timestamp is the time of its read.
    """

    __table_name__ = "daily_visits"
    __partition_bytes__ = 500 * KB
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    kind = columns.Text(primary_key=True)
    events = columns.Integer()
    empty = columns.Integer()  # searches that found nothing
    visitors = columns.Integer()


class SearchClick(Model):
    """Q19: how often products were opened from the results of searches, by day and by their place in the results.

    Place 49 stands for all places further down (analytics.clicks). Clicks without a place, such as those in filtered lists, are
    only counted in `daily_visits`.
    Bound: 31 days of 49 rows.
    Writer: analytics.roll_up.roll_up_visits_of_day. The write timestamp is the time of its read.
    """

    __table_name__ = "search_clicks"
    __partition_bytes__ = 200 * KB
    __options__ = {"default_time_to_live": _DAYS_KEPT}
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    place = columns.Integer(primary_key=True)  # from 1
    clicks = columns.Integer()
