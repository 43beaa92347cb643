"""What the outbox holds about a person."""

from datetime import datetime
from typing import Any

from mail import queries
from mail.operations import delete_mails
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the mails of the last 30 days. Their text is not among it: it is not kept once a mail is sent, and may open something before."""
    return {
        "mails": [
            {
                "to": row.recipient,
                "subject": row.subject,
                "queued_at": row.queued_at,
                "sent_at": row.sent_at,
            }
            for row in queries.list_recipient_mails(person.email)
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Drop what was sent and is still to be sent to the person, or to others about them, but for the mail that says goodbye."""
    delete_mails(person.user_id, person.email, person.farewell_mail_id)
