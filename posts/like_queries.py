"""Reads of likes (L4, L5, L6)."""

from collections.abc import Collection, Iterable
from datetime import date, datetime
from uuid import UUID

from cassandra_db import LOCAL_ONE, LOCAL_QUORUM, PendingResult, Row, read
from posts.entities import Like
from posts.partitions import FIRST_PARTITION
from posts.rules import LIKE_TYPES

# The shards of the likes of an hour.
HOUR_SHARDS = 16
# Among this many likes the newest are searched, to name the people.
_LIKERS_READ = 100

_LIKE = "SELECT post_id, like_type, partition, version, liked_at, change_ids FROM likes_by_user WHERE user_id = :user_id"
# L5: what a person has said of a post; of some posts; all likes of a person.
LIKE = read("L5", f"{_LIKE} AND post_id = :post_id")
LIKES = read("L5", f"{_LIKE} AND post_id IN :post_ids")
LIKES_OF = read("L5", _LIKE)
# L4: a like as its post's partition has it; the numbers of a partition; some who like a post; how many partitions there are.
LIKER = read(
    "L4",
    """SELECT like_type, version FROM likes_by_post
       WHERE post_id = :post_id AND partition = :partition AND user_id = :user_id""",
)
NUMBERS = read(
    "L4",
    """SELECT DISTINCT post_id, partition, like_count, likes, loves, wants, haves FROM likes_by_post
       WHERE post_id = :post_id AND partition = :partition""",
)
LIKERS = read(
    "L4",
    """SELECT user_id, like_type, liked_at FROM likes_by_post
       WHERE post_id = :post_id AND partition = :partition LIMIT :most""",
    consistency=LOCAL_ONE,
)
ALL_LIKERS = read(
    "L4",
    """SELECT user_id, like_type, version FROM likes_by_post
       WHERE post_id = :post_id AND partition = :partition""",
)
PARTITION_TOTAL = read(
    "L4", "SELECT partition_total FROM likes_by_post_partitions WHERE post_id = :post_id"
)
# L6: a shard of the likes of an hour; the counted likes of a day.
RECENT = read(
    "L6",
    "SELECT post_id, like_type FROM likes_by_hour WHERE hour = :hour AND shard = :shard",
    consistency=LOCAL_QUORUM,
)
COUNTED = read(
    "L6", "SELECT ts, post_id, likes FROM likes_counter WHERE day = :day AND ts > :since"
)


def like_from_row(row: Row) -> Like:
    """Return a row of `likes_by_user` as a like."""
    return Like(
        post_id=row.post_id,
        like_type=row.like_type or "",
        version=row.version,
        partition=row.partition,
        liked_at=row.liked_at,
        change_ids=tuple((row.change_ids or "").split()),
    )


def get_like(user_id: UUID, post_id: UUID) -> Like | None:
    """Return what a person has said of a post, also a like that was taken back lately, or None. Raises CassandraUnavailable."""
    row = LIKE.one(user_id=user_id, post_id=post_id)
    return like_from_row(row) if row else None


def prefetch_likes_of(user_id: UUID, post_ids: Collection[UUID]) -> PendingResult:
    """Start reading what a person likes among these posts, for `likes_from_rows`."""
    return LIKES.start(user_id=user_id, post_ids=list(post_ids))


def likes_from_rows(rows: Iterable[Row]) -> dict[UUID, Like]:
    """Return what a person likes, keyed by post. Posts that the person does not like are left out."""
    return {row.post_id: like_from_row(row) for row in rows if row.like_type}


def list_likes_of(user_id: UUID) -> list[Like]:
    """Return all likes of a person, with those that were taken back lately. Raises CassandraUnavailable."""
    return [like_from_row(row) for row in LIKES_OF.all(user_id=user_id)]


def get_partition_total(post_id: UUID) -> int:
    """Return how many partitions a post's likes have besides the first one. Raises CassandraUnavailable."""
    row = PARTITION_TOTAL.one(post_id=post_id)
    return (row.partition_total or 0) if row else 0


def list_partitions(post_id: UUID) -> list[int]:
    """Return the partitions of a post's likes. Raises CassandraUnavailable."""
    return list(range(FIRST_PARTITION, get_partition_total(post_id)))


def prefetch_numbers(post_id: UUID, partition: int) -> PendingResult:
    """Start reading the numbers of a partition of a post's likes, for `numbers_from_row`."""
    return NUMBERS.start(post_id=post_id, partition=partition)


def numbers_from_row(row: Row | None) -> dict[str, int]:
    """Return how many likes of each type a partition has."""
    return {each: getattr(row, f"{each}s", None) or 0 for each in LIKE_TYPES}


def prefetch_likers(post_id: UUID) -> PendingResult:
    """Start reading some of the people who like a post, for `likers_from_rows`: all of them up to a hundred."""
    return LIKERS.start(post_id=post_id, partition=FIRST_PARTITION, most=_LIKERS_READ)


def likers_from_rows(rows: Iterable[Row], most: int) -> list[UUID]:
    """Return the ids of at most `most` people who like a post, the newest like first."""
    liking = [row for row in rows if row.like_type]
    liking.sort(key=lambda row: row.liked_at, reverse=True)
    return [row.user_id for row in liking[:most]]


def list_likers(post_id: UUID, most: int) -> list[UUID]:
    """Return the ids of at most `most` people who like a post, the newest like first. Raises CassandraUnavailable."""
    return likers_from_rows(prefetch_likers(post_id).rows(), most)


def count_recent_likes(hour: datetime) -> dict[tuple[UUID, str], int]:
    """Return the likes given in an hour that still hold, keyed by post and type. Raises CassandraUnavailable."""
    found: dict[tuple[UUID, str], int] = {}
    for pending in [RECENT.start(hour=hour, shard=shard) for shard in range(HOUR_SHARDS)]:
        for row in pending.rows():
            key = row.post_id, row.like_type
            found[key] = found.get(key, 0) + 1
    return found


def sum_counted_likes(days: Iterable[date], since: datetime) -> dict[UUID, int]:
    """Return the counted likes of these days from the hours after `since`, keyed by post. Raises CassandraUnavailable."""
    found: dict[UUID, int] = {}
    for pending in [COUNTED.start(day=day, since=since) for day in days]:
        for row in pending.rows():
            found[row.post_id] = found.get(row.post_id, 0) + row.likes
    return found
