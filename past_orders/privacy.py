"""Personal data in past orders."""

from datetime import datetime
from typing import Any

from accounts.queries import get_user
from past_orders import operations, queries
from web.personal_data import DataSubject


def _claim(person: DataSubject) -> None:
    # The worker may not yet have assigned the orders of an address that was just proved.
    member = get_user(person.user_id)
    if member and member.verified_at:
        operations.claim_past_orders(person.user_id, person.email)


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's orders of former shops in full."""
    _claim(person)
    return {
        "past_orders": [
            {
                "number": order.number,
                "shop": order.shop,
                "placed_at": order.placed_at,
                "status": order.status,
                "email": order.email,
                "name": order.name,
                "address": order.address,
                "total": order.total,
                "lines": [
                    {
                        "name": line.name,
                        "sku": line.sku,
                        "quantity": line.units,
                        "price": line.price,
                    }
                    for line in order.lines
                ],
            }
            for order in queries.iterate_past_orders(person.user_id)
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's orders of former shops."""
    _claim(person)
    operations.delete_past_orders(person.user_id)
