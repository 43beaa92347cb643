"""An order's refunds, folded from its events. A refund is due until it is sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from moneyed import Money

from orders.lifecycle.events import Event
from pricing.money import from_minor_units


@dataclass(frozen=True)
class Refund:
    """A refund that was decided. `lines` are the refunded units by line number, or empty for the whole order."""

    refund_id: str
    amount: Money
    lines: dict[int, int]
    reason: str


def fold_refunds(events: Sequence[Event], currency: str) -> tuple[Refund, ...]:
    """Return the refunds that these events decided, whether sent or not, oldest first. The events come newest first."""
    return tuple(
        Refund(
            event.details["refund"],
            from_minor_units(event.details["amount"], currency),
            {int(line): units for line, units in (event.details.get("lines") or {}).items()},
            event.details.get("reason") or "",
        )
        for event in reversed(events)
        if event.kind == "refund_owed"
    )


def sent_refund_ids(events: Sequence[Event]) -> frozenset[str]:
    """Return the ids of the refunds that were sent."""
    return frozenset(str(event.details["refund"]) for event in events if event.kind == "refunded")
