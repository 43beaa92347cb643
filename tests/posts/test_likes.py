"""Likes: exact numbers whatever is sent twice, at once, late or cut off, and the posts with the most likes of a week."""

from datetime import timedelta
from functools import partial
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest

from cassandra_db import current_time
from jobs.leases import hold_lease
from posts import like_queries, queries
from posts.entities import Like, Post
from posts.like_jobs import POPULAR, count_popular, sweep_likes
from posts.operations import likes, popular
from posts.operations.likes import erase_likes, follow_like, set_like
from posts.operations.posts import withdraw_post
from posts.partitions import FIRST_PARTITION
from posts.queries import POPULAR as POPULAR_LIST
from tests.lost_answers import AnswerLosingSession
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.posts.posting import check_likes, count_again, publish, run_worker
from tests.threads import call_at_once, map_at_once

FEW = 5


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a post popular with FEW likes."""
    monkeypatch.setattr(likes, "POPULAR_FROM", FEW)
    monkeypatch.setattr(likes, "POPULAR_PARTITIONS", 4)


def like(user_id: UUID, post: Post, like_type: str = "like", change_id: UUID | None = None) -> Like:
    return set_like(user_id, post, like_type, change_id=change_id or uuid4(), now=current_time())


def test_x440_a_person_likes_a_post_once_and_takes_it_back() -> None:
    post, (ann, ben) = publish(), (uuid4(), uuid4())
    assert like(ann, post, "") == Like(post.post_id, "")
    first = like(ann, post)
    like(ben, post, "want")
    assert check_likes(post.post_id, ann, ben) == {"like": 1, "want": 1}
    changed = like(ann, post, "love")
    assert (changed.liked_at, changed.version > first.version) == (first.liked_at, True)
    assert check_likes(post.post_id, ann, ben) == {"love": 1, "want": 1}
    assert like_queries.list_likers(post.post_id, 5) == [ben, ann]
    found = like_queries.likes_from_rows(
        like_queries.prefetch_likes_of(ann, [post.post_id, publish().post_id]).rows()
    )
    assert {post_id: each.like_type for post_id, each in found.items()} == {post.post_id: "love"}
    like(ann, post, "")
    assert check_likes(post.post_id, ann, ben) == {"want": 1}
    assert like_queries.list_likers(post.post_id, 5) == [ben]
    with pytest.raises(ValueError, match="hate"):
        like(ann, post, "hate")


def test_x440_a_form_that_is_sent_again_changes_nothing_also_after_a_later_one() -> None:
    post, ann = publish(), uuid4()
    forms = [uuid4() for _ in range(3)]
    for form, like_type in zip(forms, ("like", "", "love"), strict=True):
        like(ann, post, like_type, form)
    stored = like_queries.get_like(ann, post.post_id)
    for form, like_type in zip(forms, ("like", "", "love"), strict=True):
        like(ann, post, like_type, form)
    assert like_queries.get_like(ann, post.post_id) == stored
    like(ann, post, "")
    like(ann, post, "like", forms[0])
    assert check_likes(post.post_id, ann) == {}


def test_x440_what_is_said_at_once_ends_as_one_of_them() -> None:
    post, ann, form = publish(), uuid4(), uuid4()
    map_at_once(lambda _: like(ann, post, "like", form), range(6))
    assert check_likes(post.post_id, ann) == {"like": 1}
    said = ("like", "", "love", "", "want", "have")
    map_at_once(lambda each: like(ann, post, each), said)
    assert sum(check_likes(post.post_id, ann).values()) in (0, 1)
    # A process that was slow writes an older like after a newer one.
    older = like_queries.get_like(ann, post.post_id)
    assert older
    like(ann, post, "" if older.like_type else "like")
    with patch.object(like_queries, "get_like", return_value=older):
        follow_like(ann, post.post_id)
    check_likes(post.post_id, ann)


def test_x440_sums_that_were_read_earlier_do_not_win() -> None:
    post, get_post = publish(), queries.get_post

    def be_slow(post_id: UUID) -> Post | None:
        with patch.object(queries, "get_post", get_post):
            like(uuid4(), post)
            return get_post(post_id)

    with patch.object(queries, "get_post", be_slow):
        count_again(post.post_id)
    assert check_likes(post.post_id) == {"like": 1}


def test_x441_a_crowd_goes_on_in_further_partitions_and_old_likes_stay(few_are_many: None) -> None:
    post, crowd = publish(), [uuid4() for _ in range(40)]
    early = crowd[:FEW]
    for each in early:
        like(each, post)
    map_at_once(lambda each: like(each, post, "love"), crowd[FEW:], 16)
    count_again(post.post_id)
    assert check_likes(post.post_id, *crowd) == {"like": FEW, "love": 35}
    assert like_queries.list_partitions(post.post_id) == [FIRST_PARTITION, 0, 1, 2, 3]
    places = {
        each: (like_queries.get_like(each, post.post_id) or Like(post.post_id, ""))
        for each in crowd
    }
    assert {places[each].partition for each in early} == {FIRST_PARTITION}
    assert {places[each].partition for each in crowd[FEW:]} == {0, 1, 2, 3}
    # The likes stay where they are, also when the first partition has room again.
    map_at_once(lambda each: like(each, post, ""), (*early[:2], *crowd[-3:]))
    for each in (*early[:2], *crowd[-3:]):
        like(each, post, "want")
        assert like_queries.get_like(each, post.post_id).partition == places[each].partition  # type: ignore[union-attr]
    run_worker(post.post_id, *crowd)
    assert check_likes(post.post_id, *crowd) == {"like": FEW - 2, "love": 32, "want": 5}


def test_x441_a_like_that_was_cut_off_is_finished_by_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(likes, "POPULAR_FROM", 1)

    def make_popular() -> Post:
        post = publish()
        like(uuid4(), post)
        return post

    def say(post: Post, said: tuple[str, ...], user_id: UUID) -> None:
        for each in said:
            like(user_id, post, each)

    broken = []
    for make_post, said in (
        (publish, ("like",)),
        (publish, ("like", "")),
        (make_popular, ("like", "love")),
    ):
        writes = first_and_last_writes(record_writes(partial(say, make_post(), said, uuid4())))
        assert len(writes) >= 6
        for target in writes:
            post, ann = make_post(), uuid4()
            assert kill_at_write(target, partial(say, post, said, ann))
            run_worker(post.post_id, ann)
            try:
                check_likes(post.post_id, ann)
            except AssertionError as error:
                broken.append(f"{said}, killed at {target}: {error}")
    assert not broken, "\n".join(broken)


def test_x440_an_answer_that_is_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from cassandra_db import statements
    from cassandra_db.session import get_session

    post, ann = publish(), uuid4()
    session = AnswerLosingSession(get_session())
    with monkeypatch.context() as patched:
        patched.setattr(statements, "get_session", lambda: session)
        like(ann, post)
        like(ann, post, "")
        like(ann, post, "have")
    assert session.lost_count >= 6
    assert check_likes(post.post_id, ann) == {"have": 1}


def test_x440_the_likes_of_an_erased_person_are_gone() -> None:
    ann, (post, other) = uuid4(), (publish(), publish())
    like(ann, post)
    like(ann, other)
    like(ann, other, "")
    like(uuid4(), post, "want")
    for _twice in range(2):
        erase_likes(ann, current_time())
    assert check_likes(post.post_id) == {"want": 1}
    assert check_likes(other.post_id) == {}
    assert like_queries.list_likes_of(ann) == []
    rows = like_queries.ALL_LIKERS.all(post_id=other.post_id, partition=FIRST_PARTITION)
    assert not any(row.user_id for row in rows)


def test_x442_the_posts_with_the_most_likes_of_the_week() -> None:
    now, (best, second, gone) = current_time(), (publish(), publish(), publish())
    crowd = [uuid4() for _ in range(4)]
    call_at_once(*(lambda each=each: like(each, best) for each in crowd))
    for each in crowd[:2]:
        like(each, second, "love")
        like(each, second, "want")
    like(crowd[2], second)
    like(crowd[2], second, "")
    for each in crowd:
        like(each, gone)
    hour = popular.floor_to_hour(now)

    def list_week() -> list[UUID]:
        ours = {best.post_id, second.post_id, gone.post_id}
        ids = queries.prefetch_page(POPULAR_LIST, most=1_000).collect().ids
        return [each for each in ids if each in ours]

    with hold_lease(POPULAR):
        count_popular(now)
        assert set(list_week()[:2]) == {best.post_id, gone.post_id}
        counted = {
            key: count
            for key, count in like_queries.count_recent_likes(hour).items()
            if key[0] == second.post_id
        }
        assert counted == {(second.post_id, "want"): 2}
        withdraw_post(gone.post_id, seen=1, change_id=uuid4(), now=now)
        for each in crowd:
            like(each, best, "")
        count_popular(now)
        assert list_week() == [second.post_id]
        count_popular(now + timedelta(days=8))
        assert list_week() == []
    with hold_lease("likes"):
        assert isinstance(sweep_likes(now), str)
