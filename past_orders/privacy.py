"""Personal data in past orders: those of the person's account, and those that no member has claimed yet."""

from datetime import datetime
from typing import Any

from past_orders import operations, queries
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's orders of former shops in full."""
    operations.claim_past_orders(person.user_id, person.email)
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
    operations.claim_past_orders(person.user_id, person.email)
    operations.delete_past_orders(person.user_id)
