"""The test bank's own tables. The bank plays a payment provider, and shares only the gateway's interface with the shop."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class BankPayment(Model):
    """A payment in the books of the test bank.

    Bound: one row in each partition, which expires after 90 days.
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
    card = columns.Text()  # the card number that the payer typed: it decides how the bank behaves
    answers_at = columns.DateTime()  # the time from which a late answer is available
    codes = columns.Integer()  # the number of wrong codes that the payer typed
    captured = columns.BigInt()
    refunded = columns.BigInt()
    done = columns.Set(columns.Text)  # the keys of the captures and refunds that were done already
    stamp = columns.UUID()  # random, new at each change


class BankWebhook(Model):
    """The webhooks that the test bank has yet to send, by the minute from which each is due.

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
