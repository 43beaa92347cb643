"""Personal data in watched prices."""

from datetime import datetime
from typing import Any

from price_alerts.operations import erase_watches
from price_alerts.queries import list_watched
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the products whose prices the person watches, with the time of each."""
    return {
        "watched_prices": [
            {"product_id": row.product_id, "since": row.since}
            for row in list_watched(person.user_id)
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Stop watching for the person."""
    erase_watches(person.user_id)
