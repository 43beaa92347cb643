"""Looks of the staff at customers, orders, drafts and names: each is entered in the audit log before anything is shown.

Somebody who looks at the same again within some minutes is entered once: a page is reloaded, and its forms come back to it.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from accounts import audit_log
from accounts.models import User
from cassandra_db import PendingResult

LOGGED_AGAIN_AFTER = timedelta(minutes=10)


def prefetch_looks(staff: User, now: datetime) -> PendingResult:
    """Start reading what one of the staff did lately, for `record_look`."""
    return audit_log.prefetch_acts(staff.pk, now - LOGGED_AGAIN_AFTER, now)


def record_look(
    staff: User,
    act: str,
    subject: str,
    looks: PendingResult,
    now: datetime,
    covered: Collection[str] = (),
) -> bool:
    """Enter in the audit log that one of the staff looks at something, unless they did minutes ago; return whether it is entered now.

    Whoever has looked at one of `covered` has seen all of it, too. Raises CassandraUnavailable: what cannot be logged is not shown.
    """
    if any(row.act == act and row.subject in {subject, *covered} for row in looks.rows()):
        return False
    audit_log.add_entry(
        act, now, by=staff.pk, name=str(staff), subject=subject, book=audit_log.STAFF
    )
    return True
