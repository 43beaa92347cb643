"""Writes of blocks. A block ends the follows of both people."""

from datetime import datetime
from uuid import UUID, uuid5

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    apply_batch,
    conditional_write,
    retry_attempts,
    write,
)
from posts import follow_queries
from posts.errors import PersonBlocked, PostBusy, TooManyBlocks
from posts.operations.feeds import BLOCK, PENDING_FEEDS
from posts.operations.follows import set_follow
from posts.rules import MAX_BLOCKS

MAX_ATTEMPTS = 8
INSERT_BLOCK = conditional_write(
    "L9",
    """INSERT INTO blocks_by_user (user_id, blocked_user_id, blocked_at)
       VALUES (:user_id, :blocked_user_id, :now) IF NOT EXISTS""",
)
DELETE_BLOCK = conditional_write(
    "L9",
    "DELETE FROM blocks_by_user WHERE user_id = :user_id AND blocked_user_id = :blocked_user_id IF EXISTS",
)
SEED_BLOCKS = conditional_write(
    "L9", "UPDATE blocks_by_user SET block_count = 0 WHERE user_id = :user_id IF block_count = null"
)
ADD_BLOCKS = conditional_write(
    "L9",
    """UPDATE blocks_by_user SET block_count = block_count + :added
       WHERE user_id = :user_id IF block_count >= 0 AND block_count <= :most""",
)
DELETE_BLOCKS = write("L9", "DELETE FROM blocks_by_user WHERE user_id = :user_id")


def block_person(user_id: UUID, blocked_user_id: UUID, now: datetime) -> None:
    """Block a person; a repeat changes nothing. Raises PersonBlocked (oneself), TooManyBlocks, PostBusy, CassandraUnavailable."""
    if user_id == blocked_user_id:
        raise PersonBlocked
    pending = PENDING_FEEDS.note(subject_id=user_id, what=f"{BLOCK} {blocked_user_id.hex}")
    _set_block(user_id, blocked_user_id, now, is_blocked=True)
    end_follows_between(user_id, blocked_user_id, now)
    PENDING_FEEDS.clear(pending)


def unblock_person(user_id: UUID, blocked_user_id: UUID, now: datetime) -> None:
    """End a block; a repeat changes nothing. Raises PostBusy, CassandraUnavailable."""
    _set_block(user_id, blocked_user_id, now, is_blocked=False)


def end_follows_between(user_id: UUID, blocked_user_id: UUID, now: datetime) -> None:
    """End the follows of two people, if one has blocked the other. A second call changes nothing. Raises PostBusy, CassandraUnavailable."""
    if not follow_queries.has_blocked(user_id, blocked_user_id):
        return
    change_id = uuid5(user_id, f"block {blocked_user_id.hex} {now.isoformat()}")
    for one, other in ((user_id, blocked_user_id), (blocked_user_id, user_id)):
        set_follow(one, other, follows=False, change_id=change_id, now=now)


def _set_block(user_id: UUID, blocked_user_id: UUID, now: datetime, *, is_blocked: bool) -> None:
    key = {"user_id": user_id, "blocked_user_id": blocked_user_id}
    row = INSERT_BLOCK.bind(**key, now=now) if is_blocked else DELETE_BLOCK.bind(**key)
    added, most = (1, MAX_BLOCKS - 1) if is_blocked else (-1, MAX_BLOCKS)
    count = ADD_BLOCKS.bind(user_id=user_id, added=added, most=most)
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        # A repeat is refused because of its own first write: the block is stored already.
        outcome = apply_batch(row, count, if_lost=SEND_AGAIN)
        if outcome or follow_queries.has_blocked(user_id, blocked_user_id) == is_blocked:
            return
        if is_blocked and len(follow_queries.prefetch_blocks(user_id).rows()) >= MAX_BLOCKS:
            raise TooManyBlocks
        SEED_BLOCKS.apply(if_lost=REFUSED_MEANS_DONE, user_id=user_id)
    raise PostBusy


def delete_blocks(user_id: UUID) -> None:
    """Delete whom a person has blocked, for an erasure. Raises CassandraUnavailable."""
    DELETE_BLOCKS.run(user_id=user_id)
