"""Writes visitors' events in the background. A visitor's network address and browser are stored only as a pseudonym."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from cassandra.query import UNSET_VALUE, BoundStatement
from cassandra.util import uuid_from_time

from analytics.clicks import find_place, read_search
from analytics.days import shop_day
from analytics.kinds import CLICK
from analytics.live import LiveCounter
from cassandra_db import applied_if, conditional_write, write
from cassandra_db.batch_writer import MAX_BATCH, BatchWriter, keep_writer

# The partitions for one kind of event in one hour. 65,000 events of 150 bytes fill one (10 MB), so 8 hold 145 a second.
EVENT_SHARDS = 8
# A place of a click takes a search. So forged clicks cost at most this many searches each half second.
MAX_PLACES_AT_ONCE = 20

EVENT = write(
    "Q19",
    """INSERT INTO events (kind, hour, shard, event_id, source, visitor, product_id, category_id, words, found)
       VALUES (:kind, :hour, :shard, :event_id, :source, :visitor, :product_id, :category_id, :words, :found)
       USING TIMESTAMP :at""",
)
SALT = conditional_write(
    "Q19",
    # The salt expires by the table's TTL.
    "INSERT INTO visitor_salts (day, salt) VALUES (:day, :salt) IF NOT EXISTS",
)


@dataclass(frozen=True)
class WaitingEvent:
    """An event that waits in memory to be written. Its visitor's pseudonym is made of `network` and `user_agent`."""

    kind: str
    at: datetime
    network: str
    user_agent: str
    source: str = "direct"
    product_id: UUID | None = None
    category_id: UUID | None = None
    words: str = ""
    found: int | None = None  # results of a search, or the place of a click
    referrer: str = ""  # the page of the shop from which a product was opened; it is not stored


@dataclass(frozen=True)
class EventBatch:
    """Events that one batch writes into one partition."""

    kind: str
    hour: datetime
    shard: int
    events: tuple[tuple[UUID, WaitingEvent], ...]

    def __len__(self) -> int:
        return len(self.events)


class EventWriter(BatchWriter[WaitingEvent, EventBatch]):
    """Writes events to Cassandra, and counts them by minute for the staff's live page."""

    kind = "events"

    def _begin(self) -> None:
        super()._begin()
        self._salts: dict[date, bytes] = {}
        self._live = LiveCounter()

    def make_batches(self, items: Sequence[WaitingEvent]) -> list[EventBatch]:
        """Return the events in batches of one kind and hour. Clicks on results of searches are added to them."""
        return make_batches(list(add_clicks(items)))

    def bind(self, batch: EventBatch) -> list[BoundStatement]:
        """Return the bound INSERT statements for the events of a batch."""
        return [
            EVENT.bind(
                kind=batch.kind,
                hour=batch.hour,
                shard=batch.shard,
                event_id=event_id,
                source=event.source,
                visitor=make_pseudonym(self._salt(shop_day(event.at)), event),
                # Columns without a value are left out: writing a null would make a tombstone.
                product_id=event.product_id or UNSET_VALUE,
                category_id=event.category_id or UNSET_VALUE,
                words=event.words or UNSET_VALUE,
                found=UNSET_VALUE if event.found is None else event.found,
                at=round(event.at.timestamp() * 1000) * 1000,
            )
            for event_id, event in batch.events
        ]

    def note_written(self, batches: Sequence[EventBatch]) -> None:
        """Count the written events for the live page, and write the counts. Raises CassandraUnavailable."""
        for batch in batches:
            for _, event in batch.events:
                pseudonym = make_pseudonym(self._salt(shop_day(event.at)), event)
                self._live.add(batch.kind, event.at.astimezone(UTC), pseudonym)
        self._live.write()

    def _salt(self, day: date) -> bytes:
        if day not in self._salts:
            # Of the older salts, only yesterday's may still be needed, for late events.
            kept = {each: salt for each, salt in self._salts.items() if each >= day - timedelta(1)}
            self._salts = kept | {day: get_or_create_salt(day)}
        return self._salts[day]


def add_clicks(events: Iterable[WaitingEvent]) -> Iterator[WaitingEvent]:
    """Yield the events, and a click after each load of a product from a search page. A click has no product and no words."""
    left = MAX_PLACES_AT_ONCE
    for event in events:
        yield event
        search = read_search(event.referrer) if event.referrer else None
        if event.product_id and search:
            place = find_place(*search, event.product_id) if left > 0 else None
            left -= 1
            yield replace(event, kind=CLICK, product_id=None, category_id=None, found=place)


def make_batches(events: Sequence[WaitingEvent]) -> list[EventBatch]:
    """Return the events grouped by kind and hour, in batches of at most MAX_BATCH. Each batch gets a random shard."""
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
    # The random node part of the UUID keeps the ids of several processes, and of one millisecond, different.
    made: UUID = uuid_from_time(event.at, secrets.randbits(48), secrets.randbits(14))
    return made


def floor_to_hour(moment: datetime) -> datetime:
    """Return the start (UTC) of the hour that contains a moment."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def make_pseudonym(salt: bytes, event: WaitingEvent) -> bytes:
    """Return the pseudonym of an event's visitor, eight bytes. It differs daily, and reveals nothing without the day's salt."""
    seen = f"{event.network}\n{event.user_agent}".encode()
    return blake2b(seen, digest_size=8, key=salt).digest()


def get_or_create_salt(day: date) -> bytes:
    """Return a day's salt, the same in all processes. The first process to call creates it. Raises CassandraUnavailable."""
    made = secrets.token_bytes(32)
    outcome = SALT.apply(day=day, salt=made, if_lost=applied_if(lambda row: row.salt == made))
    if outcome or outcome.current is None:
        return made
    return bytes(outcome.current.salt)


WRITER = keep_writer(EventWriter())
