"""Writes of follows.

A follow's row in `follows_by_user` is authoritative, and changes by a conditional write that raises its version. `refresh_follower`
brings the row and the number in `follows_by_followed` in line. A pending row is written before, so that the worker does the same
after a crash (decision 093).

All rows are written by UPDATE: an INSERT would leave an empty row when the columns of an ended follow expire.
"""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    apply_batch,
    conditional_write,
    current_microseconds,
    retry_attempts,
)
from notifications.operations import announce
from posts import follow_queries
from posts.errors import PersonBlocked, PostBusy, TooManyFollows
from posts.follow_queries import Follow
from posts.operations.feeds import FOLLOW, PENDING_FEEDS, copy_newest_posts
from posts.partitions import FIRST_PARTITION, choose_partition
from posts.rules import MAX_FOLLOWS, POPULAR_FROM, POPULAR_PARTITIONS

MAX_ATTEMPTS = 12
# A follow that has ended is kept for longer than any pending row, which has to find it.
KEEP_ENDED = int(timedelta(days=32).total_seconds())
MAX_CHANGE_IDS = 5
# What is announced: that a person has a new follower.
FOLLOWED = "followed"

SET_FOLLOW = conditional_write(
    "L7",
    """UPDATE follows_by_user USING TTL :ttl SET follows = :follows, partition = :partition, version = :version,
       change_ids = :change_ids, followed_at = :now
       WHERE user_id = :user_id AND followed_user_id = :followed_user_id IF version = :seen""",
)
SEED_FOLLOWS = conditional_write(
    "L7",
    "UPDATE follows_by_user SET follow_count = 0 WHERE user_id = :user_id IF follow_count = null",
)
ADD_FOLLOWS = conditional_write(
    "L7",
    """UPDATE follows_by_user SET follow_count = follow_count + :added
       WHERE user_id = :user_id IF follow_count >= 0 AND follow_count <= :most""",
)
SET_FOLLOWER = conditional_write(
    "L7",
    """UPDATE follows_by_followed USING TTL :ttl SET follows = :follows, version = :version
       WHERE followed_user_id = :followed_user_id AND partition = :partition AND user_id = :user_id
       IF version = :seen""",
)
SEED_FOLLOWERS = conditional_write(
    "L7",
    """UPDATE follows_by_followed SET follower_count = 0
       WHERE followed_user_id = :followed_user_id AND partition = :partition IF follower_count = null""",
)
ADD_FOLLOWERS = conditional_write(
    "L7",
    """UPDATE follows_by_followed SET follower_count = follower_count + :added
       WHERE followed_user_id = :followed_user_id AND partition = :partition IF follower_count >= 0""",
)
GROW = conditional_write(
    "L7",
    """UPDATE follows_by_followed_partitions SET partition_total = :total
       WHERE followed_user_id = :followed_user_id IF partition_total = null""",
)


def set_follow(
    user_id: UUID, followed_user_id: UUID, *, follows: bool, change_id: UUID, now: datetime
) -> None:
    """Follow a person, or stop. A form that is sent again changes nothing, also after a later form.

    Raises PersonBlocked, TooManyFollows, PostBusy, CassandraUnavailable.
    """
    if user_id == followed_user_id or (follows and is_blocked_between(user_id, followed_user_id)):
        raise PersonBlocked
    pending = PENDING_FEEDS.note(subject_id=user_id, what=f"{FOLLOW} {followed_user_id.hex}")
    _set_follow(user_id, followed_user_id, follows=follows, change_id=change_id, now=now)
    finish_follow(user_id, followed_user_id, now)
    PENDING_FEEDS.clear(pending)


def finish_follow(user_id: UUID, followed_user_id: UUID, now: datetime) -> None:
    """Write what follows from a follow or from its end. A second call changes nothing. Raises PostBusy, CassandraUnavailable."""
    follow = follow_queries.get_follow(user_id, followed_user_id)
    # A block is written before it ends follows, and a follow before this read: one of the two sees the other.
    if follow and follow.follows and is_blocked_between(user_id, followed_user_id):
        _set_follow(user_id, followed_user_id, follows=False, change_id=uuid4(), now=now)
        follow = None
    refresh_follower(user_id, followed_user_id)
    if follow and follow.follows:
        copy_newest_posts(user_id, [followed_user_id], now)
        announce("posts", followed_user_id, FOLLOWED)


def is_blocked_between(user_id: UUID, other_id: UUID) -> bool:
    """Return whether one of two people has blocked the other. Raises CassandraUnavailable."""
    reading = [
        follow_queries.prefetch_block(user_id, other_id),
        follow_queries.prefetch_block(other_id, user_id),
    ]
    return any(pending.one() for pending in reading)


def _set_follow(
    user_id: UUID, followed_user_id: UUID, *, follows: bool, change_id: UUID, now: datetime
) -> None:
    """Write the authoritative row, unless it says so already."""
    key = {"user_id": user_id, "followed_user_id": followed_user_id}
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        before = follow_queries.get_follow(user_id, followed_user_id)
        had = before.change_ids if before else ()
        if change_id.hex in had or bool(before and before.follows) == follows:
            return
        version = max(current_microseconds(), before.version + 1 if before else 0)
        row = SET_FOLLOW.bind(
            **key,
            follows=follows,
            partition=before.partition if before else _choose_partition(user_id, followed_user_id),
            version=version,
            change_ids=" ".join((change_id.hex, *had)[:MAX_CHANGE_IDS]),
            now=now,
            ttl=0 if follows else KEEP_ENDED,
            seen=before.version if before else None,
        )
        added, most = (1, MAX_FOLLOWS - 1) if follows else (-1, MAX_FOLLOWS)
        count = ADD_FOLLOWS.bind(user_id=user_id, added=added, most=most)
        # A batch that applied although its answer was lost is found by the next read.
        if apply_batch(row, count, if_lost=SEND_AGAIN):
            return
        if follows and len(follow_queries.list_follows(user_id)) >= MAX_FOLLOWS:
            raise TooManyFollows
        SEED_FOLLOWS.apply(if_lost=REFUSED_MEANS_DONE, user_id=user_id)
    raise PostBusy


def _choose_partition(user_id: UUID, followed_user_id: UUID) -> int:
    """Return the partition for a new follower, and give a person who has become popular more of them."""
    partitions = follow_queries.list_partitions(followed_user_id)
    if len(partitions) == 1:
        if follow_queries.count_followers(followed_user_id, partitions) < POPULAR_FROM:
            return FIRST_PARTITION
        key = {"followed_user_id": followed_user_id}
        GROW.apply(if_lost=REFUSED_MEANS_DONE, **key, total=POPULAR_PARTITIONS)
        partitions = follow_queries.list_partitions(followed_user_id)
    return choose_partition(user_id, len(partitions) - 1)


def refresh_follower(user_id: UUID, followed_user_id: UUID) -> None:
    """Bring a follower's row and the number of followers in line with the follow. A second call changes nothing.

    Raises PostBusy, CassandraUnavailable.
    """
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        follow = follow_queries.get_follow(user_id, followed_user_id)
        if follow is None or _write_follower(user_id, follow):
            return
    raise PostBusy


def _write_follower(user_id: UUID, follow: Follow) -> bool:
    place = {"followed_user_id": follow.followed_user_id, "partition": follow.partition}
    row = follow_queries.FOLLOWER.one(**place, user_id=user_id)
    seen = row.version if row else None
    if seen is not None and seen >= follow.version:
        return True
    batch = [
        SET_FOLLOWER.bind(
            **place,
            user_id=user_id,
            follows=follow.follows,
            version=follow.version,
            ttl=0 if follow.follows else KEEP_ENDED,
            seen=seen,
        )
    ]
    if added := int(follow.follows) - int(bool(row and row.follows)):
        batch.append(ADD_FOLLOWERS.bind(**place, added=added))
    if apply_batch(*batch, if_lost=SEND_AGAIN):
        return True
    SEED_FOLLOWERS.apply(if_lost=REFUSED_MEANS_DONE, **place)
    return False


def end_all_follows(user_id: UUID, now: datetime) -> None:
    """End what a person follows, and who follows the person, for an erasure. Raises PostBusy, CassandraUnavailable."""
    for followed_user_id in follow_queries.list_follows(user_id):
        set_follow(user_id, followed_user_id, follows=False, change_id=uuid4(), now=now)
    partitions = follow_queries.list_partitions(user_id)
    for followers in follow_queries.iterate_followers(user_id, partitions):
        for follower_id in followers:
            set_follow(follower_id, user_id, follows=False, change_id=uuid4(), now=now)
