"""The tables of the books: entries, their sums by month, closed months, open invoices and differences."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

_OF_ORDERS = "numbers, amounts and countries of orders; the customer stands in orders"


class BookEntry(Model):
    """Q26: what an order's event moved: a payment, a refund, a gateway's fee; and the order's invoice, without amounts.

    Bound: a sixteenth of the entries of a day; they are spread over 16 shards (analytics.days.SHARDS).
    Writer: books.operations.record_entries. An entry is written once; a repeat writes the same values.
    """

    __table_name__ = "book_entries"
    __partition_bytes__ = 20 * MB
    __personal_data__ = {"why": _OF_ORDERS}
    day = columns.Date(partition_key=True)  # on which it was booked, in the shop's time zone
    shard = columns.Integer(partition_key=True)
    order_id = columns.UUID(primary_key=True)
    event_id = columns.TimeUUID(primary_key=True)
    kind = columns.Text(primary_key=True)  # payment, refund, fee, invoice
    number = columns.Text()  # the order's
    gateway = columns.Text()
    currency = columns.Text()
    country = columns.Text()  # in which the sale is taxed
    amounts = columns.Text()  # JSON: [[rate in per cent, net, tax], …] in minor units


class LateBookEntry(Model):
    """Q26: the days of entries that were found after their month was closed.

    Bound: the events of an order.
    Writer: books.operations.record_entries, by conditional writes: of two processes on two days, one decides.
    """

    __table_name__ = "late_book_entries"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"why": _OF_ORDERS}
    order_id = columns.UUID(partition_key=True)
    event_id = columns.TimeUUID(primary_key=True)
    kind = columns.Text(primary_key=True)
    day = columns.Date()


class BookSum(Model):
    """Q26: the sums of a day's entries by kind, gateway, country, tax rate and currency.

    Bound: 31 days of the gateways, countries and rates in use, at most 20,000 rows.
    Writer: books.operations.roll_up_day. The write timestamp is the time of its read, so that a sum of fewer entries loses.
    """

    __table_name__ = "book_sums"
    __partition_bytes__ = 5 * MB
    __personal_data__ = None
    month = columns.Date(partition_key=True)  # its first day
    day = columns.Date(primary_key=True)
    kind = columns.Text(primary_key=True)
    gateway = columns.Text(primary_key=True)
    country = columns.Text(primary_key=True)
    rate = columns.Text(primary_key=True)
    currency = columns.Text(primary_key=True)
    net = columns.BigInt()
    tax = columns.BigInt()


class PendingBookDay(Model):
    """The days whose entries must be added up again, by the minute of the write.

    Bound: the days on which money moved within a minute; a fill of old orders has hundreds.
    Writer: books.operations.record_entries, in one batch with the entries; removed by the job "book sums".
    """

    __table_name__ = "pending_book_days_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    day = columns.Date(primary_key=True)
    written = columns.BigInt()


class BookMonth(Model):
    """Q27: the months whose books are closed or being closed. All earlier months are closed, too.

    Bound: 12 rows a year.
    Writer: books.operations.close_month, only by conditional writes.
    """

    __table_name__ = "book_months"
    __partition_bytes__ = 100 * KB
    __personal_data__ = None
    shop = columns.Text(partition_key=True)  # always 'shop'
    month = columns.Date(primary_key=True)  # its first day
    closing_at = columns.DateTime()  # from then on nothing is booked in it
    closed_at = columns.DateTime()  # from then on its sums stay


class OpenInvoice(Model):
    """Q28: the orders that wait for money: by transfer or on delivery, or by a card whose bank refused.

    Bound: a sixteenth of the shop's open invoices.
    Writer: books.operations.record_open_invoice. The write timestamp is "placed + version", so that an older version loses.
    """

    __table_name__ = "open_invoices"
    __partition_bytes__ = 10 * MB
    # Paid invoices leave tombstones at the front of what the page reads.
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {"why": _OF_ORDERS}
    shard = columns.Integer(partition_key=True)
    placed_at = columns.DateTime(primary_key=True)
    order_id = columns.UUID(primary_key=True)
    number = columns.Text()
    payment_method = columns.Text()
    country = columns.Text()
    currency = columns.Text()
    amount = columns.BigInt()  # in minor units
    due = columns.Date()


class BookDifference(Model):
    """Q29: the orders of a month whose money differs in the order, in the books and at the gateway.

    Bound: the differences of a month; each is to be settled.
    Writer: books.operations.record_difference. The write timestamp is the time of its read.
    """

    __table_name__ = "book_differences"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"why": _OF_ORDERS}
    month = columns.Date(partition_key=True)  # in which the money moved
    order_id = columns.UUID(primary_key=True)
    number = columns.Text()
    currency = columns.Text()
    in_order = columns.BigInt()  # received less refunded, in minor units
    in_books = columns.BigInt()
    at_gateway = columns.BigInt()
    found_at = columns.DateTime()
