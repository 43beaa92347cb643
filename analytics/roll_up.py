"""Adds up visits by hour and by day (Q19).

The visits of an hour are counted from its events, repeatedly while more may come. A day's visits are added up from its hours. A
write stores whole sums, with the time of the data's read as its timestamp. So a repeat does no harm; a sum of older data loses.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from analytics.days import month_start, shop_day
from analytics.event_writer import EVENT_SHARDS, floor_to_hour
from analytics.figures import ALL_CATEGORIES
from analytics.kinds import CLICK, KINDS
from analytics.sketches import VisitorSketch
from cassandra_db import Statement, current_microseconds, read, wait_for_all, write
from cassandra_db.batch_writer import MAX_DELAY
from catalogue import queries
from catalogue.search import has_all_words
from catalogue.search_index import SearchIndexMissing
from jobs.rows import guard_row

HOUR = timedelta(hours=1)
# The time after an event within which it is written, retries included.
LATEST_EVENT = MAX_DELAY + timedelta(minutes=5)
# Hours that are older than this are not counted again.
OLDEST_HOUR = timedelta(days=2)
TOP_COUNT = 100
# Search words that fewer visitors have used in a day may be a person's name.
MIN_SEARCHERS = 3
# The subject of the sum over all events of a kind, and the kind of the sum over all kinds.
ALL_SUBJECTS = "*"
ANY_KIND = "visit"
_AT_ONCE = 64

EVENTS = read(
    "Q19",
    """SELECT visitor, product_id, category_id, words, found FROM events
       WHERE kind = :kind AND hour = :hour AND shard = :shard""",
)
SALT = read("Q19", "SELECT day FROM visitor_salts WHERE day = :day")
HOURS = read(
    "Q19",
    """SELECT subject, category_id, events, empty, visitors FROM hourly_visits
       WHERE hour = :hour AND kind = :kind""",
)
HOURLY = write(
    "Q19",
    """INSERT INTO hourly_visits (hour, kind, subject, category_id, events, empty, visitors)
       VALUES (:hour, :kind, :subject, :category_id, :events, :empty, :visitors) USING TIMESTAMP :at""",
)
VIEWS = write(
    "Q19",
    """INSERT INTO product_views (product_id, day, views, visitors)
       VALUES (:product_id, :day, :views, :visitors) USING TIMESTAMP :at""",
)
TOP = write(
    "Q19",
    """INSERT INTO top_products (day, category_id, rank, product_id, views, visitors)
       VALUES (:day, :category_id, :rank, :product_id, :views, :visitors) USING TIMESTAMP :at""",
)
SEARCHES = write(
    "Q19",
    """INSERT INTO top_searches (day, rank, words, searches, empty, visitors)
       VALUES (:day, :rank, :words, :searches, :empty, :visitors) USING TIMESTAMP :at""",
)
# Deletes the last ranks of a former, longer list. Other lists never get shorter, since counts only grow.
DELETE_SEARCHES = write(
    "Q19", "DELETE FROM top_searches USING TIMESTAMP :at WHERE day = :day AND rank > :last"
)
DAILY = write(
    "Q19",
    """INSERT INTO daily_visits (month, day, kind, events, empty, visitors)
       VALUES (:month, :day, :kind, :events, :empty, :visitors) USING TIMESTAMP :at""",
)
CLICKS = write(
    "Q19",
    """INSERT INTO search_clicks (month, day, place, clicks)
       VALUES (:month, :day, :place, :clicks) USING TIMESTAMP :at""",
)


@dataclass
class Tally:
    """The number of events, the number of searches among them that found nothing, and the visitors."""

    events: int = 0
    empty: int = 0
    category_id: UUID | None = None
    visitors: VisitorSketch = field(default_factory=VisitorSketch)


def roll_up_hours(position: str, now: datetime) -> tuple[int, str]:
    """Count the visits of each hour since `position`, then add up each day that had such an hour. Raises CassandraUnavailable.

    `position` is the start of an hour in ISO 8601, or "" at the first run. Return the number of hours with events, and the
    position for the next run, which goes back to an hour that failed.
    """
    oldest = floor_to_hour(now - OLDEST_HOUR)
    hour = max(datetime.fromisoformat(position), oldest) if position else floor_to_hour(now) - HOUR
    changed: list[datetime] = []
    failed: list[datetime] = []
    # Without a salt, today has no events. Then the 56 partitions of each of its hours need not be read.
    is_quiet = SALT.one(day=shop_day(now)) is None
    while hour <= now:
        with guard_row(f"visits from {hour}", partial(failed.append, hour)):
            if not (is_quiet and shop_day(hour) == shop_day(now)) and roll_up_hour(hour):
                changed.append(hour)
        hour += HOUR
    for day in sorted({shop_day(each) for each in changed}):
        first = min(each for each in changed if shop_day(each) == day)
        with guard_row(f"visits on {day}", partial(failed.append, first)):
            roll_up_visits_of_day(day)
    # Later runs try an hour that failed again until it is older than OLDEST_HOUR.
    reached = min([floor_to_hour(now - LATEST_EVENT), *failed])
    return len(changed), reached.isoformat()


def roll_up_hour(hour: datetime) -> bool:
    """Count and store the events and visitors of an hour. Return whether the hour has events. Raises CassandraUnavailable."""
    at = current_microseconds()
    reading = [
        (kind, EVENTS.start(kind=kind, hour=hour, shard=shard))
        for kind in KINDS
        for shard in range(EVENT_SHARDS)
    ]
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    for kind, pending in reading:
        for row in pending.rows():
            place = row.found if kind == CLICK else None
            subject = str(row.product_id or row.category_id or row.words or place or "")
            for key in {subject, ALL_SUBJECTS} - {""}:
                tally = tallies[kind, key]
                tally.events += 1
                tally.empty += row.found == 0
                tally.category_id = row.category_id if key == subject else None
                tally.visitors.add(row.visitor)
    _write_all(
        HOURLY,
        (
            {
                "hour": hour,
                "kind": kind,
                "subject": subject,
                "category_id": tally.category_id,
                "events": tally.events,
                "empty": tally.empty,
                "visitors": tally.visitors.to_bytes(),
                "at": at,
            }
            for (kind, subject), tally in tallies.items()
        ),
    )
    return bool(tallies)


def roll_up_visits_of_day(day: date) -> None:
    """Add up the visits of a day from its hours (23 to 25), and store the sums. Raises CassandraUnavailable."""
    at = current_microseconds()
    write_visits_of_day(day, {kind: _sum_hours(_hours_of(day), kind) for kind in KINDS}, at)


def write_visits_of_day(day: date, by_kind: dict[str, dict[str, Tally]], at: int) -> None:
    """Store a day's visits by kind and subject. `at`: time of the read in microseconds since 1970. Raises CassandraUnavailable."""
    everyone = Tally()
    totals = {}
    for kind, tallies in by_kind.items():
        if whole := tallies.pop(ALL_SUBJECTS, None):
            totals[kind] = whole
            everyone.events += whole.events
            everyone.visitors.merge(whole.visitors)
    same_day: dict[str, Any] = {"day": day, "at": at}
    _write_all(
        DAILY,
        (
            same_day
            | {"month": month_start(day), "kind": kind, "events": tally.events}
            | {"empty": tally.empty, "visitors": tally.visitors.estimate()}
            for kind, tally in (totals | {ANY_KIND: everyone}).items()
        ),
    )
    _write_products(by_kind["product"], same_day)
    _write_searches(by_kind["search"], same_day)
    clicks = by_kind[CLICK].items()
    counted = ({"place": int(place), "clicks": tally.events} for place, tally in clicks)
    _write_all(CLICKS, (same_day | each | {"month": month_start(day)} for each in counted))


def _write_searches(tallies: dict[str, Tally], same_day: dict[str, Any]) -> None:
    most = sorted(tallies.items(), key=lambda each: (-each[1].events, each[0]))
    named = [
        {"words": words, "searches": tally.events, "empty": tally.empty}
        | {"visitors": tally.visitors.estimate()}
        for words, tally in islice((each for each in most if _is_kept(*each)), TOP_COUNT)
    ]
    _write_all(SEARCHES, (same_day | each | {"rank": rank} for rank, each in enumerate(named, 1)))
    DELETE_SEARCHES.run(**same_day, last=len(named))


def _is_kept(words: str, tally: Tally) -> bool:
    """Return whether search words may be stored for longer: several visitors have used them, or a product has them."""
    if tally.visitors.estimate() >= MIN_SEARCHERS:
        return True
    try:
        return has_all_words(words)
    except SearchIndexMissing:
        return False


def _write_products(tallies: dict[str, Tally], same_day: dict[str, Any]) -> None:
    views = [
        {"product_id": UUID(subject), "views": each.events, "visitors": each.visitors.estimate()}
        for subject, each in tallies.items()
    ]
    _write_all(VIEWS, (same_day | each for each in views))
    by_category: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for each in views:
        category_id = tallies[str(each["product_id"])].category_id
        node = queries.get_category(category_id) if category_id else None
        above = [one.category_id for one in [*node.ancestors, node]] if node else []
        for counted_in in (ALL_CATEGORIES, *above):
            by_category[counted_in].append(each)
    _write_all(
        TOP,
        (
            same_day | each | {"category_id": category_id, "rank": rank}
            for category_id, found in by_category.items()
            for rank, each in enumerate(sorted(found, key=_most_viewed)[:TOP_COUNT], 1)
        ),
    )


def _most_viewed(views: dict[str, Any]) -> tuple[int, str]:
    return -views["views"], str(views["product_id"])


def _hours_of(day: date) -> list[datetime]:
    """Return the starts (UTC) of the 23 to 25 hours that begin on a day in the shop's time zone."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    around = (noon + n * HOUR for n in range(-28, 28))
    return [hour for hour in around if shop_day(hour) == day]


def _sum_hours(hours: Sequence[datetime], kind: str) -> dict[str, Tally]:
    sums: dict[str, Tally] = defaultdict(Tally)
    for pending in [HOURS.start(hour=hour, kind=kind) for hour in hours]:
        for row in pending.rows():
            tally = sums[row.subject]
            tally.events += row.events
            tally.empty += row.empty
            tally.category_id = row.category_id or tally.category_id
            tally.visitors.merge(VisitorSketch(row.visitors))
    return dict(sums)


def _write_all(statement: Statement, rows: Iterable[dict[str, Any]]) -> None:
    iterator = iter(rows)
    while some := list(islice(iterator, _AT_ONCE)):
        wait_for_all([statement.start(**row) for row in some])
