"""Reads of follows, blocks and feeds (L7, L8, L9)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cassandra_db import PendingResult, Row, read
from moderation.states import PUBLISHED
from posts.partitions import FIRST_PARTITION
from posts.rules import MAX_BLOCKS

# L7: whom a person follows; one follow; the people who follow a person; how many they are.
FOLLOWS = read(
    "L7",
    """SELECT followed_user_id, follow_count, follows, partition, version, change_ids, followed_at FROM follows_by_user
       WHERE user_id = :user_id""",
)
FOLLOW = read(
    "L7",
    """SELECT followed_user_id, follows, partition, version, change_ids, followed_at FROM follows_by_user
       WHERE user_id = :user_id AND followed_user_id = :followed_user_id""",
)
FOLLOWERS = read(
    "L7",
    """SELECT user_id, follows, version FROM follows_by_followed
       WHERE followed_user_id = :followed_user_id AND partition = :partition AND user_id > :after LIMIT :most""",
)
FOLLOWER = read(
    "L7",
    """SELECT followed_user_id, user_id, follows, version, follower_count FROM follows_by_followed
       WHERE followed_user_id = :followed_user_id AND partition = :partition AND user_id = :user_id""",
)
FOLLOWER_COUNT = read(
    "L7",
    """SELECT follower_count FROM follows_by_followed
       WHERE followed_user_id = :followed_user_id AND partition = :partition LIMIT 1""",
)
FOLLOWER_PARTITIONS = read(
    "L7",
    """SELECT partition_total FROM follows_by_followed_partitions
       WHERE followed_user_id = :followed_user_id""",
)
# L8: a feed; the people whose posts are merged into feeds; the pending rows.
FEED = read(
    "L8",
    """SELECT post_id, author_id FROM feed_by_user
       WHERE user_id = :user_id AND post_id < :before LIMIT :most""",
)
CROWDED = read("L8", "SELECT user_id FROM crowded_people WHERE shop = :shop")
PENDING_FEEDS = read(
    "L8",
    """SELECT minute, subject_id, what, written FROM pending_feeds_by_minute
       WHERE minute = :minute""",
)
# L2: a person's newest posts.
NEWEST_OF = read(
    "L2",
    """SELECT post_id, state FROM posts_by_user
       WHERE user_id = :user_id AND year = :year LIMIT :most""",
)
# L9: whom a person has blocked; whether a person has blocked another.
BLOCKS = read(
    "L9",
    "SELECT blocked_user_id, blocked_at FROM blocks_by_user WHERE user_id = :user_id LIMIT :most",
)
BLOCK = read(
    "L9",
    """SELECT blocked_user_id FROM blocks_by_user
       WHERE user_id = :user_id AND blocked_user_id = :blocked_user_id""",
)
SHOP = "shop"
_PAGE = 500
_FIRST_ID = UUID(int=0)


@dataclass(frozen=True)
class Follow:
    """That a person follows another, or did so until lately."""

    followed_user_id: UUID
    follows: bool
    partition: int
    version: int
    change_ids: tuple[str, ...]
    followed_at: datetime


def follow_from_row(row: Row) -> Follow:
    """Return the follow in a row of `follows_by_user`."""
    return Follow(
        row.followed_user_id,
        bool(row.follows),
        row.partition,
        row.version,
        tuple((row.change_ids or "").split()),
        row.followed_at,
    )


def prefetch_follows(user_id: UUID) -> PendingResult:
    """Start reading whom a person follows."""
    return FOLLOWS.start(user_id=user_id)


def follows_from_rows(rows: Iterable[Row]) -> dict[UUID, Follow]:
    """Return whom a person follows, keyed by their user ids."""
    return {row.followed_user_id: follow_from_row(row) for row in rows if row.follows}


def list_follows(user_id: UUID) -> dict[UUID, Follow]:
    """Return whom a person follows, keyed by their user ids. Raises CassandraUnavailable."""
    return follows_from_rows(prefetch_follows(user_id).rows())


def prefetch_follow(user_id: UUID, followed_user_id: UUID) -> PendingResult:
    """Start reading whether a person follows another: the row has `follows`."""
    return FOLLOW.start(user_id=user_id, followed_user_id=followed_user_id)


def get_follow(user_id: UUID, followed_user_id: UUID) -> Follow | None:
    """Return a person's follow of another, also one that has ended lately. Raises CassandraUnavailable."""
    row = prefetch_follow(user_id, followed_user_id).one()
    return follow_from_row(row) if row else None


def list_partitions(followed_user_id: UUID) -> list[int]:
    """Return the partitions in which a person's followers stand. Raises CassandraUnavailable."""
    row = FOLLOWER_PARTITIONS.one(followed_user_id=followed_user_id)
    return list(range(FIRST_PARTITION, row.partition_total if row else 0))


def count_followers(followed_user_id: UUID, partitions: Sequence[int]) -> int:
    """Return how many people follow a person. Raises CassandraUnavailable."""
    reading = [
        FOLLOWER_COUNT.start(followed_user_id=followed_user_id, partition=each)
        for each in partitions
    ]
    rows = [pending.one() for pending in reading]
    return sum(row.follower_count or 0 for row in rows if row)


def iterate_followers(followed_user_id: UUID, partitions: Sequence[int]) -> Iterator[list[UUID]]:
    """Yield the people who follow a person, in lists of at most 500. Raises CassandraUnavailable."""
    for partition in partitions:
        after = _FIRST_ID
        while rows := FOLLOWERS.all(
            followed_user_id=followed_user_id, partition=partition, after=after, most=_PAGE
        ):
            yield [row.user_id for row in rows if row.follows]
            after = rows[-1].user_id


def prefetch_blocks(user_id: UUID) -> PendingResult:
    """Start reading whom a person has blocked."""
    return BLOCKS.start(user_id=user_id, most=MAX_BLOCKS)


def blocks_from_rows(rows: Iterable[Row]) -> Mapping[UUID, datetime]:
    """Return whom a person has blocked, and when."""
    return {row.blocked_user_id: row.blocked_at for row in rows}


def prefetch_block(user_id: UUID, blocked_user_id: UUID) -> PendingResult:
    """Start reading whether a person has blocked another: then there is a row."""
    return BLOCK.start(user_id=user_id, blocked_user_id=blocked_user_id)


def has_blocked(user_id: UUID, blocked_user_id: UUID) -> bool:
    """Return whether a person has blocked another. Raises CassandraUnavailable."""
    return prefetch_block(user_id, blocked_user_id).one() is not None


def prefetch_newest_of(user_id: UUID, most: int, now: datetime) -> list[PendingResult]:
    """Start reading a person's newest posts of the last 30 days, or more."""
    years = sorted({now.year, (now - timedelta(days=30)).year}, reverse=True)
    # Some of these may be hidden.
    return [NEWEST_OF.start(user_id=user_id, year=each, most=2 * most) for each in years]


def newest_from_rows(reading: Iterable[PendingResult], most: int) -> list[UUID]:
    """Return the ids of a person's published posts, newest first. Raises CassandraUnavailable."""
    rows = [row for pending in reading for row in pending.rows() if row.state == PUBLISHED]
    return [row.post_id for row in rows[:most]]
