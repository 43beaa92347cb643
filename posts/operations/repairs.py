"""Repairs of the numbers and rows beside likes and comments, for the consistency check."""

from collections.abc import Mapping
from uuid import UUID

from cassandra_db import SEND_AGAIN, Row, apply_batch, conditional_write
from posts.operations.likes import ADD_NUMBERS
from posts.rules import LIKE_TYPES

# The numbers are set if they are still the ones that the check has read.
SET_LIKE_NUMBERS = conditional_write(
    "I48",
    """UPDATE likes_by_post SET like_count = :like_count, likes = :likes, loves = :loves, wants = :wants, haves = :haves
       WHERE post_id = :post_id AND partition = :partition IF like_count = :was_like_count AND likes = :was_likes
       AND loves = :was_loves AND wants = :was_wants AND haves = :was_haves""",
)
SET_COMMENT_NUMBERS = conditional_write(
    "I48",
    """UPDATE post_comments SET comment_count = :comment_count, thread_count = :thread_count
       WHERE post_id = :post_id AND partition = :partition
       IF comment_count = :was_comment_count AND thread_count = :was_thread_count""",
)
DELETE_STRAY = conditional_write(
    "I48",
    """DELETE FROM likes_by_post WHERE post_id = :post_id AND partition = :partition AND user_id = :user_id
       IF version = :seen""",
)


def set_numbers(
    post_id: UUID, partition: int, wanted: Mapping[str, int], present: Mapping[str, int | None]
) -> None:
    """Set the numbers of a partition of likes or comments, if they are still `present`. Raises CassandraUnavailable."""
    statement = SET_LIKE_NUMBERS if "like_count" in wanted else SET_COMMENT_NUMBERS
    was = {f"was_{name}": value for name, value in present.items()}
    statement.apply(if_lost=SEND_AGAIN, post_id=post_id, partition=partition, **wanted, **was)


def delete_stray_liker(post_id: UUID, partition: int, row: Row) -> None:
    """Delete a person's row under a post that the person does not like, and count it no more. Raises CassandraUnavailable."""
    place = {"post_id": post_id, "partition": partition}
    numbers = {f"{each}s": -int(row.like_type == each) for each in LIKE_TYPES}
    apply_batch(
        DELETE_STRAY.bind(**place, user_id=row.user_id, seen=row.version),
        ADD_NUMBERS.bind(**place, like_count=sum(numbers.values()), **numbers),
        if_lost=SEND_AGAIN,
    )
