"""Logs which customers, orders, drafts and names the staff look at. A look is logged before its page is shown.

Repeated looks within some minutes, such as reloads, are logged once.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from accounts import audit_log
from accounts.models import User
from cassandra_db import PendingResult

LOGGED_AGAIN_AFTER = timedelta(minutes=10)
# The log's name for the act of viewing an order or its mails.
ORDER_LOOK = "order_looked_at"


def prefetch_looks(staff: User, now: datetime) -> PendingResult:
    """Start reading the recent log entries of a member of staff, for `record_look`."""
    return audit_log.prefetch_acts(staff.pk, now - LOGGED_AGAIN_AFTER, now)


def record_look(
    staff: User,
    act: str,
    subject: str,
    looks: PendingResult,
    now: datetime,
    covered: Collection[str] = (),
) -> bool:
    """Log that a member of staff looks at `subject`, unless they did so minutes ago; return whether it is logged now.

    An earlier look at one of the subjects `covered` counts, too. Raises CassandraUnavailable: then the page must not be shown.
    """
    if any(row.act == act and row.subject in {subject, *covered} for row in looks.rows()):
        return False
    audit_log.add_entry(
        act, now, by=staff.pk, name=str(staff), subject=subject, book=audit_log.STAFF
    )
    return True
