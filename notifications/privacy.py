"""Personal data in notifications."""

from datetime import datetime
from typing import Any

from notifications import queries
from notifications.operations import delete_notifications
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return what the person was told in the last 30 days, in words, and whether they have read it."""
    user_id, found, after = person.user_id, [], ""
    while True:
        page = queries.page_from_rows(user_id, queries.prefetch_page(user_id, after).rows())
        found += queries.describe_notes(page.notes)
        after = page.next_token
        if not after:
            break
    return {
        "notifications": [
            {
                "at": each.note.at,
                "kind": each.note.kind,
                "about": dict(each.note.ids),
                "text": each.line.text,
                "read": each.note.is_read,
            }
            for each in found
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete what the person was told. News that is still announced finds nobody."""
    delete_notifications(person.user_id)
