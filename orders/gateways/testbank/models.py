"""The test bank's own books: it stands for a payment provider, and shares nothing with the shop but its interface."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model


class BankPayment(Model):
    """A payment as the test bank knows it.

    Bound: one row a partition; gone after 90 days.
    Writer: orders.gateways.testbank.
    """

    __table_name__ = "testbank_payments"
    __options__ = {"default_time_to_live": 90 * 24 * 3600}
    payment_id = columns.UUID(partition_key=True)
    reference = columns.Text()
    amount = columns.BigInt()
    currency = columns.Text()
    description = columns.Text()
    return_url = columns.Text()
    state = columns.Text()  # open, late, paid, declined, refunded
    answers_at = columns.DateTime()  # when a late answer is there
