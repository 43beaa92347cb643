"""What the audit log holds of a user."""

from datetime import UTC, datetime

from accounts import audit_log
from accounts.audit_log import AuditLogEntry
from accounts.models import User


def list_entries_this_month(user: User, book: str = "") -> list[AuditLogEntry]:
    """Return what a user did this month, the newest first."""
    entries, _ = audit_log.list_actor_entries(
        user.pk, datetime.now(UTC).date().replace(day=1), "", 200
    )
    return [entry for entry in entries if not book or entry.book == book]
