"""Posts that the staff have published, and what must hold of their likes and comments."""

from collections import Counter
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from cassandra.util import uuid_from_time

from cassandra_db import RAISE_UNKNOWN, current_time
from jobs.due_rows import Sweep
from moderation.states import PUBLISHED
from posts import comment_queries, like_queries, queries
from posts.entities import Post
from posts.jobs import finish_post
from posts.like_jobs import finish_likes
from posts.operations.copies import refresh_post
from posts.operations.pending import PENDING_LIKES, PENDING_POSTS
from posts.operations.posts import INSERT_POST
from posts.operations.sums import count_sums
from posts.rules import LIKE_TYPES
from tests.reads import existing
from tests.shards import ItemsShard


def publish(user_id: UUID | None = None, at: datetime | None = None) -> Post:
    """Publish a post that the staff have seen."""
    at = at or current_time()
    post = Post(
        post_id=uuid_from_time(at),
        product_id=uuid4(),
        user_id=user_id or uuid4(),
        name="Ada L.",
        body="My mug in the morning",
        pictures=("photo/" + "0" * 32 + "-640x640",),
        picture_count=1,
        state=PUBLISHED,
        version=1,
        change_id=uuid4(),
        written_at=at,
        published_at=at,
    )
    INSERT_POST.apply(if_lost=RAISE_UNKNOWN, **post.columns())
    refresh_post(post.post_id)
    return existing(queries.get_post(post.post_id))


def run_worker(post_id: UUID, *user_ids: UUID) -> None:
    """Let the worker finish what requests about a post have left behind, some minutes later."""
    now = current_time() + timedelta(minutes=3)
    began = now - timedelta(minutes=5)
    likes = ItemsShard("likes", item_ids=frozenset(user_ids))
    finish_likes(Sweep(PENDING_LIKES, PENDING_LIKES.list_partitions(began, now), now, likes), now)
    shard = ItemsShard("posts", item_ids=frozenset([post_id]))
    sweep = Sweep(PENDING_POSTS, PENDING_POSTS.list_partitions(began, now), now, shard)
    for rows in sweep.groups("post_id"):
        finish_post(rows, sweep)


def check_likes(post_id: UUID, *user_ids: UUID) -> Counter[str]:
    """Return a post's likes by type, after comparing rows, numbers, sums, and what these people have said."""
    total = Counter[str]()
    for partition in like_queries.list_partitions(post_id):
        rows = like_queries.ALL_LIKERS.all(post_id=post_id, partition=partition)
        counted = Counter(dict.fromkeys(LIKE_TYPES, 0))
        counted.update(row.like_type for row in rows if row.like_type)
        row = like_queries.prefetch_numbers(post_id, partition).one()
        assert like_queries.numbers_from_row(row) == counted
        assert (row.like_count if row else 0) == counted.total()
        for user_id in user_ids:
            said = like_queries.get_like(user_id, post_id)
            if said and said.partition == partition:
                (own,) = (each for each in rows if each.user_id == user_id)
                assert (own.like_type, own.version) == (said.like_type, said.version)
        total += counted
    sums = existing(queries.get_post(post_id)).sums
    assert Counter(sums.like_counts) == total
    assert sums.like_count == total.total()
    return +total


def check_comments(post_id: UUID) -> int:
    """Return the number of a post's published comments, after comparing it with the comments and with the sum."""
    post, total = existing(queries.get_post(post_id)), 0
    comments = list(comment_queries.iterate_comments(post))
    for partition in range(post.comment_partition + 1):
        own = [each for each in comments if each.partition == partition]
        row = comment_queries.NUMBERS.one(post_id=post_id, partition=partition)
        numbers = (row.comment_count, row.thread_count) if row else (0, 0)
        threads = sum(not each.is_reply for each in own)
        assert numbers == (sum(each.is_counted for each in own), threads)
        total += numbers[0]
    assert post.sums.comment_count == total
    return total


def count_again(post_id: UUID) -> None:
    """Count the sums as the worker does for a popular post."""
    assert count_sums(post_id)
