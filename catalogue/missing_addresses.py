"""Samples of the requests for addresses that lead nowhere, so that staff can redirect those of a former shop.

A process stores at most one request in SAMPLE_SECONDS, so a flood costs as much as a few requests. Who asked is not stored, and
neither are the queries of addresses, and paths that could name a person or open something.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

from cassandra.util import uuid_from_time
from django.core.cache import cache

from cassandra_db import read, write

SAMPLE_SECONDS = 5
DAYS_SHOWN = 7
MAX_SAMPLES_A_DAY = 2000  # are read, the latest ones
# Without the shop's own files, numbers of orders and telephones, secrets, and the scripts and hidden files that bots try.
_SAMPLED = re.compile(
    r"(?!/(?:brand|media|pictures|static)/)(?!.*(?:\d{6}|[^\W_]{25}|\.php$))(?:/\w[\w.-]*)+"
)
WRITE_SAMPLE = write(
    "Q31", "INSERT INTO missing_addresses (day, sample_id, path) VALUES (:day, :sample_id, :path)"
)
SAMPLES = read("Q31", "SELECT path FROM missing_addresses WHERE day = :day LIMIT :most")


def sample_missing(path: str, now: datetime) -> None:
    """Store a path that leads nowhere, unless it could be personal or another was stored just now. Raises CassandraUnavailable."""
    # The cache is this process's own.
    if _SAMPLED.fullmatch(path) and cache.add("missing_address", path, SAMPLE_SECONDS):
        day = now.astimezone(UTC).date()
        WRITE_SAMPLE.run(day=day, sample_id=uuid_from_time(now), path=path)


def list_missing(now: datetime, most: int) -> list[tuple[str, int]]:
    """Return the paths that were sampled most in the last days, each with its number of samples. Raises CassandraUnavailable."""
    days = [now.astimezone(UTC).date() - timedelta(days=age) for age in range(DAYS_SHOWN)]
    reading = [SAMPLES.start(day=day, most=MAX_SAMPLES_A_DAY) for day in days]
    return Counter(row.path for pending in reading for row in pending.rows()).most_common(most)
