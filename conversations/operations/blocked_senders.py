"""Addresses whose messages and mails the shop refuses."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zlib import crc32

from cassandra_db import PendingResult, read, write
from mail.addresses import email_key

SHARDS = 16
MAX_LISTED = 100  # of each shard

BLOCKED = read("M10", "SELECT email FROM blocked_senders WHERE shard = :shard AND email = :email")
SENDERS = read(
    "M10",
    "SELECT email, blocked_at, blocked_by FROM blocked_senders WHERE shard = :shard LIMIT :most",
)
INSERT_BLOCKED = write(
    "M10",
    """INSERT INTO blocked_senders (shard, email, blocked_at, blocked_by)
       VALUES (:shard, :email, :blocked_at, :blocked_by)""",
)
DELETE_BLOCKED = write("M10", "DELETE FROM blocked_senders WHERE shard = :shard AND email = :email")


@dataclass(frozen=True)
class BlockedSender:
    """An address whose messages the shop refuses, since when, and who blocked it."""

    email: str
    blocked_at: datetime
    blocked_by: UUID


def _key(email: str) -> dict[str, str | int]:
    key = email_key(email)
    return {"shard": crc32(key.encode()) % SHARDS, "email": key}


def block_sender(email: str, by: UUID, now: datetime) -> None:
    """Refuse messages from an address; a repeat changes nothing. Raises CassandraUnavailable."""
    INSERT_BLOCKED.run(**_key(email), blocked_at=now, blocked_by=by)


def unblock_sender(email: str) -> None:
    """Take messages from an address again; a repeat changes nothing. Raises CassandraUnavailable."""
    DELETE_BLOCKED.run(**_key(email))


def prefetch_blocked(email: str) -> PendingResult:
    """Start reading an address's row; it has one if the shop refuses its messages."""
    return BLOCKED.start(**_key(email))


def is_blocked(email: str) -> bool:
    """Return whether the shop refuses messages from an address. Raises CassandraUnavailable."""
    return bool(prefetch_blocked(email).rows())


def list_blocked_senders() -> list[BlockedSender]:
    """Return blocked addresses, the latest first, at most 1,600. Raises CassandraUnavailable."""
    reading = [SENDERS.start(shard=shard, most=MAX_LISTED) for shard in range(SHARDS)]
    rows = [row for pending in reading for row in pending.rows()]
    found = [BlockedSender(row.email, row.blocked_at, row.blocked_by) for row in rows]
    return sorted(found, key=lambda each: each.blocked_at, reverse=True)
