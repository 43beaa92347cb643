"""Writes events behind the pages' backs: in one thread of each process, in batches of one partition.

A page puts its event into a queue in memory and goes on. What has waited is written every half second, so a crash loses at most the last
second. When the queue is full, as while Cassandra is away, what comes is shed and counted: pages come first. An event has its id, its time and
its partition before it is sent first, so it can be sent again. Network and browser leave this memory only as a pseudonym.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from queue import Empty, Full, Queue
from time import monotonic
from uuid import UUID

from cassandra.cluster import ResponseFuture
from cassandra.query import UNSET_VALUE, BatchStatement, BatchType
from cassandra.util import uuid_from_time
from prometheus_client import Counter

from analytics.days import shop_day
from analytics.live import LiveCounter
from cassandra_db import (
    LOCAL_QUORUM,
    CassandraUnavailable,
    applied_if,
    conditional_write,
    write,
)
from cassandra_db.configuration import WRITE
from cassandra_db.session import DRIVER_ERRORS, get_session

# A partition is a kind's hour in one of so many: some 65,000 events of 150 bytes fill 10 MB, so 8 hold 145 a second of each kind.
EVENT_SHARDS = 8
MAX_WAITING = 10_000
MAX_BATCH = 100
FLUSH_SECONDS = 0.5
# So long a batch is tried; its hour is added up again a while longer (analytics.roll_up.LATEST_EVENT).
MAX_EVENT_DELAY = timedelta(minutes=5)
RETRY_SECONDS = 2.0
SHUTDOWN_SECONDS = 3.0
SHED_EVENTS = Counter("stoa_events_shed", "Events of visits that were not counted")
log = logging.getLogger(__name__)

EVENT = write(
    "Q19",
    """INSERT INTO events (kind, hour, shard, event_id, source, visitor, product_id, category_id, words, found)
       VALUES (:kind, :hour, :shard, :event_id, :source, :visitor, :product_id, :category_id, :words, :found)
       USING TIMESTAMP :at""",
)
SALT = conditional_write(
    "Q19",
    # It goes by the table's TTL.
    "INSERT INTO visitor_salts (day, salt) VALUES (:day, :salt) IF NOT EXISTS",
)


@dataclass(frozen=True)
class WaitingEvent:
    """An event in memory. `network` and `user_agent` are what its pseudonym is made of."""

    kind: str
    at: datetime
    network: str
    user_agent: str
    source: str = "direct"
    product_id: UUID | None = None
    category_id: UUID | None = None
    words: str = ""
    found: int | None = None


@dataclass(frozen=True)
class EventBatch:
    """Events of one partition, the same at each try."""

    kind: str
    hour: datetime
    shard: int
    events: tuple[tuple[UUID, WaitingEvent], ...]


class EventWriter:
    """The queue of a process, and the thread that empties it, which starts with the first event: it outlives no fork."""

    def __init__(self) -> None:
        self.shed_count = 0
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._waiting: Queue[WaitingEvent | None] = Queue(MAX_WAITING)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._salts: dict[date, bytes] = {}
        self._live = LiveCounter()

    def put(self, event: WaitingEvent) -> None:
        """Let an event be written soon, or shed it if too many wait. Never waits."""
        try:
            self._waiting.put_nowait(event)
        except Full:
            self._shed(1)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name="events", daemon=True)
                self._thread.start()

    def forget_after_fork(self) -> None:
        """Begin anew in a child process, which has neither the thread nor a right to its parent's events."""
        self._lock = threading.Lock()
        self._begin()

    def close(self) -> None:
        """Write what waits, for some seconds at most, and end the thread; the next event starts another."""
        thread = self._thread
        if thread is None:
            return
        self._stopping.set()
        try:
            self._waiting.put_nowait(None)
        except Full:
            log.info("the queue of events is full at the end")
        thread.join(SHUTDOWN_SECONDS)
        self._begin()

    def _run(self) -> None:
        waiting, stopping = self._waiting, self._stopping
        while not (stopping.is_set() and waiting.empty()):
            first = waiting.get()
            stopping.wait(FLUSH_SECONDS)
            events = [first] if first else []
            while len(events) < MAX_WAITING:
                try:
                    event = waiting.get_nowait()
                except Empty:
                    break
                if event:
                    events.append(event)
            if events:
                self._write_until_late(make_batches(events), stopping)

    def _write_until_late(self, batches: Sequence[EventBatch], stopping: threading.Event) -> None:
        """Write batches; try again those that failed, until they are late or the process ends."""
        until = monotonic() + MAX_EVENT_DELAY.total_seconds()
        while batches:
            try:
                batches = self.write(batches)
            except CassandraUnavailable as error:
                log.info("events wait: %s", error)
            except Exception:
                # One that can never be written must not end the counting of all others.
                log.exception("events are lost")
                until = 0
            if batches and (monotonic() > until or stopping.wait(RETRY_SECONDS)):
                self._shed(sum(len(each.events) for each in batches))
                return

    def write(self, batches: Sequence[EventBatch]) -> list[EventBatch]:
        """Write batches side by side; return those that have to be sent again. Raises CassandraUnavailable."""
        under_way = [(each, self._send(each)) for each in batches]
        failed = []
        for batch, future in under_way:
            try:
                future.result()
            except DRIVER_ERRORS:
                failed.append(batch)
            else:
                self._count_live(batch)
        try:
            self._live.write()
        except CassandraUnavailable as error:
            # The events stand; the minutes are written with the next ones.
            log.info("live figures wait: %s", error)
        return failed

    def _count_live(self, batch: EventBatch) -> None:
        for _, event in batch.events:
            pseudonym = make_pseudonym(self._salt(shop_day(event.at)), event)
            self._live.add(batch.kind, event.at.astimezone(UTC), pseudonym)

    def _send(self, batch: EventBatch) -> ResponseFuture:
        sent = BatchStatement(BatchType.UNLOGGED, consistency_level=LOCAL_QUORUM)
        for event_id, event in batch.events:
            sent.add(
                EVENT.bind(
                    kind=batch.kind,
                    hour=batch.hour,
                    shard=batch.shard,
                    event_id=event_id,
                    source=event.source,
                    visitor=make_pseudonym(self._salt(shop_day(event.at)), event),
                    # What an event lacks is left out: a null would be a tombstone.
                    product_id=event.product_id or UNSET_VALUE,
                    category_id=event.category_id or UNSET_VALUE,
                    words=event.words or UNSET_VALUE,
                    found=UNSET_VALUE if event.found is None else event.found,
                    at=round(event.at.timestamp() * 1000) * 1000,
                )
            )
        sent.is_idempotent = True
        return get_session().execute_async(sent, execution_profile=WRITE)

    def _salt(self, day: date) -> bytes:
        if day not in self._salts:
            # Only the day before may still be asked for.
            kept = {each: salt for each, salt in self._salts.items() if each >= day - timedelta(1)}
            self._salts = kept | {day: get_or_create_salt(day)}
        return self._salts[day]

    def _shed(self, count: int) -> None:
        # At the first and at each tenfold: a flood of events must not become one of log lines.
        before, self.shed_count = self.shed_count, self.shed_count + count
        SHED_EVENTS.inc(count)
        if len(str(before)) != len(str(self.shed_count)) or not before:
            log.warning("%s events were not counted by this process", self.shed_count)


def make_batches(events: Sequence[WaitingEvent]) -> list[EventBatch]:
    """Return events by partition, each batch in a shard that is chosen for it."""
    by_hour: dict[tuple[str, datetime], list[WaitingEvent]] = defaultdict(list)
    for event in events:
        by_hour[event.kind, floor_to_hour(event.at)].append(event)
    return [
        EventBatch(
            kind,
            hour,
            secrets.randbelow(EVENT_SHARDS),
            tuple((_event_id(each), each) for each in same[start : start + MAX_BATCH]),
        )
        for (kind, hour), same in by_hour.items()
        for start in range(0, len(same), MAX_BATCH)
    ]


def _event_id(event: WaitingEvent) -> UUID:
    # Its node is by chance: several processes, and several events of a millisecond.
    made: UUID = uuid_from_time(event.at, secrets.randbits(48), secrets.randbits(14))
    return made


def floor_to_hour(moment: datetime) -> datetime:
    """Return the hour (UTC) in which a moment lies."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def make_pseudonym(salt: bytes, event: WaitingEvent) -> bytes:
    """Return whom an event is of, as eight bytes that say nothing without the day's salt, and nothing about another day."""
    seen = f"{event.network}\n{event.user_agent}".encode()
    return blake2b(seen, digest_size=8, key=salt).digest()


def get_or_create_salt(day: date) -> bytes:
    """Return a day's salt, the same in all processes; the first that asks makes it. Raises CassandraUnavailable."""
    made = secrets.token_bytes(32)
    outcome = SALT.apply(day=day, salt=made, if_lost=applied_if(lambda row: row.salt == made))
    if outcome or outcome.current is None:
        return made
    return bytes(outcome.current.salt)


WRITER = EventWriter()
os.register_at_fork(after_in_child=WRITER.forget_after_fork)
atexit.register(WRITER.close)
