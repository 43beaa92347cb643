"""Samples of the requests for addresses that lead nowhere, so that staff can redirect those of a former shop.

A process stores at most one request in SAMPLE_SECONDS, so a flood costs as much as a few requests. Who asked is not stored, and
neither are the queries of addresses, and paths that could name a person or open something.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from time import monotonic

from cassandra.util import uuid_from_time

from cassandra_db import read, write
from catalogue.old_addresses import normalize_path

SAMPLE_SECONDS = 5.0
DAYS_SHOWN = 7
MAX_SAMPLES_A_DAY = 2000  # are read, the latest ones
_SAMPLED = re.compile(r"(?!/(?:brand|media|pictures|static)/)(?:/[\w.-]+)+")
# The number of an order or a telephone, or a secret.
_PERSONAL = re.compile(r"\d{6}|[^\W_]{25}")
WRITE_SAMPLE = write(
    "Q31", "INSERT INTO missing_addresses (day, sample_id, path) VALUES (:day, :sample_id, :path)"
)
SAMPLES = read("Q31", "SELECT path FROM missing_addresses WHERE day = :day LIMIT :most")


class Sampler:
    """Stores a request when the last one of this process was long enough ago."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def note(self, address: str, now: datetime) -> None:
        """Store a request for an address that leads nowhere, unless it is too early, or the path could be personal.

        Raises CassandraUnavailable.
        """
        path = normalize_path(address)
        is_possible = _SAMPLED.fullmatch(path) and not _PERSONAL.search(path)
        if is_possible and monotonic() >= self._next_at:
            self._next_at = monotonic() + SAMPLE_SECONDS
            WRITE_SAMPLE.run(
                day=now.astimezone(UTC).date(), sample_id=uuid_from_time(now), path=path
            )


SAMPLER = Sampler()


def list_missing(now: datetime, most: int) -> list[tuple[str, int]]:
    """Return the paths that were sampled most in the last days, each with its number of samples. Raises CassandraUnavailable."""
    days = [now.astimezone(UTC).date() - timedelta(days=age) for age in range(DAYS_SHOWN)]
    reading = [SAMPLES.start(day=day, most=MAX_SAMPLES_A_DAY) for day in days]
    return Counter(row.path for pending in reading for row in pending.rows()).most_common(most)
