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
    number = columns.Text(partition_key=True)  # in capital letters
    user_id = columns.UUID()  # the member who has proved the e-mail address; null before
    placed_at = columns.DateTime()
    email = columns.Text()  # its key (mail.addresses)
    name = columns.Text()
    address = columns.Text()  # with line breaks
    status = columns.Text()  # in the former shop's words
    currency = columns.Text()
    total = columns.BigInt()
    lines = columns.Text()  # JSON: [[name, SKU, units, price in minor units or null], …]


class PastOrderByOwner(Model):
    """Q32: the past orders of a member, or of an e-mail address that no member has proved yet, newest first.

    Bound: a person's orders, with 100 bytes each; 50,000 sales on one address of a marketplace are 5 MB.
    Writer: past_orders.operations. The write timestamp is the time at which the order was read.
    """

    __table_name__ = "past_orders_by_owner"
    __partition_bytes__ = 5 * MB
    __personal_data__ = {"columns": ("owner",), "on_erase": "deleted"}
    owner = columns.Text(partition_key=True)  # the member's id without hyphens, or the address
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    number = columns.Text(primary_key=True, clustering_order="DESC")
