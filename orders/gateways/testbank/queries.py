"""What the bank reads of its books."""

from uuid import UUID

from cassandra_db import Row, read

PAYMENT = read(
    "bank",
    """SELECT payment_id, reference, amount, currency, description, return_url, state, answers_at
       FROM testbank_payments WHERE payment_id = :payment_id""",
)


def payment(payment_id: UUID) -> Row | None:
    """Return a payment (reference, amount in minor units, currency, state, …), or None. Raises CassandraUnavailable."""
    return PAYMENT.one(payment_id=payment_id)
