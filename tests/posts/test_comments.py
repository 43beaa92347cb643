"""Comments: once each, exact numbers, the staff's queue, and what a crash, a crowd and an erasure leave."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time

from cassandra_db import InvalidPageToken, current_time
from moderation.errors import NoSuchText, TextChanged
from moderation.queries import list_waiting
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from posts import comment_queries, queries
from posts.entities import Comment, CommentInput, Post, Thread
from posts.errors import ThreadFull
from posts.operations import comments
from posts.operations.comments import delete_comments, erase_comments, write_comment
from posts.states import HIDDEN
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.posts.posting import check_comments, publish, run_worker
from tests.reads import existing
from tests.threads import call_at_once, map_at_once


def make_id() -> UUID:
    found: UUID = uuid_from_time(current_time())
    return found


def comment_on(
    post: Post,
    user_id: UUID | None = None,
    body: str = "How warm it looks!",
    *,
    thread: Comment | None = None,
    comment_id: UUID | None = None,
    held_for: str = "",
) -> Comment:
    present = existing(queries.get_post(post.post_id))
    return write_comment(
        post,
        user_id or uuid4(),
        CommentInput(
            body,
            name="Ben T.",
            thread_id=thread.thread_id if thread else None,
            partition=thread.partition if thread else present.comment_partition,
            held_for=held_for,
        ),
        comment_id=comment_id or make_id(),
        change_id=uuid4(),
        now=current_time(),
    )


def act(change: Callable[..., Comment], seen: Comment, *args: Any, **options: Any) -> Comment:
    return change(seen, *args, change_id=uuid4(), now=current_time(), **options)


def now_of(comment: Comment) -> Comment:
    address = comment.post_id, comment.partition, comment.thread_id, comment.comment_id
    return existing(comment_queries.get_comment(*address))


def list_threads(post: Post, viewer_id: UUID | None = None) -> list[Thread]:
    """Return all threads as a viewer sees them, page after page."""
    present = existing(queries.get_post(post.post_id))
    found, token = list[Thread](), ""
    while True:
        page = comment_queries.prefetch_threads(
            post.post_id, present.comment_partition, token
        ).collect(viewer_id, post.user_id)
        found += page.threads
        token = page.next_token
        if not token:
            return found


def waits(comment: Comment) -> str | None:
    """Return why a comment waits for the staff, None if it does not."""
    found = (row for row in list_waiting(10_000) if row.review_id == comment.comment_id)
    return next((row.held_for for row in found), None)


def test_x443_comments_stand_in_threads_the_newest_first() -> None:
    post, ben = publish(), uuid4()
    first, second = comment_on(post), comment_on(post, ben)
    replies = [comment_on(post, thread=first) for _ in range(3)]
    form = make_id()
    for _twice in range(2):
        comment_on(post, ben, comment_id=form, thread=first)
    assert check_comments(post.post_id) == 6
    shown = list_threads(post)
    assert [each.thread_id for each in shown] == [second.comment_id, first.comment_id]
    assert [each.comment_id for each in shown[1].replies] == [
        *(each.comment_id for each in replies),
        form,
    ]
    assert comment_queries.list_writers(shown[:1]) == {ben}
    assert {each.comment_id for each in comment_queries.list_comments_of(ben)} == {
        second.comment_id,
        form,
    }
    act(comments.withdraw_comment, first)
    assert list_threads(post)[1].first is None
    assert check_comments(post.post_id) == 5
    with pytest.raises(NoSuchText):
        comment_on(post, thread=now_of(first))
    for each in list_threads(post)[1].replies:
        act(comments.withdraw_comment, each)
    assert [each.thread_id for each in list_threads(post)] == [second.comment_id]
    with pytest.raises(NoSuchText):
        comment_on(post, thread=comment_on(publish()))
    with pytest.raises(InvalidPageToken):
        comment_queries.prefetch_threads(post.post_id, 0, "forged")


def test_x443_a_crowd_fills_partition_after_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MAX_THREADS", 12)
    monkeypatch.setattr(comment_queries, "COMMENTS_SHOWN", 5)
    monkeypatch.setattr(comment_queries, "_PAGE_ROWS", 9)
    post = publish()
    written = map_at_once(lambda _: comment_on(post), range(40), 8)
    assert sorted({each.partition for each in written}) == [0, 1, 2, 3]
    # A form that is sent again finds its comment in a partition that was full since.
    again = comment_on(post, written[0].user_id, comment_id=written[0].comment_id)
    assert again == written[0]
    for each in written[:20]:
        comment_on(post, thread=each)
    assert check_comments(post.post_id) == 60
    shown = list_threads(post)
    assert {each.thread_id for each in shown} == {each.thread_id for each in written}
    assert len(shown) == 40
    assert sum(len(each.replies) for each in shown) == 20


def test_x443_a_thread_is_full_and_the_numbers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MAX_REPLIES", 3)
    post, ann = publish(), uuid4()
    first = comment_on(post)
    last = [comment_on(post, ann, thread=first) for _ in range(3)][-1]
    with pytest.raises(ThreadFull):
        comment_on(post, thread=first)
    assert comment_on(post, ann, comment_id=last.comment_id, thread=first) == last
    assert check_comments(post.post_id) == 4


def test_x444_a_comment_is_changed_by_who_may_and_once() -> None:
    post = publish()
    comment = comment_on(post)
    edited = act(comments.edit_comment, comment, "How cold it looks!", held_for="")
    assert (edited.body, edited.state, edited.version) == ("How cold it looks!", PUBLISHED, 2)
    form, now = uuid4(), current_time()
    hidden = comments.hide_comment(edited, change_id=form, now=now)
    assert comments.hide_comment(edited, change_id=form, now=now) == hidden
    with pytest.raises(TextChanged):
        act(comments.edit_comment, comment, "From a stale page", held_for="")
    assert (list_threads(post), check_comments(post.post_id)) == ([], 0)
    for viewer in (post.user_id, comment.user_id):
        assert list_threads(post, viewer)[0].first == hidden
    still = act(comments.edit_comment, hidden, "Hm.", held_for="")
    assert still.state == HIDDEN
    shown = act(comments.show_comment, still)
    assert (shown.state, check_comments(post.post_id)) == (PUBLISHED, 1)
    # What was hidden, and edited into something suspicious, waits for the staff.
    hidden = act(comments.hide_comment, shown)
    bad = act(comments.edit_comment, hidden, "See example.com", held_for="links")
    assert waits(bad) is None
    bad = act(comments.show_comment, bad)
    assert (bad.state, waits(bad), check_comments(post.post_id)) == (HELD, "links", 0)
    gone = act(comments.withdraw_comment, bad)
    assert (gone.state, gone.body, waits(gone)) == (WITHDRAWN, "", None)
    with pytest.raises(NoSuchText):
        act(comments.edit_comment, gone, "Again", held_for="")


def test_x444_staff_decide_about_held_and_reported_comments() -> None:
    post = publish()
    held = comment_on(post, body="See example.com", held_for="links")
    assert (waits(held), list_threads(post), check_comments(post.post_id)) == ("links", [], 0)
    edited = act(comments.edit_comment, held, "See it yourself", held_for="")
    assert (edited.state, waits(edited)) == (HELD, "links")
    assert comment_queries.find_comment_of(held.user_id, held.comment_id) == edited
    published = act(comments.publish_comment, edited)
    assert (waits(held), check_comments(post.post_id)) == (None, 1)
    refused = act(comments.refuse_comment, published, "No links, please.")
    assert (refused.state, refused.refusal, check_comments(post.post_id)) == (
        REFUSED,
        "No links, please.",
        0,
    )
    undone = act(comments.hold_comment, refused)
    published = act(comments.publish_comment, undone)
    readers = [uuid4() for _ in range(3)]
    call_at_once(
        *(
            lambda each=each: comments.report_comment(published, each, now=current_time())
            for each in readers
        )
    )
    assert (waits(published), now_of(published).state) == ("reported", PUBLISHED)
    assert len(now_of(published).reporters) == 3


def test_x445_a_comment_that_was_cut_off_is_finished_by_the_worker() -> None:
    post = publish()
    thread = comment_on(post)

    def write(form: UUID, ben: UUID) -> Comment:
        return comment_on(post, ben, comment_id=form, thread=thread)

    def write_and_change(form: UUID, ben: UUID) -> None:
        comment = comment_on(post, ben, "www", comment_id=form, held_for="links")
        act(comments.withdraw_comment, act(comments.publish_comment, comment))

    broken = []
    for change in (write, write_and_change):
        writes = first_and_last_writes(record_writes(partial(change, make_id(), uuid4())))
        assert len(writes) >= 4
        for target in writes:
            form, ben = make_id(), uuid4()
            assert kill_at_write(target, partial(change, form, ben))
            run_worker(post.post_id)
            place = comment_queries.find_comment_of(ben, form)
            try:
                check_comments(post.post_id)
                assert place is None or (waits(place) is not None) == (place.state == HELD)
            except AssertionError as error:
                broken.append(f"{change.__name__}, killed at {target}: {error}")
    assert not broken, "\n".join(broken)


def test_x445_an_erased_persons_comments_stay_without_the_name() -> None:
    post, ben = publish(), uuid4()
    kept, held = comment_on(post, ben), comment_on(post, ben, held_for="links")
    reported = comment_on(post, ben)
    comments.report_comment(reported, uuid4(), now=current_time())
    for _twice in range(2):
        erase_comments(ben, keeps_texts=True)
    assert comment_queries.list_places_of(ben) == []
    found = now_of(kept)
    assert (found.is_erased, found.name, found.body) == (True, "", kept.body)
    assert (now_of(held).state, now_of(held).body, waits(held)) == (WITHDRAWN, "", None)
    # The staff find it by the id that stands for its writer.
    assert waits(reported) == "reported"
    erased = now_of(reported)
    assert comment_queries.find_comment_of(erased.user_id, erased.comment_id) == erased
    other = uuid4()
    comment_on(post, other)
    erase_comments(other, keeps_texts=False)
    assert check_comments(post.post_id) == 2
    delete_comments(existing(queries.get_post(post.post_id)))
    assert list(comment_queries.iterate_comments(post)) == []
    assert waits(reported) is None
