"""The tables of past orders: what customers ordered in the merchant's former shop."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class PastOrder(Model):
    """Q32: an order that was placed in a former shop. It is read only; no stock, payment or sale belongs to it.

    Bound: one row of at most 1,000 lines of some 200 bytes, mostly 1 KB, at most 200 KB.
    Writer: past_orders.operations, only by conditional writes.
    """

    __table_name__ = "past_orders"
    __partition_bytes__ = 200 * KB
    __personal_data__ = {"columns": ("user_id", "email", "name", "address"), "on_erase": "deleted"}
    order_id = columns.UUID(partition_key=True)  # made of the former shop and the number
    user_id = columns.UUID()  # the member who has proved the e-mail address; null before
    shop = columns.Text()  # the former shop; '' if the file does not name it
    number = columns.Text()
    placed_at = columns.DateTime()
    email = columns.Text()  # its key (mail.addresses)
    name = columns.Text()
    address = columns.Text()  # with line breaks
    status = columns.Text()  # in the former shop's words
    currency = columns.Text()
    total = columns.BigInt()
    lines = columns.Text()  # JSON: [[name, SKU, units, price in minor units or null], …]


class PastOrderByTerm(Model):
    """Q32: the past orders of a member or an e-mail address, or with a number or a name, newest first.

    Bound: 2,000 orders of an e-mail address (past_orders.operations.MAX_ORDERS). Of names, the words with the same first two
    letters: a tenth of 500,000 words of 100 bytes are 5 MB.
    Writer: past_orders.operations. The write timestamp is the time at which the order was read.
    """

    __table_name__ = "past_orders_by_term"
    __partition_bytes__ = 5 * MB
    __personal_data__ = {"columns": ("term",), "on_erase": "deleted"}
    kind = columns.Text(partition_key=True)  # member, email, number or name
    head = columns.Text(partition_key=True)  # the first two letters of a name's word; else the term
    term = columns.Text(primary_key=True)
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID(primary_key=True, clustering_order="DESC")
