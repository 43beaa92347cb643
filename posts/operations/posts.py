"""Writes of posts.

A row of `posts` is authoritative. `refresh_post` derives the lists and the staff's queue. Any process may call it at any time: the
write timestamp is the time of its read. Pending rows are written before the post changes, so that the worker calls `refresh_post`
after a crash; they also name the lists that the post leaves (decision 091).
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from accounts.models import User
from cassandra_db import (
    SEND_AGAIN,
    applied_if,
    conditional_write,
    current_microseconds,
    retry_attempts,
    truncate_to_milliseconds,
)
from catalogue.queries import list_uploads
from moderation.errors import TextChanged
from moderation.operations import report_text
from moderation.rules import shown_name
from moderation.states import HELD, PUBLISHED, WITHDRAWN
from moderation.texts import erased_id
from posts import queries
from posts.entities import Post, PostInput
from posts.errors import NoSuchPost, PostBusy
from posts.operations.copies import leave_person, list_memberships, refresh_post, start_by_user
from posts.operations.pending import note_post
from posts.time_ids import is_fresh

MAX_ATTEMPTS = 8
# The reason why a post waits: the staff have not seen its new pictures.
PICTURES = "pictures"

INSERT_POST = conditional_write(
    "L1",
    """INSERT INTO posts (post_id, user_id, name, body, tags, products, pictures, new_pictures, former_pictures, alts,
       picture_count, state, version, change_id, written_at, edited_at, published_at, queued_at, held_for, refusal,
       decided_at, reporters, comment_partition)
       VALUES (:post_id, :user_id, :name, :body, :tags, :products, :pictures, :new_pictures, :former_pictures, :alts,
       :picture_count, :state, :version, :change_id, :written_at, :edited_at, :published_at, :queued_at, :held_for, :refusal,
       :decided_at, :reporters, :comment_partition) IF NOT EXISTS""",
)
# `comment_partition` is written by comments alone.
UPDATE_POST = conditional_write(
    "L1",
    """UPDATE posts SET user_id = :user_id, name = :name, body = :body, tags = :tags, products = :products,
       pictures = :pictures, new_pictures = :new_pictures, former_pictures = :former_pictures, alts = :alts,
       picture_count = :picture_count, state = :state, version = :version, change_id = :change_id, written_at = :written_at,
       edited_at = :edited_at, published_at = :published_at, queued_at = :queued_at, held_for = :held_for,
       refusal = :refusal, decided_at = :decided_at, reporters = :reporters
       WHERE post_id = :post_id IF version = :seen AND change_id != :change_id""",
)
# The version stays the same, because no reader sees a difference.
FORGET_FORMER = conditional_write(
    "L1", "UPDATE posts SET former_pictures = '' WHERE post_id = :post_id IF version = :seen"
)


def write_post(
    post_id: UUID,
    user: User,
    said: PostInput,
    *,
    seen: int,
    change_id: UUID,
    now: datetime,
    removed: Collection[str] = (),
) -> Post:
    """Write a member's post, or change an existing one. Return the stored post.

    `seen` is the version that the form showed, or 0. `removed` are the pictures to take from the post. The form's files have been
    stored before. A form that is sent twice
    with the same `change_id` is written once. A post waits for the staff until they have published its pictures; an edit of a
    published post stays public, unless there is a reason to hold it.
    Raises NoSuchPost for a stranger's post, a deleted post, and a new post's id that is not fresh. Raises TextChanged if the
    stored version is not `seen`. Also raises CassandraUnavailable.
    """
    now, before = truncate_to_milliseconds(now), queries.get_post(post_id)
    if before is None and not is_fresh(post_id, now):
        raise NoSuchPost
    if before and before.user_id != user.user_id:
        raise NoSuchPost
    if before and before.change_id == change_id:
        refresh_post(post_id)
        return before
    if before and before.is_gone:
        raise NoSuchPost
    if (before.version if before else 0) != seen:
        raise TextChanged
    kept = before.without_pictures(removed) if before else None
    values: dict[str, Any] = {
        "name": shown_name(user.name),
        "body": said.body,
        "tags": said.tags,
        "products": said.products,
        "alts": _list_upload_alts(before) | dict(said.alts),
        "picture_count": _count_pictures(post_id, kept),
        **_decide(before, said.held_for),
        "version": seen + 1,
        "change_id": change_id,
    }
    after = (
        replace(kept, **values, edited_at=now, refusal="", decided_at=None, reporters=())
        if kept
        else Post(
            post_id=post_id, product_id=post_id, user_id=user.user_id, written_at=now, **values
        )
    )
    return _change(before, _queue(after, now))


def _count_pictures(post_id: UUID, kept: Post | None) -> int:
    """Return how many pictures a post will have once the worker has decoded those that its forms have sent."""
    own = kept.own_pictures if kept else ()
    uploads = list_uploads(post_id)
    return len(own) + sum(each.state != "refused" and each.picture not in own for each in uploads)


def _list_upload_alts(before: Post | None) -> dict[str, str]:
    """Return the descriptions of pictures that are still uploads: an edit may come before the worker."""
    alts = before.alts if before else {}
    return {salt: alt for salt, alt in alts.items() if " " in salt}


def _decide(before: Post | None, held_for: str) -> dict[str, str]:
    """Return the state of a post that its author has written, and what it waits for."""
    waits_for = before.held_for if before and before.held_for != PICTURES else ""
    reason = held_for or waits_for
    if before and before.state == PUBLISHED and not reason:
        return {"state": PUBLISHED, "held_for": before.held_for}
    return {"state": HELD, "held_for": reason or PICTURES}


def withdraw_post(post_id: UUID, *, seen: int, change_id: UUID, now: datetime) -> Post:
    """Delete a post's words and pictures; the worker deletes all that is under it. Raises the errors of `change_post`."""
    return change_post(post_id, _without_words, seen=seen, change_id=change_id, now=now)


def publish_post(post_id: UUID, *, seen: int, change_id: UUID, now: datetime) -> Post:
    """Publish a post that waited or was refused, with its pictures. Raises the errors of `change_post`."""

    def publish(post: Post) -> Post:
        return replace(
            post.publish(now),
            pictures=post.own_pictures,
            new_pictures=(),
            published_at=post.published_at or truncate_to_milliseconds(now),
        )

    return change_post(post_id, publish, seen=seen, change_id=change_id, now=now)


def refuse_post(post_id: UUID, reason: str, *, seen: int, change_id: UUID, now: datetime) -> Post:
    """Refuse a post, and tell its author the reason. Raises the errors of `change_post`."""

    def refuse(post: Post) -> Post:
        return post.refuse(reason, now)

    return change_post(post_id, refuse, seen=seen, change_id=change_id, now=now)


def hold_post(post_id: UUID, *, seen: int, change_id: UUID, now: datetime) -> Post:
    """Undo the staff's decision about a post, and put the post back into the queue. Raises the errors of `change_post`."""
    return change_post(post_id, Post.hold, seen=seen, change_id=change_id, now=now)


def remove_picture(
    post_id: UUID, picture: str, *, seen: int, change_id: UUID, now: datetime
) -> Post:
    """Remove a picture from a post; the worker deletes its files. Raises the errors of `change_post`."""

    def remove(post: Post) -> Post:
        return post.without_pictures({picture})

    return change_post(post_id, remove, seen=seen, change_id=change_id, now=now)


def report_post(seen: Post, reader_id: UUID, *, now: datetime) -> Post:
    """Store that a reader has reported a published post; return the post with the report.

    Raises TextChanged if the author has changed the post since `seen` was read. Also raises what `change_post` raises.
    """

    def change(post: Post, report: Callable[[Post], Post], change_id: UUID) -> Post:
        return change_post(post.post_id, report, seen=post.version, change_id=change_id, now=now)

    def read() -> Post | None:
        present = queries.get_post(seen.post_id)
        return present if present and present.edited_at == seen.edited_at else None

    return report_text(seen, reader_id, change, read)


def change_post(
    post_id: UUID, change: Callable[[Post], Post], *, seen: int, change_id: UUID, now: datetime
) -> Post:
    """Change a post by `change`, if it has the version `seen`; return the changed post.

    Raises TextChanged if the post has another version. Also raises NoSuchPost, CassandraUnavailable.
    """
    before = queries.get_post(post_id)
    if before and before.change_id == change_id:
        refresh_post(post_id)
        return before
    if before is None or before.is_gone:
        raise NoSuchPost
    if before.version != seen:
        raise TextChanged
    after = replace(change(before), version=seen + 1, change_id=change_id)
    return _change(before, _queue(after, truncate_to_milliseconds(now)))


def _queue(post: Post, now: datetime) -> Post:
    """Return the post as it waits for the staff: only once its pictures are decoded, unless it is public."""
    if post.state == PUBLISHED:
        # New pictures wait for the staff even if the words do not.
        if post.new_pictures:
            post = replace(post, held_for=post.held_for or PICTURES)
        elif post.held_for == PICTURES:
            post = replace(post, held_for="")
    elif not (post.own_pictures and post.is_complete):
        return post
    return post.note_queued(now)


def _change(before: Post | None, after: Post) -> Post:
    left = list_memberships(before) - list_memberships(after)
    note_post(after.post_id, left)
    if before is None:
        # So that an erasure finds the post, whatever happens next.
        start_by_user(after, current_microseconds()).rows()
    _apply(before, after)
    refresh_post(after.post_id, left)
    return after


def _apply(before: Post | None, after: Post) -> None:
    """Write a post. Raises TextChanged, CassandraUnavailable."""
    values = after.columns()

    def is_ours(found: Any) -> bool:
        return getattr(found, "change_id", None) == after.change_id

    if before:
        del values["comment_partition"]
        outcome = UPDATE_POST.apply(if_lost=applied_if(is_ours), **values, seen=before.version)
    else:
        outcome = INSERT_POST.apply(if_lost=applied_if(is_ours), **values)
    if not outcome and not is_ours(outcome.current):
        raise TextChanged


def _without_words(post: Post) -> Post:
    return replace(
        post.without_pictures(post.own_pictures),
        state=WITHDRAWN,
        name="",
        body="",
        tags=(),
        products=(),
        alts={},
        held_for="",
        refusal="",
        reporters=(),
    )


def erase_post(post_id: UUID, user_id: UUID) -> None:
    """Delete a post of a person, and the person's id in it. May be repeated. Raises PostBusy, CassandraUnavailable."""
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        post = queries.get_post(post_id)
        if post is None:
            return
        if post.is_erased:
            refresh_post(post_id)
            leave_person(post, user_id)
            return
        nobodys = replace(
            _without_words(post),
            user_id=erased_id(post_id),
            version=post.version + 1,
            change_id=uuid5(post_id, f"erased {post.version}"),
        )
        try:
            _change(post, nobodys)
        except TextChanged:
            continue  # the post was changed meanwhile
    raise PostBusy


def forget_former_pictures(post: Post) -> None:
    """Store that the files of a post's removed pictures are deleted. Raises CassandraUnavailable."""
    FORGET_FORMER.apply(if_lost=SEND_AGAIN, post_id=post.post_id, seen=post.version)
