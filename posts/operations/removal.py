"""Deletes what is under a post that its author has deleted: the comments, and who liked it."""

from uuid import UUID

from cassandra_db import SEND_AGAIN, wait_for_all, write
from posts import like_queries, queries
from posts.entities import Post
from posts.operations.comments import delete_comments
from posts.operations.likes import DELETE_LIKE

DELETE_LIKERS = write(
    "L4", "DELETE FROM likes_by_post WHERE post_id = :post_id AND partition = :partition"
)
DELETE_PARTITION_TOTAL = write(
    "L4", "DELETE FROM likes_by_post_partitions WHERE post_id = :post_id"
)


def delete_under(post_id: UUID) -> None:
    """Delete the comments and likes of a deleted post. May be repeated. Raises CassandraUnavailable."""
    post = queries.get_post(post_id)
    if post and post.is_gone:
        delete_comments(post)
        _delete_likes(post)


def _delete_likes(post: Post) -> None:
    partitions = like_queries.list_partitions(post.post_id)
    for partition in partitions:
        rows = like_queries.ALL_LIKERS.all(post_id=post.post_id, partition=partition)
        for row in rows:
            key = {"user_id": row.user_id, "post_id": post.post_id}
            DELETE_LIKE.apply(if_lost=SEND_AGAIN, **key, seen=row.version)
    wait_for_all([DELETE_LIKERS.start(post_id=post.post_id, partition=each) for each in partitions])
    DELETE_PARTITION_TOTAL.run(post_id=post.post_id)
