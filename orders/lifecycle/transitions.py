"""A transition of an order. The code that decides on a transition builds it once, and passes it unchanged to the function that writes it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Transition:
    """An event that an order has to allow, and the changes that it makes in the order's header.

    `kind` is one of TRANSITION_RULES, `actor` is "shopper", "system" or "staff:<user id>:<name>", `at` is in UTC.
    `companion_events` are the details, keyed by kind, of events that are written in the same batch.
    `payment_id` is the payment that now pays the order; None keeps the old payment. `allocations_json` are the new allocations
    as the header stores them; '' keeps the old allocations. `claim` is the claim under which the order's units were reserved;
    the write ends the claim. Without `claim`, the write fails while any process has a claim.
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
        """The details of all events of the transition, keyed by kind. Its main event comes first."""
        return {self.kind: self.details, **self.companion_events}
