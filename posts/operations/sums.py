"""The sums below a post: its likes and comments, counted from the numbers of their partitions."""

import json
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from cassandra_db import current_microseconds, write
from posts import comment_queries, like_queries, queries
from posts.entities import PostSums
from posts.operations.pending import note_sums
from posts.partitions import FIRST_PARTITION

# The timestamp is the beginning of the read, so sums that were read later win. No other write has these columns.
SET_SUMS = write(
    "L1",
    """UPDATE posts USING TIMESTAMP :counted SET like_count = :like_count, like_counts = :like_counts,
       comment_count = :comment_count, counted = :counted WHERE post_id = :post_id""",
)


def refresh_sums(post_id: UUID) -> None:
    """Count a post's sums at once, or let the worker count them within seconds if the post is popular. Raises CassandraUnavailable."""
    counted = current_microseconds()
    if like_queries.get_partition_total(post_id):
        note_sums(post_id)
    else:
        _count(post_id, [FIRST_PARTITION], counted)


def count_sums(post_id: UUID) -> PostSums | None:
    """Count and store a post's sums; return them, or None without such a post. Raises CassandraUnavailable."""
    counted = current_microseconds()
    return _count(post_id, like_queries.list_partitions(post_id), counted)


def _count(post_id: UUID, partitions: Sequence[int], counted: int) -> PostSums | None:
    reading = [like_queries.prefetch_numbers(post_id, each) for each in partitions]
    comments = [comment_queries.prefetch_comment_count(post_id, 0)]
    post = queries.get_post(post_id)
    if post is None:
        return None
    later = range(1, post.comment_partition + 1)
    comments += [comment_queries.prefetch_comment_count(post_id, each) for each in later]
    likes = Counter[str]()
    for pending in reading:
        likes.update(like_queries.numbers_from_row(pending.one()))
    sums = PostSums(
        like_count=likes.total(),
        like_counts=dict(likes),
        comment_count=sum(
            comment_queries.comment_count_from_row(pending.one()) for pending in comments
        ),
        counted=counted,
    )
    SET_SUMS.run(
        post_id=post_id,
        like_count=sums.like_count,
        like_counts=json.dumps(sums.like_counts),
        comment_count=sums.comment_count,
        counted=counted,
    )
    return sums
