"""Personal data in accounts. The claim of the e-mail address and the user's row are deleted last (operations.erasure)."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from accounts import audit_log, queries
from accounts.operations.customers import delete_customer_notes
from accounts.operations.erasure import remove_access
from accounts.operations.search_terms import forget_name
from accounts.second_factor import get_second_factor
from accounts.sessions import list_sessions
from cassandra_db import current_time
from web.personal_data import DataSubject

# How long the audit log keeps entries.
LOG_DAYS = 400
_A_PAGE = 500


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's profile, addresses, sessions and audit log entries, without password hashes and session keys."""
    user = queries.get_user(person.user_id)
    if user is None:
        return {}
    second = get_second_factor(person.user_id)
    return {
        "profile": {
            "email": user.email,
            "email_proved_at": user.verified_at,
            "email_to_be": user.email_next,
            "name": user.name,
            "phone": user.phone,
            "role": user.role,
            "usual_country": user.delivery_country,
            "mail_as_text_only": bool(user.plain_mail),
            "mail_about_low_stock": bool(user.low_stock_mail),
            "notification_choices": dict(user.notification_choices or {}),
            "member_since": user.created_at,
            "last_signed_in_at": user.last_login_at,
        },
        "blocked": {"since": user.blocked_at, "why": user.block_reason, "by": user.blocked_by}
        if user.blocked_at
        else None,
        "notes_of_the_staff": [
            {"at": each.written_at, "by": each.author, "text": each.text}
            for each in queries.notes_from_rows(
                queries.prefetch_customer_notes(person.user_id).rows()
            )
        ],
        "addresses": [
            each.stored_fields() | {"used_by_default": each.default}
            for each in queries.list_addresses(user)
        ],
        "sessions": [
            {"device": each.device, "began_at": each.created_at, "seen_at": each.last_seen_at}
            for each in list_sessions(person.user_id, None)
        ],
        "second_factor": {
            "since": second.enrolled_at,
            "recovery_codes_left": second.recovery_codes_left,
        }
        if second
        else None,
        "log": [_exported_entry(entry) for entry in _entries(person)],
    }


def _exported_entry(entry: audit_log.AuditLogEntry) -> dict[str, Any]:
    exported = {
        "at": entry.moment,
        "what": entry.act,
        "ended": entry.outcome,
        "from": entry.origin.address,
        "device": entry.origin.device,
    }
    # The subjects of the staff's actions are other people's data: they are left out.
    return (
        exported
        if entry.book == audit_log.STAFF
        else exported | {"about": entry.subject, "sent": entry.fields}
    )


def _entries(person: DataSubject) -> Iterator[audit_log.AuditLogEntry]:
    for month in _months(current_time().date()):
        after = ""
        while True:
            entries, after = audit_log.list_actor_entries(person.user_id, month, after, _A_PAGE)
            yield from entries
            if not after:
                break


def _months(today: date) -> Iterator[date]:
    """Yield the first day of each month that can have entries in the audit log, latest first."""
    month = today.replace(day=1)
    while month > today - timedelta(days=LOG_DAYS + 31):
        yield month
        month = (month - timedelta(days=1)).replace(day=1)


def list_erasure_obstacles(person: DataSubject) -> list[str]:
    """Return the reasons why the person cannot be erased: a role as staff, or a demo login."""
    if person.demo:
        return [_("This is a demo login that everyone can use, so it can’t be deleted.")]
    if person.role:
        return [
            _(
                "You work here (%(role)s). Ask another admin to remove your role first,"
                " so that the shop always has an admin."
            )
            % {"role": person.role}
        ]
    return []


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """End the person's access, and delete the staff's notes about them. A block is deleted with the user's row."""
    remove_access(person.user_id)
    delete_customer_notes(person.user_id)
    forget_name(person.user_id, person.name)
