"""Reads the test bank's tables."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cassandra_db import QUORUM, Row, read, scan

PAYMENT = read(
    "bank",
    """SELECT payment_id, reference, amount, currency, description, return_url, notice_url, state, card, answers_at,
              codes, captured, refunded, done, stamp
       FROM testbank_payments WHERE payment_id = :payment_id""",
)


def get_payment(payment_id: UUID) -> Row | None:
    """Return a payment (reference, amount in minor units, currency, state, …), or None. Raises CassandraUnavailable."""
    return PAYMENT.one(payment_id=payment_id)


# Each change of a payment writes another stamp; the reference never changes.
PAYMENTS = scan(
    "bank",
    """SELECT payment_id, reference, amount, currency, state, answers_at, captured, refunded,
              writetime(reference) AS opened, writetime(stamp) AS changed
       FROM testbank_payments WHERE token(payment_id) > :start AND token(payment_id) <= :end""",
    consistency=QUORUM,
)

WEBHOOKS = read(
    "bank",
    "SELECT minute, due_at, notice_id, url, body, tries FROM testbank_notices WHERE minute = :minute",
)


def list_webhooks(minutes: Sequence[datetime]) -> list[Row]:
    """Return the queued webhooks that are due in these minutes, the earliest first. Raises CassandraUnavailable."""
    reading = [WEBHOOKS.start(minute=minute) for minute in minutes]
    return [row for pending in reading for row in pending.rows()]
