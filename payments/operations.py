"""Lists payments that have no order after a restore, and gives them back."""

from datetime import datetime
from uuid import UUID

from cassandra_db import REFUSED_MEANS_DONE, conditional_write
from payments.gateways import get_gateway
from payments.queries import SHOP, UnmatchedPayment
from pricing.money import to_minor_units

LIST = conditional_write(
    "Q29",
    """INSERT INTO unmatched_payments (shop, payment_id, gateway, reference, number, amount, currency, started_at, state)
       VALUES (:shop, :payment_id, :gateway, :reference, :number, :amount, :currency, :started_at, 'open') IF NOT EXISTS""",
)
DECIDE = conditional_write(
    "Q29",
    """UPDATE unmatched_payments SET state = :state, decided_by = :staff_id, decided_at = :now
       WHERE shop = :shop AND payment_id = :payment_id IF state = 'open'""",
)
UNLIST = conditional_write(
    "Q29",
    "DELETE FROM unmatched_payments WHERE shop = :shop AND payment_id = :payment_id IF state = 'open'",
)


def list_unmatched_payment(found: UnmatchedPayment) -> None:
    """Put a payment on the staff's list. A payment that is there already stays as it is. Raises CassandraUnavailable."""
    LIST.apply(
        if_lost=REFUSED_MEANS_DONE,
        shop=SHOP,
        payment_id=found.payment_id,
        gateway=found.gateway,
        reference=found.reference,
        number=found.number,
        amount=to_minor_units(found.amount),
        currency=found.amount.currency.code,
        started_at=found.started_at,
    )


def unlist_payment(payment_id: UUID) -> None:
    """Take a payment that has an order off the list. Raises CassandraUnavailable."""
    UNLIST.apply(if_lost=REFUSED_MEANS_DONE, shop=SHOP, payment_id=payment_id)


def settle_unmatched_payment(found: UnmatchedPayment, staff_id: UUID, now: datetime) -> str:
    """Give back all money of a payment that has no order, or tick off an order whose money was looked up. Return its new state.

    A second call, also at the same time, gives back nothing. Raises GatewayUnavailable, CassandraUnavailable.
    """
    if not found.is_manual:
        gateway = get_gateway(found.gateway)
        gateway.void(found.reference)
        outcome = gateway.get_outcome(found.reference)
        if outcome.captured > outcome.refunded:
            left = outcome.captured - outcome.refunded
            gateway.refund(found.reference, left, f"unmatched {found.payment_id}")
    state = "checked" if found.is_manual else "refunded"
    DECIDE.apply(
        if_lost=REFUSED_MEANS_DONE,
        shop=SHOP,
        payment_id=found.payment_id,
        state=state,
        staff_id=staff_id,
        now=now,
    )
    return state
