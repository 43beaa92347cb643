"""Writes what is derived from a post: its rows in the lists, the staff's queue, and the news about a decision."""

from collections.abc import Iterable
from uuid import UUID

from cassandra_db import PendingResult, current_microseconds, current_time, wait_for_all, write
from moderation.operations import update_queue
from moderation.queries import NEWS_FOR
from notifications.operations import announce
from posts import queries
from posts.entities import Post
from posts.operations.feeds import PENDING_FEEDS, POST

INSERT_BY_USER = write(
    "L2",
    """INSERT INTO posts_by_user (user_id, year, post_id, state) VALUES (:user_id, :year, :post_id, :state)
       USING TIMESTAMP :at""",
)
DELETE_BY_USER = write(
    "L2",
    """DELETE FROM posts_by_user USING TIMESTAMP :at
       WHERE user_id = :user_id AND year = :year AND post_id = :post_id""",
)
INSERT_BY_PRODUCT = write(
    "L2",
    """INSERT INTO posts_by_product (product_id, year, post_id, user_id) VALUES (:product_id, :year, :post_id, :user_id)
       USING TIMESTAMP :at""",
)
DELETE_BY_PRODUCT = write(
    "L2",
    """DELETE FROM posts_by_product USING TIMESTAMP :at
       WHERE product_id = :product_id AND year = :year AND post_id = :post_id""",
)
INSERT_BY_TAG = write(
    "L2",
    """INSERT INTO posts_by_tag (tag, year, post_id, user_id) VALUES (:tag, :year, :post_id, :user_id)
       USING TIMESTAMP :at""",
)
DELETE_BY_TAG = write(
    "L2",
    """DELETE FROM posts_by_tag USING TIMESTAMP :at
       WHERE tag = :tag AND year = :year AND post_id = :post_id""",
)
INSERT_BY_MONTH = write(
    "L2",
    "INSERT INTO posts_by_month (month, post_id, user_id) VALUES (:month, :post_id, :user_id) USING TIMESTAMP :at",
)
DELETE_BY_MONTH = write(
    "L2",
    "DELETE FROM posts_by_month USING TIMESTAMP :at WHERE month = :month AND post_id = :post_id",
)
_TITLE_LENGTH = 80


def list_memberships(post: Post | None) -> set[str]:
    """Return the lists of tags and products to which a post belongs: "tag wood", "product 0123…"."""
    if post is None:
        return set()
    return {f"tag {each}" for each in post.tags} | {
        f"product {each.product_id.hex}" for each in post.products
    }


def refresh_post(post_id: UUID, left: Iterable[str] = ()) -> None:
    """Write a post's rows in the lists and the staff's queue, and announce a decision. A second call changes nothing.

    `left` are lists (see `list_memberships`) that the post may have left. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    post = queries.get_post(post_id)
    if post is None:
        return
    lists = list_memberships(post)
    wait_for_all(
        [
            *(start_listing(post, each, at, is_listed=post.is_public) for each in lists),
            *(start_listing(post, each, at, is_listed=False) for each in set(left) - lists),
            start_listing(post, "month", at, is_listed=post.is_public),
            *([] if post.is_erased else [start_by_user(post, at)]),
        ]
    )
    update_queue(post, at, title=post.body[:_TITLE_LENGTH], kind="post")
    if post.is_public and post.published_at and current_time() - post.published_at < NEWS_FOR:
        PENDING_FEEDS.note(subject_id=post_id, what=POST)
    if post.decided_at and current_time() - post.decided_at < NEWS_FOR:
        announce("posts", post_id, "decision")


def start_listing(post: Post, name: str, at: int, *, is_listed: bool) -> PendingResult:
    """Start writing a post's row in a list, "month" or one of `list_memberships`, or deleting the row."""
    kind, _space, key = name.partition(" ")
    row = {"post_id": post.post_id, "at": at}
    if is_listed:
        row["user_id"] = post.user_id
    if kind == "month":
        return (INSERT_BY_MONTH if is_listed else DELETE_BY_MONTH).start(month=post.month, **row)
    if kind == "tag":
        return (INSERT_BY_TAG if is_listed else DELETE_BY_TAG).start(tag=key, year=post.year, **row)
    return (INSERT_BY_PRODUCT if is_listed else DELETE_BY_PRODUCT).start(
        product_id=UUID(key), year=post.year, **row
    )


def start_by_user(post: Post, at: int) -> PendingResult:
    """Start writing a post's row in its author's list."""
    return INSERT_BY_USER.start(
        user_id=post.user_id, year=post.year, post_id=post.post_id, state=post.state, at=at
    )


def leave_person(post: Post, user_id: UUID) -> None:
    """Delete a post from its erased author's list. Raises CassandraUnavailable."""
    at = current_microseconds()
    DELETE_BY_USER.run(user_id=user_id, year=post.year, post_id=post.post_id, at=at)
