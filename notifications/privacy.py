"""What is held about whoever waits for something."""

from datetime import datetime
from typing import Any

from notifications import queries
from notifications.operations import waiting_ended
from web.personal import Person


def held(person: Person) -> dict[str, Any]:
    """Return what the person waits for, and since when."""
    return {
        "waits_for": [
            {"product_id": row.product_id, "since": row.asked_at}
            for row in queries.waits_of(person.email)
        ]
    }


def erased(person: Person, now: datetime) -> None:
    """Forget what the person waits for."""
    waiting_ended(person.email)
