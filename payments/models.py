"""The table of payments that have no order after a restore."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class UnmatchedPayment(Model):
    """Q29: the payments that have no order since a restore, and the orders whose money staff look up at the bank or the carrier.

    States: open, then refunded (a payment) or checked (an order by transfer or on delivery).
    Bound: one partition: the payments between a backup and its restore, and the orders that were to be paid then. 10,000 rows of
    300 bytes are 3 MB. Rows expire after 400 days.
    Writer: payments.operations, only by conditional writes.
    """

    __table_name__ = "unmatched_payments"
    __partition_bytes__ = 5 * MB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = {"why": "knows an order's number, and which of the staff decided"}
    shop = columns.Text(partition_key=True)  # always 'shop'
    payment_id = columns.UUID(primary_key=True)  # or the id of an order without a gateway
    gateway = columns.Text()  # or the payment method that has none
    reference = columns.Text()  # at the gateway
    number = columns.Text()  # of the order; of a payment, the order is lost
    amount = columns.BigInt()  # in minor units: what the gateway holds, or what is to be paid
    currency = columns.Text()
    started_at = columns.DateTime()
    state = columns.Text()
    decided_by = columns.UUID()  # one of the staff
    decided_at = columns.DateTime()
