"""Personal data in back-in-stock subscriptions."""

from datetime import datetime
from typing import Any

from stock_alerts import queries
from stock_alerts.operations import unsubscribe
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's subscriptions, with the time of each."""
    return {
        "waits_for": [
            {"product_id": row.product_id, "since": row.asked_at}
            for row in queries.list_subscriptions(person.email)
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's subscriptions."""
    unsubscribe(person.email)
