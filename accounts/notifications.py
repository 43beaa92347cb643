"""Members as readers of notifications (notifications.kinds)."""

from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

from accounts import queries
from accounts.errors import NoSuchUser
from accounts.operations import save_notification_choice
from cassandra_db import Row
from notifications.entities import Recipient


def start_recipient(user_id: UUID) -> Callable[[], Recipient | None]:
    """Start reading a member. The returned function returns them; None if the account is closed, or is being erased."""
    reading = queries.RECIPIENT.start(user_id=user_id)
    return lambda: _recipient(reading.one())


def find_recipient(email: str) -> Recipient | None:
    """Return the member with an e-mail address, or None. Raises CassandraUnavailable."""
    user = queries.find_user_by_email(email)
    return start_recipient(user.user_id)() if user else None


def save_choice(user_id: UUID, kind: str, choice: str) -> None:
    """Store what a member wants to be told of a kind; an erased member wants nothing. Raises CassandraUnavailable."""
    with suppress(NoSuchUser):
        save_notification_choice(user_id, kind, choice)


def _recipient(row: Row | None) -> Recipient | None:
    if row is None or not row.active or row.erasing_at:
        return None
    return Recipient(row.user_id, row.email, dict(row.notification_choices or {}))
