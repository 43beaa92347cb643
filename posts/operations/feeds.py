"""Writes of feeds: the posts of the people whom a member follows.

A post is copied to each follower of its author. The posts of people with more than MAX_COPIES followers are not copied; they are
merged into a feed when it is read (decision 093). Members without a session are left out; their next login fills their feed.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from accounts.sessions import prefetch_sessions
from cassandra_db import wait_for_all, write, write_batch
from jobs.due_rows import DueRows
from posts import follow_queries, queries
from posts.entities import get_moment
from posts.follow_queries import SHOP

# The largest number of followers to whom a post is copied: benchmarks.feed measures it.
MAX_COPIES = 5_000
# How many posts of a person come into the feed of a new follower.
NEWEST_COPIED = 20
RETENTION = timedelta(days=30)
_AT_ONCE = 64
# The kinds of pending rows. FOLLOW and BLOCK stand before another member's id.
POST, LOGIN, FOLLOW, BLOCK = "post", "login", "follow", "block"

# The timestamp is the post's: a repeat changes nothing.
INSERT_ROW = write(
    "L8",
    """INSERT INTO feed_by_user (user_id, post_id, author_id)
       VALUES (:user_id, :post_id, :author_id) USING TIMESTAMP :at AND TTL :ttl""",
)
DELETE_FEED = write("L8", "DELETE FROM feed_by_user WHERE user_id = :user_id")
INSERT_CROWDED = write("L8", "INSERT INTO crowded_people (shop, user_id) VALUES (:shop, :user_id)")
DELETE_CROWDED = write("L8", "DELETE FROM crowded_people WHERE shop = :shop AND user_id = :user_id")
INSERT_PENDING = write(
    "L8",
    """INSERT INTO pending_feeds_by_minute (minute, subject_id, what, written)
       VALUES (:minute, :subject_id, :what, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "L8",
    """DELETE FROM pending_feeds_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND subject_id = :subject_id AND what = :what""",
)
PENDING_FEEDS = DueRows(
    job="feeds",
    label="feed of",
    select=follow_queries.PENDING_FEEDS,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
)


def copy_post(post_id: UUID, now: datetime) -> int:
    """Copy a published post to its author's followers, and return how many they are. A second call changes nothing.

    Raises CassandraUnavailable.
    """
    post = queries.get_post(post_id)
    if post is None or not post.is_public:
        return 0
    partitions = follow_queries.list_partitions(post.user_id)
    if follow_queries.count_followers(post.user_id, partitions) > MAX_COPIES:
        INSERT_CROWDED.run(shop=SHOP, user_id=post.user_id)
    if post.user_id in list_crowded():
        return 0
    count = 0
    for followers in follow_queries.iterate_followers(post.user_id, partitions):
        for start in range(0, len(followers), _AT_ONCE):
            some = followers[start : start + _AT_ONCE]
            sessions = [prefetch_sessions(each) for each in some]
            present = [each for each, found in zip(some, sessions, strict=True) if found.rows()]
            rows = [_make_row(each, post_id, post.user_id, now) for each in present]
            wait_for_all([INSERT_ROW.start(**row) for row in rows if row])
            count += len(present)
    return count


def list_crowded() -> set[UUID]:
    """Return the people whose posts are merged into feeds. Raises CassandraUnavailable."""
    return {row.user_id for row in follow_queries.CROWDED.all(shop=SHOP)}


def fill_feed(user_id: UUID, now: datetime) -> None:
    """Copy the newest posts of all whom a member follows into the feed. A second call changes nothing. Raises CassandraUnavailable."""
    copy_newest_posts(user_id, list(follow_queries.list_follows(user_id)), now)


def copy_newest_posts(user_id: UUID, author_ids: Sequence[UUID], now: datetime) -> None:
    """Copy the newest posts of these people into a member's feed. A second call changes nothing. Raises CassandraUnavailable."""
    for start in range(0, len(author_ids), _AT_ONCE):
        some = author_ids[start : start + _AT_ONCE]
        reading = [follow_queries.prefetch_newest_of(each, NEWEST_COPIED, now) for each in some]
        rows = [
            INSERT_ROW.bind(**values)
            for author_id, pending in zip(some, reading, strict=True)
            for post_id in follow_queries.newest_from_rows(pending, NEWEST_COPIED)
            if (values := _make_row(user_id, post_id, author_id, now))
        ]
        if rows:
            write_batch(rows)


def _make_row(user_id: UUID, post_id: UUID, author_id: UUID, now: datetime) -> dict[str, Any]:
    """Return the values of a post's row in a feed; {} if the row would have expired."""
    written_at = get_moment(post_id)
    seconds = int((written_at + RETENTION - now).total_seconds())
    at = int(written_at.timestamp() * 1_000_000)
    values = {"user_id": user_id, "post_id": post_id, "author_id": author_id}
    return {**values, "at": at, "ttl": seconds} if seconds > 0 else {}


def erase_feed(user_id: UUID) -> None:
    """Delete a person's feed, and their place among the people with many followers. Raises CassandraUnavailable."""
    DELETE_FEED.run(user_id=user_id)
    DELETE_CROWDED.run(shop=SHOP, user_id=user_id)
