"""What happens at the bank."""

from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import conditional
from orders.gateways.testbank import queries

APPROVED, DECLINED, LATE, SILENT = "4242424242424242", "4000000000000002", "4000000000000341", "4000000000000259"
# How long the bank thinks about the third card.
LATE_BY = timedelta(seconds=20)

OPEN = conditional(
    "bank",
    """INSERT INTO testbank_payments (payment_id, reference, amount, currency, description, return_url, state)
       VALUES (:payment_id, :reference, :amount, :currency, :description, :return_url, 'open') IF NOT EXISTS""",
)
ANSWER = conditional(
    "bank",
    "UPDATE testbank_payments SET state = :state, answers_at = :answers_at WHERE payment_id = :payment_id IF state = :was",
)


def payment_opened(
    payment_id: UUID, reference: str, amount: int, currency: str, description: str, return_url: str
) -> None:
    """Open a payment of `amount` minor units; opening it again changes nothing. Raises CassandraUnavailable."""
    OPEN.apply(
        mine=lambda _: True,
        payment_id=payment_id,
        reference=reference,
        amount=amount,
        currency=currency,
        description=description,
        return_url=return_url,
    )


def card_given(payment_id: UUID, card: str, now: datetime) -> None:
    """Decide about a card: one is approved, one late, one never; all others are declined. Raises CassandraUnavailable."""
    if card == SILENT:
        return
    state = {APPROVED: "paid", LATE: "late"}.get(card, "declined")
    _answered(payment_id, state, "open", now + LATE_BY if state == "late" else None)


def payment_given_up(payment_id: UUID) -> None:
    """Note that the payer has left without paying. Raises CassandraUnavailable."""
    _answered(payment_id, "declined", "open", None)


def payment_returned(payment_id: UUID) -> None:
    """Give the money back, whatever the payment stood at. Raises CassandraUnavailable."""
    row = queries.payment(payment_id)
    if row is not None and row.state != "refunded":
        _answered(payment_id, "refunded", row.state, None)


def _answered(payment_id: UUID, state: str, was: str, answers_at: datetime | None) -> None:
    ANSWER.apply(
        mine=lambda row: row.state == state, payment_id=payment_id, state=state, was=was, answers_at=answers_at
    )
