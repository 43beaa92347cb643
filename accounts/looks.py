"""Logs which customers, orders, drafts and names the staff look at. A look is logged before its page is shown.

Repeated looks within some minutes, such as reloads, are logged once.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from accounts import audit_log
from accounts.models import User
from cassandra_db import PendingResult

LOGGED_AGAIN_AFTER = timedelta(minutes=10)
# The log's names for viewing an order or its mails, viewing a customer, and searching for people letter by letter.
ORDER_LOOK, CUSTOMER_LOOK, TYPED_LOOK = "order_looked_at", "customer_looked_at", "people_suggested"
# The entries that are searched for what a member of staff looked at recently.
RECENT, MAX_RECENT_ENTRIES = timedelta(days=7), 200


def prefetch_looks(staff: User, now: datetime) -> PendingResult:
    """Start reading the recent log entries of a member of staff, for `record_look`."""
    return audit_log.prefetch_acts(staff.pk, now - LOGGED_AGAIN_AFTER, now)


def prefetch_recent_acts(staff: User, now: datetime) -> list[PendingResult]:
    """Start reading the newest log entries of a member of staff since RECENT, for `recent_acts`."""
    since = now - RECENT
    moments = {each.month: each for each in (since, now)}
    return [
        audit_log.prefetch_acts(staff.pk, since, each, MAX_RECENT_ENTRIES)
        for each in reversed(moments.values())
    ]


def recent_acts(reading: Iterable[PendingResult]) -> list[tuple[str, str]]:
    """Return the acts and subjects that were read, newest first, each once. Raises CassandraUnavailable."""
    return list(dict.fromkeys((row.act, row.subject) for each in reading for row in each.rows()))


def record_look(staff: User, act: str, subject: str, looks: PendingResult, now: datetime) -> bool:
    """Log that a member of staff looks at `subject`, unless they did so minutes ago; return whether it is logged now.

    Raises CassandraUnavailable: then the page must not be shown.
    """
    if any((row.act, row.subject) == (act, subject) for row in looks.rows()):
        return False
    audit_log.add_entry(
        act, now, by=staff.pk, name=str(staff), subject=subject, book=audit_log.STAFF
    )
    return True
