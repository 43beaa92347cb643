"""The likes given by hour (the slides' `likes_counter`), and the posts with the most likes of a week. The worker counts both."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from cassandra_db import current_microseconds, write, write_batch
from posts import like_queries, queries
from posts.queries import WEEK
from posts.rules import POPULAR_LENGTH

HOUR = timedelta(hours=1)
_PERIOD = timedelta(days=7)
_AT_ONCE = 200  # rows of a batch

# The earlier counts of an hour are deleted with a timestamp just before the new ones.
DELETE_HOUR = write(
    "L6", "DELETE FROM likes_counter USING TIMESTAMP :at WHERE day = :day AND ts = :ts"
)
INSERT_COUNT = write(
    "L6",
    """INSERT INTO likes_counter (day, ts, post_id, like_type, likes)
       VALUES (:day, :ts, :post_id, :like_type, :likes) USING TIMESTAMP :at""",
)
INSERT_POPULAR = write(
    "L2",
    """INSERT INTO popular_posts (period, rank, post_id, user_id, likes)
       VALUES (:period, :rank, :post_id, :user_id, :likes) USING TIMESTAMP :at""",
)
DELETE_BELOW = write(
    "L2", "DELETE FROM popular_posts USING TIMESTAMP :at WHERE period = :period AND rank > :rank"
)


def floor_to_hour(moment: datetime) -> datetime:
    """Return the start (UTC) of the hour that contains a moment."""
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def count_hour(hour: datetime) -> int:
    """Count the likes given in an hour, and return their number. A later count replaces it. Raises CassandraUnavailable."""
    at = current_microseconds()
    counts = like_queries.count_recent_likes(hour)
    where = {"day": hour.date(), "ts": hour}
    DELETE_HOUR.run(**where, at=at - 1)
    rows = [
        INSERT_COUNT.bind(**where, post_id=post_id, like_type=like_type, likes=likes, at=at)
        for (post_id, like_type), likes in counts.items()
    ]
    for start in range(0, len(rows), _AT_ONCE):
        write_batch(rows[start : start + _AT_ONCE])
    return sum(counts.values())


def rank_week(now: datetime) -> list[UUID]:
    """List the public posts with the most likes of the last seven days, and return their ids. Raises CassandraUnavailable."""
    at, since = current_microseconds(), floor_to_hour(now - _PERIOD)
    days = {(since + timedelta(days=each)).date() for each in range(_PERIOD.days + 1)}
    likes = like_queries.sum_counted_likes(days, since)
    # Among equals, the newest post comes first.
    ranked = sorted(likes, key=lambda post_id: (likes[post_id], post_id.time), reverse=True)
    posts = queries.get_posts(ranked[: 2 * POPULAR_LENGTH])
    ids = [each for each in ranked if each in posts and posts[each].is_public][:POPULAR_LENGTH]
    DELETE_BELOW.run(period=WEEK, rank=len(ids), at=at)
    if ids:
        write_batch(
            [
                INSERT_POPULAR.bind(
                    period=WEEK,
                    rank=rank,
                    post_id=post_id,
                    user_id=posts[post_id].user_id,
                    likes=likes[post_id],
                    at=at,
                )
                for rank, post_id in enumerate(ids, 1)
            ]
        )
    return ids
