"""Entries of the books, and their sums. This module reads and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from moneyed import Money

from pricing.money import from_minor_units

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
    """The sum of entries in minor units."""

    net: int = 0
    tax: int = 0

    @property
    def gross(self) -> int:
        return self.net + self.tax

    def __add__(self, other: BookSum) -> BookSum:
        return BookSum(self.net + other.net, self.tax + other.tax)


def add_up(entries: Iterable[BookEntry]) -> dict[SumKey, BookSum]:
    """Return the sums of entries."""
    sums: dict[SumKey, BookSum] = {}
    for entry in entries:
        for each in entry.amounts:
            key = SumKey(
                entry.day, entry.kind, entry.gateway, entry.country, each.rate, entry.currency
            )
            sums[key] = sums.get(key, BookSum()) + BookSum(each.net, each.tax)
    return sums


@dataclass(frozen=True)
class BookMonth:
    """A month whose books are being closed (`closed_at` is None) or are closed. `month` is its first day."""

    month: date
    closing_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True)
class OpenInvoice:
    """An order that waits for money: a transfer, a payment on delivery, or one that the bank refused."""

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

    Amounts are in minor units. `at_gateway` is None if no gateway can be asked. All are None if the comparison has failed.
    """

    order_id: UUID
    number: str
    currency: str
    in_order: int | None
    in_books: int | None
    at_gateway: int | None
    found_at: datetime

    @property
    def amounts(self) -> tuple[Money | None, ...]:
        """The amounts in the order, in the books and at the gateway."""
        return tuple(
            None if each is None else from_minor_units(each, self.currency)
            for each in (self.in_order, self.in_books, self.at_gateway)
        )


def next_month(month: date) -> date:
    """Return the first day of the month after the one that contains `month`."""
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)
