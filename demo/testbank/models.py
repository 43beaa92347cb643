"""The test bank's own tables. It plays a payment provider, and shares only the interface with the shop."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class BankPayment(Model):
    """A payment as the test bank knows it.

    Bound: one row a partition; gone after 90 days.
    Writer: demo.testbank.
    """

    __table_name__ = "testbank_payments"
    __partition_bytes__ = 10 * KB
    __options__ = {"default_time_to_live": 90 * 24 * 3600}
    __personal_data__ = {"why": "knows an order's number, and no person"}
    payment_id = columns.UUID(partition_key=True)
    reference = columns.Text()
    amount = columns.BigInt()
    currency = columns.Text()
    description = columns.Text()
    return_url = columns.Text()
    notice_url = columns.Text()
    # open, asked (for a code), late, away, authorized, declined, left_unpaid, captured, voided, refunded
    state = columns.Text()
    card = columns.Text()  # the number that was given: it says how the bank behaves
    answers_at = columns.DateTime()  # when a late answer is there
    codes = columns.Integer()  # how many wrong codes were typed
    captured = columns.BigInt()
    refunded = columns.BigInt()
    done = columns.Set(columns.Text)  # of what was done already
    stamp = columns.UUID()  # of the last change


class BankWebhook(Model):
    """The webhooks that the test bank still has to send, by the minute from which on they are due.

    Bound: the webhooks of one minute.
    Writer: demo.testbank.
    """

    __table_name__ = "testbank_notices"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 7 * 24 * 3600}
    __personal_data__ = {"why": "knows an order's number, and no person"}
    minute = columns.DateTime(partition_key=True)
    due_at = columns.DateTime(primary_key=True)
    notice_id = columns.UUID(primary_key=True)
    url = columns.Text()
    body = columns.Text()
    tries = columns.Integer()
