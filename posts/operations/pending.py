"""Pending rows of posts and likes, which the worker sweeps."""

from collections.abc import Iterable
from uuid import UUID

from cassandra_db import read, write, write_batch
from jobs.due_rows import DueRows
from posts import queries

# What is behind: a post's copies, its pictures, or its sums.
COPIES, PICTURES, SUMS = "post", "pictures", "sums"
# The first word of a row about a comment, before the comment's place (operations.comments.describe_comment).
COMMENT = "comment"
# The first words of rows that name a list which the post leaves.
LEFT_LISTS = ("tag ", "product ")

INSERT_PENDING = write(
    "L1",
    """INSERT INTO pending_posts_by_minute (minute, post_id, what, written)
       VALUES (:minute, :post_id, :what, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "L1",
    """DELETE FROM pending_posts_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND post_id = :post_id AND what = :what""",
)
SELECT_LIKES = read(
    "L4",
    "SELECT minute, user_id, post_id, written FROM pending_likes_by_minute WHERE minute = :minute",
)
INSERT_LIKE = write(
    "L4",
    """INSERT INTO pending_likes_by_minute (minute, user_id, post_id, written)
       VALUES (:minute, :user_id, :post_id, :written) USING TIMESTAMP :written""",
)
DELETE_LIKE = write(
    "L4",
    """DELETE FROM pending_likes_by_minute USING TIMESTAMP :written
       WHERE minute = :minute AND user_id = :user_id AND post_id = :post_id""",
)
# Posts whose copies, pictures or sums may be behind.
PENDING_POSTS = DueRows(
    job="posts", label="post", select=queries.PENDING, insert=INSERT_PENDING, delete=DELETE_PENDING
)
# Likes whose row in `likes_by_post` may be behind.
PENDING_LIKES = DueRows(
    job="likes", label="like", select=SELECT_LIKES, insert=INSERT_LIKE, delete=DELETE_LIKE
)


def note_post(post_id: UUID, left: Iterable[str] = ()) -> None:
    """Write the pending rows of a post before it changes. `left` are the lists that it leaves. Raises CassandraUnavailable."""
    rows = [PENDING_POSTS.date_row({"post_id": post_id, "what": each}) for each in (COPIES, *left)]
    write_batch([INSERT_PENDING.bind(**row) for row in rows])


def note_pictures(post_id: UUID) -> None:
    """Write the pending row of a post whose pictures wait for the worker. Raises CassandraUnavailable."""
    PENDING_POSTS.note(post_id=post_id, what=PICTURES)


def note_sums(post_id: UUID) -> None:
    """Let the worker count a post's sums within seconds. Raises CassandraUnavailable."""
    PENDING_POSTS.note(post_id=post_id, what=SUMS)
