"""Marks of a demo shop that this code has filled today: then `make run` need not look at every table and row again."""

from contextlib import suppress
from datetime import datetime
from hashlib import sha256

from django.conf import settings
from django.utils.timezone import localdate

from cassandra_db import CassandraUnavailable
from jobs.errors import LeaseLost
from jobs.leases import get_position, hold_lease, save_position

# The parts of the demo shop: what is loaded before it opens, and the older orders. A mark is the position of a job that never runs.
FILLED, OLDER = "filled", "older"
_JOB = "demo shop "


def compute_mark(now: datetime) -> str:
    """Return the day and a hash of what the tables and the demo shop are made from. Each day has visits of its own."""
    digest = sha256()
    sources = [*settings.BASE_DIR.glob("*/models.py"), *settings.BASE_DIR.glob("demo/**/*.*")]
    for path in sorted(sources):
        if "__pycache__" not in path.parts:
            digest.update(path.as_posix().encode() + path.read_bytes())
    return f"{localdate(now)} {digest.hexdigest()}"


def list_filled_parts(now: datetime) -> list[str]:
    """Return the parts whose marks this keyspace has; none if it has no tables yet, or no node answers."""
    with suppress(CassandraUnavailable):
        mark = compute_mark(now)
        return [part for part in (FILLED, OLDER) if get_position(_JOB + part) == mark]
    return []


def note_filled(part: str, now: datetime) -> None:
    """Write the mark of a part, unless another process does. Raises CassandraUnavailable."""
    with suppress(LeaseLost), hold_lease(_JOB + part):
        save_position(_JOB + part, compute_mark(now))
