"""I47 to I50: lists agree with posts, numbers and sums with likes and comments, handles with profiles, and follows."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from uuid import UUID

from cassandra_db import (
    SEND_AGAIN,
    PendingResult,
    Row,
    Statement,
    current_microseconds,
    current_time,
    read,
    scan,
)
from consistency.findings import Check, Violation, call, column_subjects, row_subjects
from jobs.due_rows import DueRows
from moderation.queries import is_queued_right
from posts import comment_queries, follow_invariants, like_queries, queries
from posts.entities import Comment, Like, Post
from posts.operations import comments, copies, likes, profiles, repairs
from posts.operations.pending import PENDING_LIKES, PENDING_POSTS
from posts.operations.removal import delete_under
from posts.operations.sums import count_sums
from posts.pictures import follow_pictures
from posts.rules import LIKE_TYPES

# The worker finishes younger pending rows.
FINISH_DELAY = timedelta(minutes=20)
_AT_ONCE = 100  # likes that are compared side by side

HAS_MONTH = read(
    "I47", "SELECT user_id FROM posts_by_month WHERE month = :month AND post_id = :post_id"
)
HAS_TAG = read(
    "I47",
    "SELECT user_id FROM posts_by_tag WHERE tag = :tag AND year = :year AND post_id = :post_id",
)
HAS_PRODUCT = read(
    "I47",
    """SELECT user_id FROM posts_by_product
       WHERE product_id = :product_id AND year = :year AND post_id = :post_id""",
)
HAS_USER = read(
    "I47",
    "SELECT state FROM posts_by_user WHERE user_id = :user_id AND year = :year AND post_id = :post_id",
)
BY_MONTH = scan(
    "I47",
    """SELECT month, post_id FROM posts_by_month WHERE token(month) > :start AND token(month) <= :end""",
)
BY_TAG = scan(
    "I47",
    """SELECT tag, year, post_id FROM posts_by_tag
       WHERE token(tag, year) > :start AND token(tag, year) <= :end""",
)
BY_PRODUCT = scan(
    "I47",
    """SELECT product_id, year, post_id FROM posts_by_product
       WHERE token(product_id, year) > :start AND token(product_id, year) <= :end""",
)
BY_USER = scan(
    "I47",
    """SELECT user_id, year, post_id FROM posts_by_user
       WHERE token(user_id, year) > :start AND token(user_id, year) <= :end""",
)
LIKING = scan(
    "I48",
    "SELECT DISTINCT user_id FROM likes_by_user WHERE token(user_id) > :start AND token(user_id) <= :end",
)
PROFILES = scan(
    "I49", "SELECT user_id FROM profiles WHERE token(user_id) > :start AND token(user_id) <= :end"
)
HANDLES = scan(
    "I49",
    """SELECT handle_key, user_id FROM people_by_handle
       WHERE token(handle_key) > :start AND token(handle_key) <= :end""",
)


def _is_pending(table: DueRows, column: str, subject_id: UUID) -> bool:
    """Return whether the worker is about to look after this post or person."""
    now = current_time()
    rows = table.list_between(now - FINISH_DELAY, now)
    return any(getattr(row, column) == subject_id for row in rows)


def _spare(
    table: DueRows, column: str, find: Callable[[UUID], Iterator[Violation]]
) -> Callable[[UUID], Iterator[Violation]]:
    """Return `find`, but without the posts or people that the worker is about to look after."""

    def find_left(subject_id: UUID) -> Iterator[Violation]:
        found = list(find(subject_id))
        if found and not _is_pending(table, column, subject_id):
            yield from found

    return find_left


def _find_list_faults(post_id: UUID) -> Iterator[Violation]:
    post = queries.get_post(post_id)
    if post is None:
        return
    fault = partial(Violation, "I47", f"post {post_id}")
    if wrong := ", ".join(sorted(_list_wrong_lists(post))):
        fix = call(copies.refresh_post, post_id)
        yield fault("its lists or the staff's queue are not as it is", wrong, fix)
    if post.former_pictures:
        files, fix = " ".join(post.former_pictures), partial(follow_pictures, post_id)
        yield fault("the files of removed pictures are still there", files, fix)


def _list_wrong_lists(post: Post) -> Iterator[str]:
    """Yield the lists in which a post's row is missing, surplus or another author's."""
    key = {"post_id": post.post_id}
    reading = {"month": HAS_MONTH.start(**key, month=post.month)}
    for tag in post.tags:
        reading[f"tag {tag}"] = HAS_TAG.start(**key, tag=tag, year=post.year)
    for product_id in {each.product_id for each in post.products}:
        pending = HAS_PRODUCT.start(**key, product_id=product_id, year=post.year)
        reading[f"product {product_id}"] = pending
    own = HAS_USER.one(**key, user_id=post.user_id, year=post.year)
    if (own.state if own else None) != (None if post.is_erased else post.state):
        yield "posts_by_user"
    for name, pending in reading.items():
        row = pending.one()
        if (row.user_id if row else None) != (post.user_id if post.is_public else None):
            yield name
    if not is_queued_right(post):
        yield "reviews_to_moderate"


# Each list: its rows, the statement that deletes one, and the columns of its partitions.
_LISTS: dict[str, tuple[Statement, Statement, tuple[str, ...]]] = {
    "posts_by_month": (BY_MONTH, copies.DELETE_BY_MONTH, ("month",)),
    "posts_by_tag": (BY_TAG, copies.DELETE_BY_TAG, ("tag", "year")),
    "posts_by_product": (BY_PRODUCT, copies.DELETE_BY_PRODUCT, ("product_id", "year")),
    "posts_by_user": (BY_USER, copies.DELETE_BY_USER, ("user_id", "year")),
}


def _belongs(post: Post, name: str, row: Row) -> bool:
    """Return whether a post belongs into the list at the place of this row."""
    if name == "posts_by_user":
        return (post.user_id, post.year) == (row.user_id, row.year)
    if name == "posts_by_month":
        return post.is_public and post.month == row.month.date()
    key = f"tag {row.tag}" if name == "posts_by_tag" else f"product {row.product_id.hex}"
    return post.is_public and post.year == row.year and key in copies.list_memberships(post)


def _find_stray_rows(name: str, row: Row) -> Iterator[Violation]:
    """Find a list's row of a post that does not belong there."""
    post, (_rows, delete, columns) = queries.get_post(row.post_id), _LISTS[name]
    if (post and _belongs(post, name, row)) or _is_pending(PENDING_POSTS, "post_id", row.post_id):
        return
    key = {each: getattr(row, each) for each in columns}

    def remove(_now: object) -> None:
        delete.run(at=current_microseconds(), post_id=row.post_id, **key)

    where = " ".join(str(value) for value in key.values())
    fault = f"{name} has it under {where}, where it does not belong"
    yield Violation("I47", f"post {row.post_id}", fault, fix=remove)


def _find_number_faults(post_id: UUID) -> Iterator[Violation]:
    post = queries.get_post(post_id)
    if post is None:
        return
    fault, sums, rows = partial(Violation, "I48", f"post {post_id}"), Counter[str](), 0
    for partition in like_queries.list_partitions(post_id):
        likers = like_queries.ALL_LIKERS.all(post_id=post_id, partition=partition)
        liking = [row for row in likers if row.like_type]
        counted = Counter(f"{row.like_type}s" for row in liking)
        wanted = {"like_count": len(liking)} | {
            f"{each}s": counted[f"{each}s"] for each in LIKE_TYPES
        }
        pending = like_queries.prefetch_numbers(post_id, partition)
        yield from _compare(post_id, partition, wanted, pending)
        yield from _find_strays(post_id, partition, liking)
        sums += counted
        rows += len(liking)
    for partition in range(post.comment_partition + 1):
        found = _list_comments(post_id, partition)
        wanted = {
            "comment_count": sum(each.is_counted for each in found),
            "thread_count": sum(not each.is_reply for each in found),
        }
        pending = comment_queries.prefetch_comment_count(post_id, partition)
        yield from _compare(post_id, partition, wanted, pending)
        yield from _find_comment_faults(found)
        sums["comments"] += wanted["comment_count"]
        rows += len(found)
    if post.is_gone and rows:
        yield fault(
            "likes or comments of a deleted post are kept", str(rows), call(delete_under, post_id)
        )
    shown = {f"{name}s": count for name, count in post.sums.like_counts.items() if count}
    shown |= {"comments": post.sums.comment_count}
    if not post.is_gone and Counter(shown) != sums:
        fix = call(count_sums, post_id)
        yield fault(
            "its sums are not those of its likes and comments",
            f"{shown} instead of {dict(sums)}",
            fix,
        )


def _compare(
    post_id: UUID, partition: int, wanted: dict[str, int], pending: PendingResult
) -> Iterator[Violation]:
    """Compare the numbers of a partition of likes or comments with those of its rows."""
    row = pending.one()
    present = {name: getattr(row, name, None) for name in wanted}
    if {name: value or 0 for name, value in present.items()} != wanted:
        what = "likes" if "like_count" in wanted else "comments"
        fix = call(repairs.set_numbers, post_id, partition, wanted, present)
        fault = f"the numbers of partition {partition} of its {what} are not those of the rows"
        yield Violation("I48", f"post {post_id}", fault, f"{present} instead of {wanted}", fix)


def _find_strays(post_id: UUID, partition: int, liking: list[Row]) -> Iterator[Violation]:
    """Find people under a post who do not like it."""
    for start in range(0, len(liking), _AT_ONCE):
        some = liking[start : start + _AT_ONCE]
        truths = [like_queries.LIKE.start(user_id=row.user_id, post_id=post_id) for row in some]
        for row, pending in zip(some, truths, strict=True):
            truth = pending.one()
            if truth is None:
                fix = call(repairs.delete_stray_liker, post_id, partition, row)
            elif truth.version != row.version:
                fix = call(likes.follow_like, row.user_id, post_id)
            else:
                continue
            fault = f"user {row.user_id} is counted with a like that is no more"
            yield Violation("I48", f"post {post_id}", fault, fix=fix)


def _list_comments(post_id: UUID, partition: int) -> list[Comment]:
    rows = comment_queries.ALL_COMMENTS.all(post_id=post_id, partition=partition)
    # A partition may have numbers alone.
    return [comment_queries.comment_from_row(row) for row in rows if row.comment_id]


def _restore_place(comment: Comment) -> None:
    comments.INSERT_BY_USER.run(
        user_id=comment.user_id,
        comment_id=comment.comment_id,
        post_id=comment.post_id,
        partition=comment.partition,
        thread_id=comment.thread_id,
    )


def _find_comment_faults(found: list[Comment]) -> Iterator[Violation]:
    for comment in found:
        place = (comment.post_id, comment.partition, comment.thread_id, comment.comment_id)
        fault = partial(Violation, "I48", f"post {comment.post_id} comment {comment.comment_id}")
        if not is_queued_right(comment):
            yield fault(
                "the staff's queue is not as it is", fix=call(comments.refresh_comment, *place)
            )
        if comment_queries.find_place(comment.user_id, comment.comment_id) is None:
            yield fault(
                "it is missing among what its writer has written", fix=call(_restore_place, comment)
            )


def _find_like_faults(user_id: UUID) -> Iterator[Violation]:
    """Find likes of a person that their posts do not count."""
    for like in like_queries.list_likes_of(user_id):
        key = {"post_id": like.post_id, "partition": like.partition, "user_id": user_id}
        row = like_queries.LIKER.one(**key)
        if like.like_type and (row is None or row.version != like.version):
            fault = partial(Violation, "I48", f"user {user_id} post {like.post_id}")
            post = queries.get_post(like.post_id)
            if post and not post.is_gone:
                yield fault("the like is not counted", fix=call(_count_like, user_id, like.post_id))
            else:
                yield fault(
                    "the like of a deleted post is kept", fix=call(_forget_like, user_id, like)
                )


def _count_like(user_id: UUID, post_id: UUID) -> None:
    likes.follow_like(user_id, post_id)
    count_sums(post_id)


def _forget_like(user_id: UUID, like: Like) -> None:
    likes.DELETE_LIKE.apply(
        if_lost=SEND_AGAIN, user_id=user_id, post_id=like.post_id, seen=like.version
    )


def _find_profile_faults(user_id: UUID) -> Iterator[Violation]:
    for key in profiles.list_handle_keys(queries.get_profile(user_id)):
        owner = queries.BY_HANDLE.one(handle_key=key)
        if owner is None or owner.user_id != user_id:
            fault, fix = (
                f"the handle {key} is not claimed for it",
                call(profiles.claim_handle, key, user_id),
            )
            yield Violation("I49", f"profile {user_id}", fault, fix=fix)


def _find_claim_faults(row: Row) -> Iterator[Violation]:
    claim = queries.BY_HANDLE.one(handle_key=row.handle_key)
    if claim and row.handle_key not in profiles.list_handle_keys(
        queries.get_profile(claim.user_id)
    ):
        fault, fix = (
            "no profile has it",
            call(profiles.release_handle, row.handle_key, claim.user_id),
        )
        yield Violation("I49", f"handle {row.handle_key}", fault, fix=fix)


CHECKS = (
    Check(
        "posts",
        ("I47",),
        column_subjects(queries.POSTS, "post_id", "posts"),
        _spare(PENDING_POSTS, "post_id", _find_list_faults),
    ),
    *(
        Check(name, ("I47",), row_subjects(rows), partial(_find_stray_rows, name))
        for name, (rows, _delete, _columns) in _LISTS.items()
    ),
    Check(
        "posts with likes and comments",
        ("I48",),
        column_subjects(queries.POSTS, "post_id", "posts"),
        _spare(PENDING_LIKES, "post_id", _spare(PENDING_POSTS, "post_id", _find_number_faults)),
    ),
    Check(
        "people who like posts",
        ("I48",),
        column_subjects(LIKING, "user_id", "users"),
        _spare(PENDING_LIKES, "user_id", _find_like_faults),
    ),
    Check(
        "profiles", ("I49",), column_subjects(PROFILES, "user_id", "users"), _find_profile_faults
    ),
    Check("handles", ("I49",), row_subjects(HANDLES), _find_claim_faults),
    *follow_invariants.CHECKS,
)
