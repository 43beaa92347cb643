"""Writes of comments.

A comment's row in `post_comments` is authoritative; it changes with the numbers of its partition in one conditional batch.
`refresh_comment` derives the staff's queue, the post's sums and the news. A pending row is written before the comment, so that the
worker calls `refresh_comment` after a crash.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from cassandra.query import BoundStatement

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    apply_batch,
    conditional_write,
    current_microseconds,
    current_time,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from moderation.errors import NoSuchText, TextChanged
from moderation.operations import leave_queue, report_text, update_queue
from moderation.queries import NEWS_FOR
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from moderation.texts import erased_id
from notifications.operations import announce
from posts import comment_queries, queries
from posts.entities import Comment, CommentInput, Post
from posts.errors import PostBusy, ThreadFull
from posts.operations.pending import COMMENT, PENDING_POSTS
from posts.operations.sums import refresh_sums
from posts.rules import MAX_REPLIES, MAX_THREADS
from posts.states import HIDDEN

MAX_ATTEMPTS = 20
REPORTED = "reported"
_TITLE_LENGTH = 80

INSERT_COMMENT = conditional_write(
    "L3",
    """INSERT INTO post_comments (post_id, partition, thread_id, comment_id, user_id, name, body, state, version, change_id,
       written_at, edited_at, queued_at, held_for, refusal, decided_at, reporters)
       VALUES (:post_id, :partition, :thread_id, :comment_id, :user_id, :name, :body, :state, :version, :change_id,
       :written_at, :edited_at, :queued_at, :held_for, :refusal, :decided_at, :reporters) IF NOT EXISTS""",
)
UPDATE_COMMENT = conditional_write(
    "L3",
    """UPDATE post_comments SET user_id = :user_id, name = :name, body = :body, state = :state, version = :version,
       change_id = :change_id, written_at = :written_at, edited_at = :edited_at, queued_at = :queued_at, held_for = :held_for,
       refusal = :refusal, decided_at = :decided_at, reporters = :reporters
       WHERE post_id = :post_id AND partition = :partition AND thread_id = :thread_id AND comment_id = :comment_id
       IF version = :seen AND change_id != :change_id""",
)
# In Cassandra null + 1 is null, so the numbers start at 0.
SEED_NUMBERS = conditional_write(
    "L3",
    """UPDATE post_comments SET comment_count = 0, thread_count = 0 WHERE post_id = :post_id AND partition = :partition
       IF thread_count = null""",
)
ADD_NUMBERS = conditional_write(
    "L3",
    """UPDATE post_comments SET comment_count = comment_count + :comments, thread_count = thread_count + :threads
       WHERE post_id = :post_id AND partition = :partition IF thread_count <= :most""",
)
# The next partition. `version` stays: the post itself does not change.
NEXT_PARTITION = conditional_write(
    "L3",
    "UPDATE posts SET comment_partition = :next WHERE post_id = :post_id IF comment_partition = :seen",
)
INSERT_BY_USER = write(
    "L3",
    """INSERT INTO comments_by_user (user_id, comment_id, post_id, partition, thread_id)
       VALUES (:user_id, :comment_id, :post_id, :partition, :thread_id)""",
)
DELETE_BY_USER = write(
    "L3", "DELETE FROM comments_by_user WHERE user_id = :user_id AND comment_id = :comment_id"
)
DELETE_PARTITION = write(
    "L3", "DELETE FROM post_comments WHERE post_id = :post_id AND partition = :partition"
)


def write_comment(
    post: Post,
    user_id: UUID,
    said: CommentInput,
    *,
    comment_id: UUID,
    change_id: UUID,
    now: datetime,
) -> Comment:
    """Comment on a post, or reply in a thread; return the stored comment. A repeat with the same `comment_id` writes nothing new.

    A new thread goes to the partition of `said`, the post's `comment_partition`, or to a later one. Raises ThreadFull for a thread
    with MAX_REPLIES, and NoSuchText for a thread that does not exist. Also raises PostBusy, CassandraUnavailable.
    """
    place = comment_queries.find_place(user_id, comment_id)
    comment = Comment(
        product_id=post.post_id,
        partition=place.partition if place else said.partition,
        thread_id=said.thread_id or comment_id,
        comment_id=comment_id,
        user_id=user_id,
        name=said.name,
        body=said.body,
        state=HELD if said.held_for else PUBLISHED,
        version=1,
        change_id=change_id,
        written_at=truncate_to_milliseconds(now),
        held_for=said.held_for,
    )
    if comment.is_reply:
        _require_room(comment)
    comment = _insert(comment.note_queued(comment.written_at))
    return refresh_comment(*_address(comment)) or comment


def _require_room(reply: Comment) -> None:
    """Raise ThreadFull or NoSuchText unless a thread has room for a reply. Replies at the same moment may exceed the bound."""
    found = comment_queries.list_thread(*_address(reply)[:3])
    if any(each.comment_id == reply.comment_id for each in found):
        return
    if not found or found[0].is_reply or found[0].state == WITHDRAWN:
        raise NoSuchText
    if len(found) > MAX_REPLIES:
        raise ThreadFull


def _insert(comment: Comment) -> Comment:
    """Write a new comment, in a later partition if its own is full. Return the comment."""
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        # The place is written first, so that an erasure finds the comment.
        INSERT_BY_USER.run(**_place(comment), user_id=comment.user_id)
        _note(comment)
        if _apply(INSERT_COMMENT.bind(**_columns(comment)), comment, None):
            return comment
        if comment_queries.get_comment(*_address(comment)):
            return comment  # the form was sent before
        if comment.is_reply:
            continue
        if comment_queries.count_threads(comment.post_id, comment.partition) >= MAX_THREADS:
            comment = replace(comment, partition=_move_on(comment.post_id, comment.partition))
    raise PostBusy


def _move_on(post_id: UUID, full: int) -> int:
    """Let new threads of a post go to the next partition; return it."""
    NEXT_PARTITION.apply(if_lost=REFUSED_MEANS_DONE, post_id=post_id, seen=full, next=full + 1)
    post = queries.get_post(post_id)
    return post.comment_partition if post else full


def _apply(row: BoundStatement, after: Comment, before: Comment | None) -> bool:
    """Write a comment and the numbers of its partition in one batch; return whether the batch applied."""
    place = {"post_id": after.post_id, "partition": after.partition}
    comments = int(after.is_counted) - int(before is not None and before.is_counted)
    threads = int(before is None and not after.is_reply)
    if before and not comments:
        return bool(apply_batch(row, if_lost=SEND_AGAIN))
    # A partition that is full takes no new thread. Replies and changes are always counted.
    most = MAX_THREADS - 1 if threads else MAX_THREADS
    count = ADD_NUMBERS.bind(**place, comments=comments, threads=threads, most=most)
    if apply_batch(row, count, if_lost=SEND_AGAIN):
        return True
    SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, **place)
    return False


def edit_comment(
    seen: Comment, body: str, *, held_for: str, change_id: UUID, now: datetime
) -> Comment:
    """Change a comment's words. A hidden comment stays hidden, and one that waits stays in the queue. Raises the errors of `change_comment`."""

    def edit(comment: Comment) -> Comment:
        state = HELD if held_for or comment.state == HELD else PUBLISHED
        return replace(
            comment,
            body=body,
            state=HIDDEN if comment.state == HIDDEN else state,
            held_for=held_for or comment.held_for,
            refusal="",
            edited_at=truncate_to_milliseconds(now),
            decided_at=None,
            reporters=(),
        )

    return change_comment(seen, edit, change_id=change_id, now=now)


def withdraw_comment(seen: Comment, *, change_id: UUID, now: datetime) -> Comment:
    """Delete a comment's words; its replies stay. Raises the errors of `change_comment`."""
    return change_comment(seen, _without_words, change_id=change_id, now=now)


def hide_comment(seen: Comment, *, change_id: UUID, now: datetime) -> Comment:
    """Hide a published comment, for the post's author. Raises the errors of `change_comment`."""

    def hide(comment: Comment) -> Comment:
        return replace(comment, state=HIDDEN) if comment.is_counted else comment

    return change_comment(seen, hide, change_id=change_id, now=now)


def show_comment(seen: Comment, *, change_id: UUID, now: datetime) -> Comment:
    """Show a hidden comment again; one that was edited into something suspicious waits for the staff. Raises the errors of `change_comment`."""

    def show(comment: Comment) -> Comment:
        is_suspicious = comment.held_for not in ("", REPORTED)
        state = HELD if is_suspicious else PUBLISHED
        return replace(comment, state=state) if comment.state == HIDDEN else comment

    return change_comment(seen, show, change_id=change_id, now=now)


def publish_comment(seen: Comment, *, change_id: UUID, now: datetime) -> Comment:
    """Publish a comment that waited or was refused. Raises the errors of `change_comment`."""
    return change_comment(seen, lambda comment: comment.publish(now), change_id=change_id, now=now)


def refuse_comment(seen: Comment, reason: str, *, change_id: UUID, now: datetime) -> Comment:
    """Refuse a comment, and tell its writer. Raises the errors of `change_comment`."""
    return change_comment(
        seen, lambda comment: comment.refuse(reason, now), change_id=change_id, now=now
    )


def hold_comment(seen: Comment, *, change_id: UUID, now: datetime) -> Comment:
    """Undo the staff's decision about a comment, and put the comment back into the queue. Raises the errors of `change_comment`."""
    return change_comment(seen, Comment.hold, change_id=change_id, now=now)


def report_comment(seen: Comment, reader_id: UUID, *, now: datetime) -> Comment:
    """Store that a reader has reported a published comment; return the comment with the report.

    Raises TextChanged if the writer has changed the comment since `seen` was read. Also raises what `change_comment` raises.
    """

    def change(comment: Comment, report: Callable[[Comment], Comment], change_id: UUID) -> Comment:
        return change_comment(comment, report, change_id=change_id, now=now)

    def read() -> Comment | None:
        present = comment_queries.get_comment(*_address(seen))
        return present if present and present.edited_at == seen.edited_at else None

    return report_text(seen, reader_id, change, read)


def change_comment(
    seen: Comment, change: Callable[[Comment], Comment], *, change_id: UUID, now: datetime
) -> Comment:
    """Change a comment by `change`, if it has the version of `seen`; return the changed comment.

    A repeat with the same `change_id` changes nothing. Raises TextChanged if the comment has another version. Also raises
    NoSuchText, PostBusy, CassandraUnavailable.
    """
    address = _address(seen)
    _note(seen)
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        before = comment_queries.get_comment(*address)
        if before and before.change_id == change_id:
            refresh_comment(*address)
            return before
        if before is None or before.state == WITHDRAWN:
            raise NoSuchText
        if before.version != seen.version:
            raise TextChanged
        after = replace(change(before), version=before.version + 1, change_id=change_id)
        after = after.note_queued(truncate_to_milliseconds(now))
        # A batch that applied although its answer was lost is found by the next read.
        if _apply(UPDATE_COMMENT.bind(**_columns(after), seen=before.version), after, before):
            refresh_comment(*address)
            return after
    raise PostBusy


def _without_words(comment: Comment) -> Comment:
    return replace(
        comment, state=WITHDRAWN, name="", body="", held_for="", refusal="", reporters=()
    )


def refresh_comment(
    post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> Comment | None:
    """Update a comment's row in the staff's queue and the post's sums, and announce the comment. A second call changes nothing.

    Return the comment. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    comment = comment_queries.get_comment(post_id, partition, thread_id, comment_id)
    if comment is None:
        return None
    update_queue(
        comment, at, title=comment.body[:_TITLE_LENGTH], kind="comment", question_id=thread_id
    )
    refresh_sums(post_id)
    since = comment.decided_at or comment.written_at
    if comment.state in (PUBLISHED, REFUSED) and current_time() - since < NEWS_FOR:
        announce("posts", post_id, describe_comment(comment))
    return comment


def describe_comment(comment: Comment) -> str:
    """Return the text that names a comment of a post, in pending rows and announcements."""
    return f"{COMMENT} {comment.partition} {comment.thread_id.hex} {comment.comment_id.hex}"


def parse_comment(text: str) -> tuple[int, UUID, UUID]:
    """Return the partition, thread and id of a comment that `describe_comment` has named."""
    _comment, partition, thread_id, comment_id = text.split()
    return int(partition), UUID(thread_id), UUID(comment_id)


def _note(comment: Comment) -> None:
    PENDING_POSTS.note(post_id=comment.post_id, what=describe_comment(comment))


def _address(comment: Comment) -> tuple[UUID, int, UUID, UUID]:
    return comment.post_id, comment.partition, comment.thread_id, comment.comment_id


def _place(comment: Comment) -> dict[str, Any]:
    names = ("post_id", "partition", "thread_id", "comment_id")
    return dict(zip(names, _address(comment), strict=True))


def _columns(comment: Comment) -> dict[str, Any]:
    values = comment.columns()
    del values["product_id"]
    return values | {"post_id": comment.post_id}


def erase_comments(user_id: UUID, *, keeps_texts: bool) -> None:
    """Remove a person's name from all their comments. Raises PostBusy, CassandraUnavailable.

    A published comment stays if the shop keeps texts. All others lose their words.
    """
    for row in comment_queries.list_places_of(user_id):
        address = row.post_id, row.partition, row.thread_id, row.comment_id
        while (comment := comment_queries.get_comment(*address)) and comment.user_id == user_id:
            _erase(comment, keeps_text=keeps_texts)
        DELETE_BY_USER.run(user_id=user_id, comment_id=row.comment_id)


def _erase(comment: Comment, *, keeps_text: bool) -> None:
    """Remove the writer from a comment, unless the comment is changed at this moment."""
    nobodys = replace(
        comment if keeps_text and comment.is_counted else _without_words(comment),
        name="",
        user_id=erased_id(comment.comment_id),
        version=comment.version + 1,
        change_id=uuid5(comment.comment_id, f"erased {comment.version}"),
    )
    # The staff find a comment by its writer's id.
    INSERT_BY_USER.run(**_place(nobodys), user_id=nobodys.user_id)
    _note(comment)
    _apply(UPDATE_COMMENT.bind(**_columns(nobodys), seen=comment.version), nobodys, comment)
    refresh_comment(*_address(comment))


def delete_comments(post: Post) -> None:
    """Delete all comments on a deleted post, with their places. May be repeated. Raises CassandraUnavailable."""
    for comment in comment_queries.iterate_comments(post):
        if comment.queued_at:
            leave_queue(comment.comment_id, comment.queued_at, current_microseconds())
        DELETE_BY_USER.run(user_id=comment.user_id, comment_id=comment.comment_id)
    for partition in range(post.comment_partition + 1):
        DELETE_PARTITION.run(post_id=post.post_id, partition=partition)
