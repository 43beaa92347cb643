"""Entries of the books, and their sums. This module reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

PAYMENT, REFUND, FEE, INVOICE = "payment", "refund", "fee", "invoice"


@dataclass(frozen=True)
class TaxedAmount:
    """An amount at one tax rate (per cent), in minor units. Net and tax add up to the amount."""

    rate: Decimal
    net: int
    tax: int

    @property
    def gross(self) -> int:
        return self.net + self.tax


@dataclass(frozen=True)
class BookEntry:
    """What an order's event moved: a payment, a refund or a gateway's fee. An invoice has no amounts.

    `day` is the day of the event in the shop's time zone, or a later one if the books of its month were closed before.
    An entry never changes.
    """

    order_id: UUID
    event_id: UUID
    kind: str
    day: date
    number: str
    gateway: str
    currency: str
    country: str
    amounts: tuple[TaxedAmount, ...]

    @property
    def key(self) -> tuple[UUID, str]:
        """What tells the entries of an order apart."""
        return (self.event_id, self.kind)

    @property
    def gross(self) -> int:
        return sum(each.gross for each in self.amounts)


@dataclass(frozen=True)
class SumKey:
    """What a sum of the books is about. `rate` is the tax rate in per cent."""

    day: date
    kind: str
    gateway: str
    country: str
    rate: Decimal
    currency: str


@dataclass(frozen=True)
class BookSum:
    """The sum of entries in minor units. `count` is the number of entries, each counted at the first of its rates."""

    count: int = 0
    net: int = 0
    tax: int = 0

    @property
    def gross(self) -> int:
        return self.net + self.tax

    def __add__(self, other: BookSum) -> BookSum:
        return BookSum(self.count + other.count, self.net + other.net, self.tax + other.tax)

    def __neg__(self) -> BookSum:
        return BookSum(-self.count, -self.net, -self.tax)


def add_up(entries: Iterable[BookEntry]) -> dict[SumKey, BookSum]:
    """Return the sums of entries."""
    sums: dict[SumKey, BookSum] = {}
    for entry in entries:
        for number, each in enumerate(entry.amounts):
            key = SumKey(
                entry.day, entry.kind, entry.gateway, entry.country, each.rate, entry.currency
            )
            sums[key] = sums.get(key, BookSum()) + BookSum(int(number == 0), each.net, each.tax)
    return sums


@dataclass(frozen=True)
class BookMonth:
    """A month whose books are being closed (`closed_at` is None) or are closed. `month` is its first day."""

    month: date
    closing_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True)
class OpenInvoice:
    """An order that waits for money: a transfer that has not arrived, or a delivery that is not paid."""

    order_id: UUID
    placed_at: datetime
    number: str
    payment_method: str
    country: str
    currency: str
    amount: int  # in minor units
    due: date


@dataclass(frozen=True)
class BookDifference:
    """An order whose money differs: what the order says was received less the refunds, what the books and its gateway say.

    Amounts are in minor units. `at_gateway` is None if the gateway was not asked, or does not know the payment.
    """

    order_id: UUID
    number: str
    currency: str
    in_order: int
    in_books: int
    at_gateway: int | None
    found_at: datetime


@dataclass(frozen=True)
class OpenInvoices:
    """The first open invoices by due day. `has_more` says whether there are more."""

    invoices: tuple[OpenInvoice, ...] = field(default=())
    has_more: bool = False


def next_month(month: date) -> date:
    """Return the first day of the month after the one that contains `month`."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)
