"""Stores the readings of the warehouses' sensors: temperature and humidity (A2).

A reading's key is its time in whole seconds. So a repeat writes the same row, and the rows of a sensor's day are bounded. Charts
show the lowest and the highest value of each quarter of an hour. Each process computes these two values from the readings that it
has received, and stores them as its own part. Reading merges the parts.
"""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from hmac import compare_digest
from typing import Self
from uuid import uuid4

from cassandra.query import BoundStatement

from cassandra_db import PendingResult, Row, current_time, read, wait_for_all, write
from cassandra_db.batch_writer import MAX_BATCH, BatchWriter, keep_writer
from cassandra_db.process_copies import ProcessCopy

TEMPERATURE, HUMIDITY = "temperature", "humidity"
# The kinds of readings with their allowed ranges: degrees Celsius, per cent.
RANGES = {TEMPERATURE: (-60.0, 100.0), HUMIDITY: (0.0, 100.0)}
MAX_SENSORS = 200
MAX_READINGS = 1000  # in one request
# How old a reading may be (an offline sensor keeps its readings), and how far a sensor's clock may be ahead.
MAX_AGE, MAX_AHEAD = timedelta(days=7), timedelta(minutes=5)
QUARTER = timedelta(minutes=15)
# How long a process extends its part of each quarter of an hour. After this time it begins a new part.
KEPT_QUARTERS = timedelta(hours=1)
# The seconds within which all processes notice a removed sensor.
MAX_SECONDS_OLD = 5.0
_SCOPE = "all"

SENSORS = read("A2", "SELECT serial_number, warehouse, key_hash FROM sensors WHERE scope = :scope")
ADD_SENSOR = write(
    "A2",
    """INSERT INTO sensors (scope, serial_number, warehouse, key_hash)
       VALUES (:scope, :serial_number, :warehouse, :key_hash)""",
)
REMOVE_SENSOR = write(
    "A2", "DELETE FROM sensors WHERE scope = :scope AND serial_number = :serial_number"
)
READING = write(
    "A2",
    """INSERT INTO sensordata (date, serial_number, ts, type, value)
       VALUES (:date, :serial_number, :ts, :type, :value) USING TIMESTAMP :at""",
)
LATEST = read(
    "A2",
    """SELECT ts, type, value FROM sensordata WHERE date = :date AND serial_number = :serial_number
       LIMIT 2""",
)
WRITE_QUARTER = write(
    "A2",
    """INSERT INTO sensor_quarters (date, serial_number, quarter, type, part, lowest, highest)
       VALUES (:date, :serial_number, :quarter, :type, :part, :lowest, :highest)""",
)
QUARTERS = read(
    "A2",
    """SELECT quarter, type, lowest, highest FROM sensor_quarters
       WHERE date = :date AND serial_number = :serial_number""",
)


class TooManySensors(Exception):
    """The shop has MAX_SENSORS sensors already."""


@dataclass(frozen=True)
class Sensor:
    """A device in a warehouse, and the hash of its token."""

    serial_number: str
    warehouse: str
    key_hash: bytes

    def has_token(self, token: str) -> bool:
        """Return whether `token` is the sensor's token. The comparison takes constant time."""
        return compare_digest(self.key_hash, _hash(token))


@dataclass(frozen=True)
class Reading:
    """A value that a sensor measured at a moment (UTC, whole seconds), in the unit of its kind: °C or %."""

    serial_number: str
    at: datetime
    kind: str
    value: float

    @property
    def day(self) -> date:
        """The day of the reading in UTC."""
        return self.at.date()

    @property
    def quarter(self) -> datetime:
        """The start of the quarter of an hour that contains the reading."""
        return self.at.replace(minute=self.at.minute // 15 * 15, second=0)


@dataclass(frozen=True)
class ReadingBatch:
    """Readings that one batch writes into one partition."""

    readings: tuple[Reading, ...]

    def __len__(self) -> int:
        return len(self.readings)


@dataclass
class QuarterRange:
    """The lowest and the highest value of a quarter of an hour."""

    lowest: float
    highest: float

    def add(self, other: Self) -> None:
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)


@dataclass(frozen=True)
class _QuarterKey:
    serial_number: str
    quarter: datetime
    kind: str


class ReadingWriter(BatchWriter[Reading, ReadingBatch]):
    """Writes readings, and the lowest and highest value of each quarter of an hour."""

    kind = "readings"

    def _begin(self) -> None:
        super()._begin()
        self._part = uuid4()
        self._quarters: dict[_QuarterKey, QuarterRange] = {}
        self._changed: set[_QuarterKey] = set()
        self._part_until = datetime.min.replace(tzinfo=UTC)

    def make_batches(self, items: Sequence[Reading]) -> list[ReadingBatch]:
        """Return the readings grouped by sensor and day, in batches of at most MAX_BATCH."""
        by_day: dict[tuple[str, date], list[Reading]] = defaultdict(list)
        for item in items:
            by_day[item.serial_number, item.day].append(item)
        return [
            ReadingBatch(tuple(same[start : start + MAX_BATCH]))
            for same in by_day.values()
            for start in range(0, len(same), MAX_BATCH)
        ]

    def bind(self, batch: ReadingBatch) -> list[BoundStatement]:
        """Return the bound INSERT statements for a batch's readings. Their timestamps are the times of the readings."""
        return [
            READING.bind(
                date=each.day,
                serial_number=each.serial_number,
                ts=each.at,
                type=each.kind,
                value=each.value,
                at=round(each.at.timestamp()) * 1_000_000,
            )
            for each in batch.readings
        ]

    def note_written(self, batches: Sequence[ReadingBatch]) -> None:
        """Write the lowest and highest values that have changed. Raises CassandraUnavailable; the next call then writes them."""
        for reading in (each for batch in batches for each in batch.readings):
            key = _QuarterKey(reading.serial_number, reading.quarter, reading.kind)
            known = self._quarters.setdefault(key, QuarterRange(reading.value, reading.value))
            known.add(QuarterRange(reading.value, reading.value))
            self._changed.add(key)
        wait_for_all(
            [
                WRITE_QUARTER.start(
                    date=key.quarter.date(),
                    serial_number=key.serial_number,
                    quarter=key.quarter,
                    type=key.kind,
                    part=self._part,
                    lowest=self._quarters[key].lowest,
                    highest=self._quarters[key].highest,
                )
                for key in self._changed
            ]
        )
        self._changed.clear()
        self._forget_old_quarters(current_time())

    def _forget_old_quarters(self, now: datetime) -> None:
        # Stored values that are no longer in memory must not be overwritten by a smaller range: begin another part.
        if now > self._part_until:
            self._part, self._quarters, self._part_until = uuid4(), {}, now + KEPT_QUARTERS


# The sensors.


def _parse(rows: Sequence[Row]) -> dict[str, Sensor]:
    return {
        row.serial_number: Sensor(row.serial_number, row.warehouse, bytes(row.key_hash))
        for row in rows
    }


CURRENT_SENSORS = ProcessCopy(lambda: SENSORS.start(scope=_SCOPE), _parse, MAX_SECONDS_OLD)


def list_sensors() -> list[Sensor]:
    """Return all sensors, sorted by warehouse and serial number, at most some seconds old. Raises CassandraUnavailable."""
    return sorted(
        CURRENT_SENSORS.get().values(), key=lambda each: (each.warehouse, each.serial_number)
    )


def find_sensor(serial_number: str, token: str) -> Sensor | None:
    """Return the sensor that sent a request, or None if its serial number or token is wrong. Raises CassandraUnavailable."""
    sensor = CURRENT_SENSORS.get().get(serial_number)
    return sensor if sensor and sensor.has_token(token) else None


def add_sensor(serial_number: str, warehouse: str) -> str:
    """Allow a device to send readings, and return its token, which is not stored. A known device gets a new token.

    Raises TooManySensors, CassandraUnavailable.
    """
    known = CURRENT_SENSORS.get()
    if serial_number not in known and len(known) >= MAX_SENSORS:
        raise TooManySensors(MAX_SENSORS)
    token = secrets.token_urlsafe(32)
    ADD_SENSOR.run(
        scope=_SCOPE, serial_number=serial_number, warehouse=warehouse, key_hash=_hash(token)
    )
    CURRENT_SENSORS.forget()
    return token


def remove_sensor(serial_number: str) -> None:
    """Stop accepting readings of a device. Its stored readings stay until they expire. Raises CassandraUnavailable."""
    REMOVE_SENSOR.run(scope=_SCOPE, serial_number=serial_number)
    CURRENT_SENSORS.forget()


def _hash(token: str) -> bytes:
    return blake2b(token.encode(), digest_size=32, person=b"stoa sensor").digest()


# The charts.


def prefetch_quarters(serial_number: str, first: datetime, last: datetime) -> list[PendingResult]:
    """Start reading the quarters of an hour of all days (UTC) between two moments, for `merge_quarters`."""
    return [
        QUARTERS.start(date=day, serial_number=serial_number)
        for day in _days(first.astimezone(UTC).date(), last.astimezone(UTC).date())
    ]


def merge_quarters(rows: Iterable[Row]) -> dict[tuple[datetime, str], QuarterRange]:
    """Return the lowest and highest value in all parts, keyed by the start of the quarter of an hour (UTC) and the kind."""
    found: dict[tuple[datetime, str], QuarterRange] = {}
    for row in rows:
        part = QuarterRange(row.lowest, row.highest)
        found.setdefault((row.quarter, row.type), part).add(part)
    return found


def prefetch_latest(serial_number: str, now: datetime) -> list[PendingResult]:
    """Start reading the newest readings of today and yesterday (UTC), for `parse_latest`."""
    today = now.astimezone(UTC).date()
    return [
        LATEST.start(date=day, serial_number=serial_number) for day in (today, today - timedelta(1))
    ]


def parse_latest(serial_number: str, pending: list[PendingResult]) -> dict[str, Reading]:
    """Return the newest reading of each kind, keyed by kind. Raises CassandraUnavailable."""
    found: dict[str, Reading] = {}
    for row in (row for each in pending for row in each.rows()):
        found.setdefault(row.type, Reading(serial_number, row.ts, row.type, row.value))
    return found


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


WRITER = keep_writer(ReadingWriter())
