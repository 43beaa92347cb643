"""Personal data in draft orders."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from cassandra_db import current_time
from drafts import queries
from drafts.entities import DraftOrder
from drafts.operations import erase_draft
from mail.addresses import email_key
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's draft orders."""
    return {
        "draft_orders": [
            {
                "email": draft.email,
                "address": draft.address.stored_fields(),
                "lines": [f"{line.quantity} × {line.label}" for line in draft.lines],
                "changed_at": draft.changed_at,
            }
            for draft in _iterate_drafts_of(person, current_time())
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the person's draft orders. The module orders.privacy erases the orders that were placed from drafts."""
    for draft in _iterate_drafts_of(person, now):
        erase_draft(draft)


def _iterate_drafts_of(person: DataSubject, now: datetime) -> Iterator[DraftOrder]:
    # There are only some hundreds of drafts, so all are read, and no table of drafts by person is needed.
    for draft in queries.iterate_drafts(now):
        if draft.user_id == person.user_id or email_key(draft.email) == email_key(person.email):
            yield draft
