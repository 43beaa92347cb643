"""Writes of likes.

A like's row in `likes_by_user` is authoritative, and changes by a conditional write that raises its version. `follow_like` brings
the row and the numbers in `likes_by_post` in line. A pending row is written before, so that the worker does the same after a crash
(decision 092).

The rows are written by UPDATE: an INSERT would leave an empty row when the columns of a like that was taken back expire.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    apply_batch,
    conditional_write,
    current_microseconds,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from notifications.operations import announce
from posts import like_queries
from posts.entities import Like, Post
from posts.errors import PostBusy
from posts.like_queries import HOUR_SHARDS
from posts.operations.pending import PENDING_LIKES
from posts.operations.sums import refresh_sums
from posts.partitions import FIRST_PARTITION, choose_partition
from posts.rules import LIKE_TYPES, POPULAR_FROM, POPULAR_PARTITIONS

MAX_ATTEMPTS = 20
# A like that was taken back is kept for longer than any pending row, which has to find it.
KEEP_TAKEN_BACK = int(timedelta(days=32).total_seconds())
MAX_CHANGE_IDS = 5
# What is announced: that a post has new likes.
LIKED = "likes"

SET_LIKE = conditional_write(
    "L5",
    """UPDATE likes_by_user USING TTL :ttl SET like_type = :like_type, liked = :liked, partition = :partition,
       version = :version, change_ids = :change_ids, liked_at = :liked_at
       WHERE user_id = :user_id AND post_id = :post_id IF version = :seen""",
)
DELETE_LIKE = conditional_write(
    "L5",
    "DELETE FROM likes_by_user WHERE user_id = :user_id AND post_id = :post_id IF version = :seen",
)
# The numbers follow from the type that the row had, so the row must still have the version that was read.
SET_LIKER = conditional_write(
    "L4",
    """UPDATE likes_by_post USING TTL :ttl SET like_type = :like_type, version = :version, liked_at = :liked_at
       WHERE post_id = :post_id AND partition = :partition AND user_id = :user_id IF version = :seen""",
)
DELETE_LIKER = conditional_write(
    "L4",
    """DELETE FROM likes_by_post WHERE post_id = :post_id AND partition = :partition AND user_id = :user_id
       IF version = :seen AND like_type = ''""",
)
# In Cassandra null + 1 is null, so the numbers start at 0.
SEED_NUMBERS = conditional_write(
    "L4",
    """UPDATE likes_by_post SET like_count = 0, likes = 0, loves = 0, wants = 0, haves = 0
       WHERE post_id = :post_id AND partition = :partition IF like_count = null""",
)
ADD_NUMBERS = conditional_write(
    "L4",
    """UPDATE likes_by_post SET like_count = like_count + :like_count, likes = likes + :likes, loves = loves + :loves,
       wants = wants + :wants, haves = haves + :haves
       WHERE post_id = :post_id AND partition = :partition IF like_count >= 0""",
)
GROW = conditional_write(
    "L4",
    """UPDATE likes_by_post_partitions SET partition_total = :total WHERE post_id = :post_id
       IF partition_total = null""",
)
# The timestamp is the like's version: the latest one wins, whichever process is slower.
INSERT_RECENT = write(
    "L6",
    """INSERT INTO likes_by_hour (hour, shard, post_id, user_id, like_type)
       VALUES (:hour, :shard, :post_id, :user_id, :like_type) USING TIMESTAMP :version""",
)
DELETE_RECENT = write(
    "L6",
    """DELETE FROM likes_by_hour USING TIMESTAMP :version
       WHERE hour = :hour AND shard = :shard AND post_id = :post_id AND user_id = :user_id""",
)


def set_like(user_id: UUID, post: Post, like_type: str, *, change_id: UUID, now: datetime) -> Like:
    """Like a post, or take the like back (""); return what the person now says of the post.

    A form that is sent again changes nothing, also after a later form. Raises PostBusy, CassandraUnavailable.
    """
    if like_type not in ("", *LIKE_TYPES):
        raise ValueError(like_type)
    pending = PENDING_LIKES.note(user_id=user_id, post_id=post.post_id)
    like = _set_like(user_id, post.post_id, like_type, change_id, now)
    finish_like(user_id, post)
    PENDING_LIKES.clear(pending)
    return like


def finish_like(user_id: UUID, post: Post) -> None:
    """Write what follows from a like or from its end. A second call changes nothing. Raises PostBusy, CassandraUnavailable."""
    like = follow_like(user_id, post.post_id)
    refresh_sums(post.post_id)
    if like and like.like_type and user_id != post.user_id:
        announce("posts", post.post_id, LIKED)


def _set_like(user_id: UUID, post_id: UUID, like_type: str, change_id: UUID, now: datetime) -> Like:
    """Write the authoritative row, unless it says so already or has had this form."""
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        before = like_queries.get_like(user_id, post_id)
        if before and (change_id.hex in before.change_ids or before.like_type == like_type):
            return before
        if before is None and not like_type:
            return Like(post_id, "")
        like = Like(
            post_id,
            like_type,
            version=max(current_microseconds(), before.version + 1 if before else 0),
            partition=before.partition if before else _choose_partition(user_id, post_id),
            # Another type is no new like.
            liked_at=before.liked_at
            if before and (before.like_type or not like_type)
            else truncate_to_milliseconds(now),
            change_ids=(change_id.hex, *(before.change_ids if before else ()))[:MAX_CHANGE_IDS],
        )
        # A write that applied although its answer was lost is found by the next read.
        if SET_LIKE.apply(
            if_lost=SEND_AGAIN,
            user_id=user_id,
            post_id=post_id,
            like_type=like_type,
            liked=bool(like_type),
            partition=like.partition,
            version=like.version,
            change_ids=" ".join(like.change_ids),
            liked_at=like.liked_at,
            ttl=_find_ttl(like),
            seen=before.version if before else None,
        ):
            return like
    raise PostBusy


def _find_ttl(like: Like) -> int:
    return 0 if like.like_type else KEEP_TAKEN_BACK


def _choose_partition(user_id: UUID, post_id: UUID) -> int:
    """Return the partition of a new like, and give a post that has become popular more partitions."""
    first = like_queries.prefetch_numbers(post_id, FIRST_PARTITION)
    total = like_queries.get_partition_total(post_id)
    row = first.one()
    if ((row.like_count or 0) if row else 0) < POPULAR_FROM:
        return FIRST_PARTITION
    if not total:
        GROW.apply(if_lost=REFUSED_MEANS_DONE, post_id=post_id, total=POPULAR_PARTITIONS)
        total = like_queries.get_partition_total(post_id)
    return choose_partition(user_id, total)


def follow_like(user_id: UUID, post_id: UUID) -> Like | None:
    """Bring a like's row and the numbers in `likes_by_post` in line with the like; return the like. A second call changes nothing.

    Raises PostBusy, CassandraUnavailable.
    """
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        like = like_queries.get_like(user_id, post_id)
        if like is None or _write_liker(user_id, like):
            break
    else:
        raise PostBusy
    if like and like.liked_at:
        _write_recent(user_id, like, like.liked_at)
    return like


def _write_liker(user_id: UUID, like: Like) -> bool:
    """Write a like's row and the numbers in one batch; return whether they are in line with the like."""
    place = {"post_id": like.post_id, "partition": like.partition}
    row = like_queries.LIKER.one(**place, user_id=user_id)
    seen, former_type = (row.version, row.like_type) if row else (None, "")
    if seen is not None and seen >= like.version:
        return True
    batch = [
        SET_LIKER.bind(
            **place,
            user_id=user_id,
            like_type=like.like_type,
            version=like.version,
            liked_at=like.liked_at,
            ttl=_find_ttl(like),
            seen=seen,
        )
    ]
    if former_type != like.like_type:
        added = Counter({like.like_type: 1})
        added[former_type] -= 1
        numbers = {f"{each}s": added[each] for each in LIKE_TYPES}
        batch.append(ADD_NUMBERS.bind(**place, like_count=sum(numbers.values()), **numbers))
    # A repeat of this batch is refused because of its own first write: the next read finds the version.
    if apply_batch(*batch, if_lost=SEND_AGAIN):
        return True
    SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, **place)
    return False


def _write_recent(user_id: UUID, like: Like, liked_at: datetime) -> None:
    row = {
        "hour": liked_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0),
        "shard": user_id.int % HOUR_SHARDS,
        "post_id": like.post_id,
        "user_id": user_id,
        "version": like.version,
    }
    if like.like_type:
        INSERT_RECENT.run(**row, like_type=like.like_type)
    else:
        DELETE_RECENT.run(**row)


def erase_likes(user_id: UUID, now: datetime) -> None:
    """Take back all likes of a person, and delete their rows. Raises PostBusy, CassandraUnavailable."""
    for each in like_queries.list_likes_of(user_id):
        pending = PENDING_LIKES.note(user_id=user_id, post_id=each.post_id)
        like = _set_like(user_id, each.post_id, "", uuid4(), now)
        follow_like(user_id, each.post_id)
        refresh_sums(each.post_id)
        key = {"user_id": user_id, "post_id": each.post_id, "seen": like.version}
        DELETE_LIKER.apply(if_lost=SEND_AGAIN, **key, partition=like.partition)
        DELETE_LIKE.apply(if_lost=SEND_AGAIN, **key)
        PENDING_LIKES.clear(pending)
