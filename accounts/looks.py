"""Looks of the staff at customers, orders, drafts and names: each is logged in the audit log first.

Repeated looks within some minutes, as by reloads and forms, are logged once.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from accounts import audit_log
from accounts.models import User
from cassandra_db import PendingResult

LOGGED_AGAIN_AFTER = timedelta(minutes=10)


def prefetch_looks(staff: User, now: datetime) -> PendingResult:
    """Start reading the recent acts of a member of staff, for `record_look`."""
    return audit_log.prefetch_acts(staff.pk, now - LOGGED_AGAIN_AFTER, now)


def record_look(
    staff: User,
    act: str,
    subject: str,
    looks: PendingResult,
    now: datetime,
    covered: Collection[str] = (),
) -> bool:
    """Log a look of a member of staff, unless they looked minutes ago; return whether it is logged now.

    A look at one of `covered` counts, too. Raises CassandraUnavailable: then the page must not be shown.
    """
    if any(row.act == act and row.subject in {subject, *covered} for row in looks.rows()):
        return False
    audit_log.add_entry(
        act, now, by=staff.pk, name=str(staff), subject=subject, book=audit_log.STAFF
    )
    return True
