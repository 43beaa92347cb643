"""Personal data in mails: its export, and its erasure."""

from datetime import datetime
from typing import Any

from mail import queries
from mail.operations import delete_mails
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's mails of 30 days, without texts (their links may grant access), and the reason if their address gets no mail."""
    undeliverable = queries.get_undeliverable_address(person.email)
    return {
        "gets_no_mail": {"since": undeliverable.bounced_at, "because": undeliverable.failure}
        if undeliverable
        else None,
        "mails": [
            {
                "to": row.recipient,
                "subject": row.subject,
                "queued_at": row.queued_at,
                "sent_at": row.sent_at,
                "failed_at": row.failed_at,
                "failure": row.failure,
            }
            for row in queries.list_recipient_mails(person.email)
        ],
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Delete the mails to the person, and the mails to others that name the person. Keep the farewell mail."""
    delete_mails(person.user_id, person.email, person.farewell_mail_id)
