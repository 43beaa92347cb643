"""Addresses whose messages and mails the shop refuses."""

from datetime import datetime
from uuid import UUID

from cassandra_db import read, write
from mail.addresses import email_key

BLOCKED = read("M10", "SELECT email FROM blocked_senders WHERE email = :email")
INSERT_BLOCKED = write(
    "M10",
    """INSERT INTO blocked_senders (email, blocked_at, blocked_by)
       VALUES (:email, :blocked_at, :blocked_by)""",
)
DELETE_BLOCKED = write("M10", "DELETE FROM blocked_senders WHERE email = :email")


def block_sender(email: str, by: UUID, now: datetime) -> None:
    """Refuse messages from an address; a repeat changes nothing. Raises CassandraUnavailable."""
    INSERT_BLOCKED.run(email=email_key(email), blocked_at=now, blocked_by=by)


def unblock_sender(email: str) -> None:
    """Take messages from an address again; a repeat changes nothing. Raises CassandraUnavailable."""
    DELETE_BLOCKED.run(email=email_key(email))


def is_blocked(email: str) -> bool:
    """Return whether the shop refuses messages from an address. Raises CassandraUnavailable."""
    return BLOCKED.one(email=email_key(email)) is not None
