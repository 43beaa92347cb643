"""Reads of comments (L3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from cassandra_db import LOCAL_ONE, PendingResult, Row, page_key, page_token, read
from moderation.states import WITHDRAWN
from posts.entities import Comment, Post, Thread
from posts.rules import COMMENTS_SHOWN, MAX_REPLIES
from posts.states import HIDDEN

# The rows that are read for a page of threads: more than a thread has. A page with long threads has fewer of them.
_PAGE_ROWS = MAX_REPLIES + 70

_COLUMNS = """post_id, partition, thread_id, comment_id, user_id, name, body, state, version, change_id, written_at, edited_at,
       queued_at, held_for, refusal, decided_at, reporters"""
_COMMENTS = (
    f"SELECT {_COLUMNS} FROM post_comments WHERE post_id = :post_id AND partition = :partition"  # noqa: S608
)
# L3: the newest threads of a partition; the threads after one; a thread; a comment; all comments of a partition.
LISTED = read("L3", f"{_COMMENTS} LIMIT :most", consistency=LOCAL_ONE)
LISTED_AFTER = read(
    "L3", f"{_COMMENTS} AND thread_id < :thread_id LIMIT :most", consistency=LOCAL_ONE
)
THREAD = read("L3", f"{_COMMENTS} AND thread_id = :thread_id")
COMMENT = read("L3", f"{_COMMENTS} AND thread_id = :thread_id AND comment_id = :comment_id")
ALL_COMMENTS = read("L3", _COMMENTS)
# L3: the numbers of a partition.
NUMBERS = read(
    "L3",
    """SELECT DISTINCT post_id, partition, comment_count, thread_count FROM post_comments
       WHERE post_id = :post_id AND partition = :partition""",
)
# L3: where a person's comments stand; where one stands.
BY_USER = read(
    "L3",
    "SELECT comment_id, post_id, partition, thread_id FROM comments_by_user WHERE user_id = :user_id",
)
PLACE = read(
    "L3",
    """SELECT comment_id, post_id, partition, thread_id FROM comments_by_user
       WHERE user_id = :user_id AND comment_id = :comment_id""",
)


@dataclass(frozen=True)
class ThreadPage:
    """A page of a post's comments in threads, newest thread first, and the token of the next page; "" at the end."""

    threads: tuple[Thread, ...]
    next_token: str


class PendingThreads:
    """A page of a post's comments that is being read."""

    def __init__(self, post_id: UUID, partition: int, after: str) -> None:
        self._post_id, self._partition = post_id, partition
        thread_id: UUID | None = None
        if after:
            self._partition, thread_id = page_key(after, self._list_name)
        place = {"post_id": post_id, "partition": self._partition, "most": _PAGE_ROWS}
        self._pending = (
            LISTED_AFTER.start(**place, thread_id=thread_id) if thread_id else LISTED.start(**place)
        )

    @property
    def _list_name(self) -> str:
        return f"L3 {self._post_id.hex}"

    def collect(self, viewer_id: UUID | None, author_id: UUID) -> ThreadPage:
        """Return the page as a viewer sees it; `author_id` wrote the post. Raises CassandraUnavailable."""
        rows = [row for row in self._pending.rows() if row.comment_id]
        is_full = len(rows) == _PAGE_ROWS
        groups = [list(group) for _, group in groupby(rows, lambda row: row.thread_id)]
        if is_full and len(groups) > 1:
            del groups[-1]  # it may have more replies than were read
        has_more = is_full or len(groups) > COMMENTS_SHOWN
        groups = groups[:COMMENTS_SHOWN]
        threads = [
            thread
            for group in groups
            if (thread := _make_thread(map(comment_from_row, group), viewer_id, author_id))
        ]
        return ThreadPage(
            tuple(threads), self._make_token(groups[-1][0].thread_id if has_more else None)
        )

    def _make_token(self, last: UUID | None) -> str:
        if last:
            return page_token([self._partition, last], self._list_name)
        # The earlier partition begins anew.
        return page_token([self._partition - 1, ""], self._list_name) if self._partition else ""


def _make_thread(
    comments: Iterable[Comment], viewer_id: UUID | None, author_id: UUID
) -> Thread | None:
    shown = [each for each in comments if is_shown(each, viewer_id, author_id)]
    if not shown:
        return None
    first = next((each for each in shown if not each.is_reply), None)
    return Thread(shown[0].thread_id, first, tuple(each for each in shown if each.is_reply))


def is_shown(comment: Comment, viewer_id: UUID | None, author_id: UUID) -> bool:
    """Return whether a viewer sees a comment: its writer in all states, and the post's author one that the author has hidden."""
    if comment.state == WITHDRAWN:
        return False
    return (
        comment.is_counted
        or comment.user_id == viewer_id
        or (comment.state == HIDDEN and viewer_id == author_id)
    )


def comment_from_row(row: Row) -> Comment:
    """Return a row of `post_comments` as a comment."""
    return Comment(
        product_id=row.post_id,
        partition=row.partition,
        thread_id=row.thread_id,
        comment_id=row.comment_id,
        user_id=row.user_id,
        name=row.name or "",
        body=row.body or "",
        state=row.state,
        version=row.version,
        change_id=row.change_id,
        written_at=row.written_at,
        edited_at=row.edited_at,
        queued_at=row.queued_at,
        held_for=row.held_for or "",
        refusal=row.refusal or "",
        decided_at=row.decided_at,
        reporters=tuple((row.reporters or "").split()),
    )


def prefetch_threads(post_id: UUID, partition: int, after: str = "") -> PendingThreads:
    """Start reading a page of a post's comments. `partition` is the post's `comment_partition`. Raises InvalidPageToken."""
    return PendingThreads(post_id, partition, after)


def prefetch_comment(
    post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> PendingResult:
    """Start reading a comment, for `comment_from_row`."""
    return COMMENT.start(
        post_id=post_id, partition=partition, thread_id=thread_id, comment_id=comment_id
    )


def get_comment(post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID) -> Comment | None:
    """Return a comment in any state, or None. Raises CassandraUnavailable."""
    row = prefetch_comment(post_id, partition, thread_id, comment_id).one()
    return comment_from_row(row) if row else None


def find_place(user_id: UUID, comment_id: UUID) -> Row | None:
    """Return the post, partition and thread of a person's comment, or None. Raises CassandraUnavailable."""
    return PLACE.one(user_id=user_id, comment_id=comment_id)


def find_comment_of(user_id: UUID, comment_id: UUID) -> Comment | None:
    """Return a person's comment with this id, in any state, or None. Raises CassandraUnavailable."""
    place = find_place(user_id, comment_id)
    if place is None:
        return None
    return get_comment(place.post_id, place.partition, place.thread_id, comment_id)


def list_places_of(user_id: UUID) -> list[Row]:
    """Return the ids of a person's comments, and of the posts, partitions and threads that they are in. Raises CassandraUnavailable."""
    return BY_USER.all(user_id=user_id)


def list_comments_of(user_id: UUID) -> list[Comment]:
    """Return a person's comments in any state, the newest first. Raises CassandraUnavailable."""
    reading = [
        prefetch_comment(row.post_id, row.partition, row.thread_id, row.comment_id)
        for row in list_places_of(user_id)
    ]
    found = (pending.one() for pending in reading)
    return [comment_from_row(row) for row in found if row and row.user_id == user_id]


def list_thread(post_id: UUID, partition: int, thread_id: UUID) -> list[Comment]:
    """Return the comments of a thread in any state, the oldest first. Raises CassandraUnavailable."""
    rows = THREAD.all(post_id=post_id, partition=partition, thread_id=thread_id)
    return [comment_from_row(row) for row in rows]


def iterate_comments(post: Post) -> Iterator[Comment]:
    """Yield all comments on a post in any state, for erasures and the consistency check. Raises CassandraUnavailable."""
    for partition in range(post.comment_partition + 1):
        for row in ALL_COMMENTS.all(post_id=post.post_id, partition=partition):
            if row.comment_id:  # a partition may have numbers alone
                yield comment_from_row(row)


def prefetch_comment_count(post_id: UUID, partition: int) -> PendingResult:
    """Start reading how many published comments a partition has, for `comment_count_from_row`."""
    return NUMBERS.start(post_id=post_id, partition=partition)


def comment_count_from_row(row: Row | None) -> int:
    """Return the number of published comments of a partition."""
    return (row.comment_count or 0) if row else 0


def count_threads(post_id: UUID, partition: int) -> int:
    """Return the number of threads of a partition. Raises CassandraUnavailable."""
    row = NUMBERS.one(post_id=post_id, partition=partition)
    return (row.thread_count or 0) if row else 0


def list_writers(threads: Sequence[Thread]) -> set[UUID]:
    """Return the user ids of those who wrote the comments of these threads."""
    comments = [
        comment
        for thread in threads
        for comment in (thread.first, *thread.replies)
        if comment is not None
    ]
    return {each.user_id for each in comments}
