"""What is to happen to an order: built once where it is decided, and handed down unchanged to what writes it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Transition:
    """An event that an order's state has to allow, and what it changes in the order's header.

    `kind` is one of orders.lifecycle.states.TRANSITION_RULES, `actor` is "shopper", "system" or "staff:<user id>:<name>", `at` is in UTC.
    `details` are the event's (orders.lifecycle.parcels, orders.lifecycle.returns, orders.lifecycle.balance); `companion_events` are events, by their kind,
    that happen with it or not at all. `payment_id` is the payment that pays the order from then on, `allocations_json` which
    units are reserved for it, as its header stores them; None and '' leave them. `claim` is the one under which the order's
    units were reserved; this ends it. Without one, no process may have a claim.
    """

    kind: str
    _: KW_ONLY
    actor: str
    at: datetime
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    companion_events: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    payment_id: UUID | None = None
    allocations_json: str = ""
    claim: UUID | None = None

    @property
    def events(self) -> dict[str, Mapping[str, Any]]:
        """The details of all its events by kind, in the order in which they happen: its own first."""
        return {self.kind: self.details, **self.companion_events}
