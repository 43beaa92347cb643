"""Reads the payments that have no order after a restore."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from moneyed import Money

from cassandra_db import PendingResult, Row, read
from payments.methods import MANUAL_METHODS
from pricing.money import from_minor_units

SHOP = "shop"
_SELECT = """SELECT payment_id, gateway, reference, number, amount, currency, started_at, state, decided_by, decided_at
             FROM unmatched_payments WHERE shop = :shop"""
# Q29: the payments without an order, and the orders whose money staff look up.
UNMATCHED = read("Q29", _SELECT)
UNMATCHED_ONE = read("Q29", f"{_SELECT} AND payment_id = :payment_id")


@dataclass(frozen=True)
class UnmatchedPayment:
    """A payment without an order or, if it is `is_manual`, an order whose money staff look up; then its id is `payment_id`.

    `state`: open, refunded, checked.
    """

    payment_id: UUID
    gateway: str
    reference: str
    number: str
    amount: Money
    started_at: datetime
    state: str = "open"
    decided_by: UUID | None = None
    decided_at: datetime | None = None

    @property
    def is_manual(self) -> bool:
        return self.gateway in MANUAL_METHODS

    @property
    def is_open(self) -> bool:
        return self.state == "open"


def list_unmatched_payments() -> list[UnmatchedPayment]:
    """Return the payments of `unmatched_payments_from_rows`. Raises CassandraUnavailable."""
    return unmatched_payments_from_rows(prefetch_unmatched_payments().rows())


def prefetch_unmatched_payments() -> PendingResult:
    """Start reading the unmatched payments, for `unmatched_payments_from_rows`."""
    return UNMATCHED.start(shop=SHOP)


def unmatched_payments_from_rows(rows: Iterable[Row]) -> list[UnmatchedPayment]:
    """Return the payments in the rows of UNMATCHED: the open ones first, then by their time."""
    # Some cells of an expired row can outlive the others.
    found = [_from_row(row) for row in rows if row.gateway]
    return sorted(found, key=lambda each: (not each.is_open, each.started_at, each.number))


def get_unmatched_payment(payment_id: UUID) -> UnmatchedPayment | None:
    """Return an unmatched payment, or None. Raises CassandraUnavailable."""
    row = UNMATCHED_ONE.one(shop=SHOP, payment_id=payment_id)
    return _from_row(row) if row and row.gateway else None


def _from_row(row: Row) -> UnmatchedPayment:
    values = row._asdict()
    amount = from_minor_units(values.pop("amount"), values.pop("currency"))
    return UnmatchedPayment(**values, amount=amount)
