"""The test bank's own operations: payments, and the webhooks about them."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from cassandra_db import (
    REFUSED_MEANS_DONE,
    Row,
    applied_if,
    conditional_write,
    retry_attempts,
    write,
)
from demo.testbank import queries
from demo.testbank.cards import (
    APPROVED,
    AWAY,
    CHALLENGED,
    CODE,
    LATE,
    OUT_OF_ORDER,
    REFUSED_LATER,
    SILENT,
    TWICE,
    WRONG_AMOUNT,
    WRONG_CODES,
)
from jobs.minutes import floor_to_minute
from payments.gateways import CaptureRefused

# The time in which the bank answers for a late card, and the time for which it plays that it cannot be reached.
LATE_DELAY = timedelta(seconds=20)
# The delay of a webhook that a later webhook overtakes.
OUT_OF_ORDER_DELAY = timedelta(seconds=5)
# The number of times that a webhook is sent until the shop accepts it, and the pause before the second time.
MAX_ATTEMPTS = 12
_AGAIN = timedelta(seconds=20)
_APPROVED = (APPROVED, CHALLENGED, TWICE, OUT_OF_ORDER, WRONG_AMOUNT, REFUSED_LATER)
_CHANGING = ("state", "card", "answers_at", "amount", "codes", "captured", "refunded")

INSERT_PAYMENT = conditional_write(
    "bank",
    """INSERT INTO testbank_payments (payment_id, reference, amount, currency, description, return_url, notice_url, state,
                                      codes, captured, refunded, stamp)
       VALUES (:payment_id, :reference, :amount, :currency, :description, :return_url, :notice_url, 'open', 0, 0, 0,
               :payment_id)
       IF NOT EXISTS""",
)
# The amounts are written as they were read. A change since then has set another stamp, which refuses this write.
UPDATE_PAYMENT = conditional_write(
    "bank",
    """UPDATE testbank_payments SET state = :state, card = :card, answers_at = :answers_at, amount = :amount,
              codes = :codes, captured = :captured, refunded = :refunded, done = :done, stamp = :stamp
       WHERE payment_id = :payment_id IF stamp = :seen""",
)


def open_payment(
    payment_id: UUID,
    reference: str,
    amount: int,
    currency: str,
    description: str,
    return_url: str,
    notice_url: str,
) -> None:
    """Open a payment of `amount` minor units. A second call for the same payment changes nothing. Raises CassandraUnavailable."""
    INSERT_PAYMENT.apply(
        if_lost=REFUSED_MEANS_DONE,
        payment_id=payment_id,
        reference=reference,
        amount=amount,
        currency=currency,
        description=description,
        return_url=return_url,
        notice_url=notice_url,
    )


def submit_card(payment_id: UUID, card: str, now: datetime) -> None:
    """Decide about a payment by its card number (see `cards`). An unknown card is declined. Raises CassandraUnavailable."""
    row = queries.get_payment(payment_id)
    if row is None or row.state != "open" or card == SILENT:
        return
    if card == CHALLENGED:
        change_payment(row, state="asked", card=card)
    elif card in (LATE, AWAY):
        if change_payment(
            row, state="late" if card == LATE else "away", card=card, answers_at=now + LATE_DELAY
        ):
            _queue_webhook(row, "authorized", now + LATE_DELAY)
    elif card in _APPROVED:
        _decide(row, "authorized", now, card=card, amount=row.amount + (card == WRONG_AMOUNT))
    else:
        _decide(row, "declined", now, card=card)


def submit_code(payment_id: UUID, code: str, now: datetime) -> bool:
    """Return whether the payer's code is right, and authorize the payment if so. Decline it after WRONG_CODES wrong codes.

    Raises CassandraUnavailable.
    """
    row = queries.get_payment(payment_id)
    if row is None or row.state != "asked":
        return False
    wrong = row.codes + (code != CODE)
    if code == CODE or wrong >= WRONG_CODES:
        _decide(row, "authorized" if code == CODE else "declined", now, codes=wrong)
    else:
        change_payment(row, codes=wrong)
    return code == CODE


def abandon_payment(payment_id: UUID, now: datetime) -> None:
    """Record that the payer has left without paying. Raises CassandraUnavailable."""
    row = queries.get_payment(payment_id)
    if row is not None and row.state in ("open", "asked"):
        _decide(row, "left_unpaid", now)


def _decide(row: Row, state: str, now: datetime, **changes: Any) -> None:
    if not change_payment(row, state=state, **changes):
        return
    card = changes.get("card", row.card)
    _queue_webhook(row, state, now)
    if card == TWICE:
        _queue_webhook(row, state, now)
    elif card == OUT_OF_ORDER:
        _queue_webhook(row, "opened", now + OUT_OF_ORDER_DELAY)


def capture_payment(payment_id: UUID, amount: int, key: str) -> None:
    """Capture `amount` minor units of the authorized amount, once for each key.

    Raises LookupError, CaptureRefused, CassandraUnavailable.
    """
    for row in _iterate_tries(payment_id, key):
        remaining = row.amount - row.captured
        if (
            row.state not in ("authorized", "late", "away", "captured")
            or amount > remaining
            or row.card == REFUSED_LATER
        ):
            raise CaptureRefused(f"payment {payment_id} is {row.state}")
        if change_payment(row, state="captured", captured=row.captured + amount, key=key):
            return


def void_payment(payment_id: UUID) -> None:
    """Release the authorized amount unless it was captured. Raises LookupError, CassandraUnavailable."""
    for row in _iterate_tries(payment_id, ""):
        if row.state not in ("open", "asked", "late", "away", "authorized") or change_payment(
            row, state="voided"
        ):
            return


def refund_payment(payment_id: UUID, amount: int, key: str) -> None:
    """Refund `amount` captured minor units, once for each key. Raises LookupError, ValueError, CassandraUnavailable."""
    for row in _iterate_tries(payment_id, key):
        if row.refunded + amount > row.captured:
            raise ValueError(f"payment {payment_id}: {amount} is more than is left of it")
        all_of_it = row.refunded + amount == row.captured
        if change_payment(
            row,
            state="refunded" if all_of_it else row.state,
            refunded=row.refunded + amount,
            key=key,
        ):
            return


def _iterate_tries(payment_id: UUID, key: str) -> Iterator[Row]:
    """Yield the stored payment repeatedly, until the caller has changed it, or the operation with this key was done already."""
    for _ in retry_attempts(10):
        row = queries.get_payment(payment_id)
        if row is None:
            raise LookupError(f"the bank knows no payment {payment_id}")
        if key and key in (row.done or ()):
            return
        yield row
    raise TimeoutError("the bank is too busy")


def change_payment(row: Row, *, key: str = "", **changes: Any) -> bool:
    """Change a payment, unless another process has changed it since `row` was read. Return whether this call changed it."""
    stamp = uuid4()
    previous = {name: getattr(row, name) for name in _CHANGING}
    outcome = UPDATE_PAYMENT.apply(
        if_lost=applied_if(lambda now: bool(now.stamp == stamp)),
        payment_id=row.payment_id,
        stamp=stamp,
        seen=row.stamp,
        done=set(row.done or ()) | ({key} if key else set()),
        **(previous | changes),
    )
    return outcome.applied


INSERT_WEBHOOK = write(
    "bank",
    """INSERT INTO testbank_notices (minute, due_at, notice_id, url, body, tries)
       VALUES (:minute, :due_at, :notice_id, :url, :body, :tries)""",
)
DELETE_WEBHOOK = write(
    "bank",
    "DELETE FROM testbank_notices WHERE minute = :minute AND due_at = :due_at AND notice_id = :notice_id",
)


def _queue_webhook(row: Row, state: str, due_at: datetime) -> None:
    """Queue a webhook about a payment's state. Its event id is made of its content, so that a repeat has the same id."""
    payload = {
        "event_id": f"{row.payment_id.hex} {state}",
        "type": f"payment.{state}",
        "payment_id": str(row.payment_id),
        "reference": row.reference,
        "amount": row.amount,
        "currency": row.currency,
    }
    _insert_webhook(due_at, row.notice_url, json.dumps(payload), 0)


def _insert_webhook(due_at: datetime, url: str, body: str, tries: int) -> None:
    INSERT_WEBHOOK.run(
        minute=floor_to_minute(due_at),
        due_at=due_at,
        notice_id=uuid4(),
        url=url,
        body=body,
        tries=tries,
    )


def record_webhook_attempt(row: Row, accepted: bool, now: datetime) -> None:
    """Record whether the shop accepted a webhook. If not, queue it up to MAX_ATTEMPTS times. Raises CassandraUnavailable."""
    tries = row.tries + 1
    if not accepted and tries < MAX_ATTEMPTS:
        _insert_webhook(now + _AGAIN * 2**tries, row.url, row.body, tries)
    DELETE_WEBHOOK.run(minute=row.minute, due_at=row.due_at, notice_id=row.notice_id)
