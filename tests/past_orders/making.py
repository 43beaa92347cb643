"""Makes orders of a former shop."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from moneyed import EUR, Money

from accounts.models import User
from mail.addresses import email_key
from past_orders.entities import PastLine, PastOrder
from past_orders.operations import claim_past_orders, save_past_order

LINES = (
    PastLine("Breakfast mug, olive", "MUG-OLIVE", 2, Money("12.50", EUR)),
    PastLine("A gift", "", 1),
)


def new_past_order(email: str, **values: Any) -> PastOrder:
    """A past order that is not stored yet."""
    defaults: dict[str, Any] = {
        "number": f"#{uuid4().hex[:10].upper()}",
        "placed_at": datetime(2024, 11, 30, 18, 20, tzinfo=UTC),
        "name": "Ada Lovelace",
        "address": "",
        "status": "Fulfilled",
        "total": Money(25, EUR),
        "lines": LINES,
    }
    return PastOrder(email=email_key(email), **(defaults | values))


def make_past_order(owner: User, **values: Any) -> PastOrder:
    """A stored past order of a member."""
    order = new_past_order(owner.email, name=owner.name, **values)
    assert save_past_order(order)
    claim_past_orders(owner.user_id, order.email)
    return order
