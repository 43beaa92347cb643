"""Personal data in past orders: those of the person's account, and those that the worker has not assigned to it yet."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from past_orders.operations import claim_past_orders, delete_past_orders
from past_orders.queries import list_past_orders, prefetch_owned
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's orders of a former shop in full."""
    claim_past_orders(person.user_id, person.email)
    orders = list_past_orders(prefetch_owned(person.user_id.hex).rows())
    return {"past_orders": [asdict(order) for order in orders]}


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's orders of a former shop."""
    claim_past_orders(person.user_id, person.email)
    delete_past_orders(person.user_id)
