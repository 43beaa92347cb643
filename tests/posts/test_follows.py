"""Follows, blocks and feeds: exact numbers under fire, and what a feed shows."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from unittest.mock import Mock, patch
from uuid import UUID, uuid4

import pytest
from cassandra.util import uuid_from_time
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.sessions import REMEMBER
from cassandra_db import RAISE_UNKNOWN, current_time, session, statements
from consistency.findings import Violation
from posts import feed, follow_invariants, follow_queries, queries, rules
from posts.errors import PersonBlocked, TooManyFollows
from posts.feed import prefetch_feed
from posts.feed_jobs import finish_event
from posts.operations import blocks, feeds, follows
from posts.partitions import FIRST_PARTITION
from posts.time_ids import make_form_id
from tests.factories import make_user
from tests.lost_answers import AnswerLosingSession
from tests.notifications.telling import list_words, tell_about
from tests.orders.crashes import kill_at_write, record_writes
from tests.posts import posting
from tests.posts.showing import add_comment, make_profile
from tests.reads import existing
from tests.threads import call_at_once, map_at_once


def publish(author: User, days_ago: float = 0) -> UUID:
    """Publish a post as of some days ago, and let the worker copy it."""
    post = posting.publish(author.user_id, current_time() - timedelta(days=days_ago))
    finish_event(post.post_id, feeds.POST, current_time())
    return post.post_id


def follow(
    user: User, followed: User, *, follows_now: bool = True, change_id: UUID | None = None
) -> None:
    follows.set_follow(
        user.user_id,
        followed.user_id,
        follows=follows_now,
        change_id=change_id or uuid4(),
        now=current_time(),
    )


def list_feed(user: User, token: str = "") -> list[UUID]:
    return list(prefetch_feed(user.user_id, token).collect().page.ids)


def count_followers(user: User) -> int:
    """Return the number of followers, after comparing it with their rows."""
    partitions = follow_queries.list_partitions(user.user_id)
    count = follow_queries.count_followers(user.user_id, partitions)
    rows = [
        each for some in follow_queries.iterate_followers(user.user_id, partitions) for each in some
    ]
    assert count == len(rows) == len(set(rows))
    return count


@pytest.fixture
def signed_in() -> Callable[[str], User]:
    """Return a function that makes a member who has a session."""

    def make(name: str) -> User:
        user = make_user(name)
        now = current_time()
        REMEMBER.run(user_id=user.user_id, key=uuid4().hex, began=now, now=now, device="", ttl=3600)
        return user

    return make


def test_x430_a_follow_counts_once_whatever_is_repeated_and_its_end_takes_it_away() -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    form = uuid4()
    follow(ben, ada, change_id=form)
    call_at_once(*[lambda: follow(ben, ada, change_id=form)] * 4, *[lambda: follow(ben, ada)] * 4)
    assert count_followers(ada) == 1
    follow(ben, ada, follows_now=False)
    follow(ben, ada, change_id=form)  # the first form comes again, late
    assert count_followers(ada) == 0
    assert not follow_queries.list_follows(ben.user_id)


def test_x430_many_follow_at_once_and_the_number_is_exact() -> None:
    ada, crowd = make_user("Ada"), [make_user("Fan") for _ in range(12)]
    with patch.object(follows, "POPULAR_FROM", 5), patch.object(follows, "POPULAR_PARTITIONS", 3):
        map_at_once(lambda each: follow(each, ada), crowd, threads=6)
        assert count_followers(ada) == 12
        assert len(follow_queries.list_partitions(ada.user_id)) == 4
        for each in crowd[:4]:
            follow(each, ada, follows_now=False)
    assert count_followers(ada) == 8


def test_x430_nobody_follows_more_people_than_one_can() -> None:
    ben, others = make_user("Ben"), [make_user("Ada") for _ in range(4)]
    with patch.object(follows, "MAX_FOLLOWS", 2):
        results = call_at_once(
            *[partial(follow, ben, each) for each in others], refused=TooManyFollows
        )
    assert sum(isinstance(each, TooManyFollows) for each in results) == 2
    assert len(follow_queries.list_follows(ben.user_id)) == 2


def test_x430_a_follow_whose_answers_are_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    flaky = AnswerLosingSession(session.get_session())
    monkeypatch.setattr(statements, "get_session", lambda: flaky)
    follow(ben, ada)
    assert flaky.lost_count >= 2
    assert count_followers(ada) == 1


def do(kind: str, ben: User, ada: User) -> None:
    """Let Ben follow Ada, or Ada block Ben."""
    if kind == feeds.FOLLOW:
        follow(ben, ada)
    else:
        blocks.block_person(ada.user_id, ben.user_id, current_time())


@pytest.mark.parametrize("kind", [feeds.FOLLOW, feeds.BLOCK])
def test_x431_killed_at_each_write_the_worker_finishes_a_follow_and_a_block(kind: str) -> None:
    def make() -> tuple[User, User]:
        ben, ada = make_user("Ben"), make_user("Ada")
        if kind == feeds.BLOCK:
            follow(ben, ada)
        return ben, ada

    writes = record_writes(partial(do, kind, *make()))
    assert len(writes) >= 4
    for target in writes[1:]:
        ben, ada = make()
        before = current_time()
        kill_at_write(target, partial(do, kind, ben, ada))
        for row in feeds.PENDING_FEEDS.list_between(before, current_time()):
            if row.subject_id in (ada.user_id, ben.user_id):
                finish_event(row.subject_id, row.what, current_time())
        has_follow = bool(follow_queries.list_follows(ben.user_id))
        assert count_followers(ada) == has_follow, target.tables
        if kind == feeds.BLOCK:
            blocked = follow_queries.has_blocked(ada.user_id, ben.user_id)
            assert blocked != has_follow, target.tables


def test_x432_a_block_and_a_follow_at_the_same_moment_leave_no_follow() -> None:
    for _ in range(4):
        ben, ada = make_user("Ben"), make_user("Ada")
        call_at_once(
            partial(follow, ben, ada), partial(do, feeds.BLOCK, ben, ada), refused=PersonBlocked
        )
        assert count_followers(ada) == 0
    for one, other in ((ben, ada), (ada, ben)):
        with pytest.raises(PersonBlocked):
            follow(one, other)
    blocks.unblock_person(ada.user_id, ben.user_id, current_time())
    follow(ben, ada)
    assert count_followers(ada) == 1


def test_x433_a_feed_shows_the_posts_of_whom_one_follows_now(
    signed_in: Callable[[str], User],
) -> None:
    ada, ben, cleo = make_user("Ada"), signed_in("Ben"), signed_in("Cleo")
    old, too_old = publish(ada, days_ago=3), publish(ada, days_ago=40)
    follow(ben, ada)
    new = publish(ada)
    assert list_feed(ben) == [new, old]
    assert too_old not in list_feed(ben)
    assert list_feed(cleo) == []
    follow(ben, ada, follows_now=False)
    assert list_feed(ben) == []
    follow(ben, ada)
    assert list_feed(ben) == [new, old]
    blocks.block_person(ada.user_id, ben.user_id, current_time())
    assert list_feed(ben) == []


def test_x433_who_was_away_has_the_feed_again_after_the_next_login() -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    follow(ben, ada)
    post_id = publish(ada)
    assert list_feed(ben) == []
    finish_event(ben.user_id, feeds.LOGIN, current_time())
    assert list_feed(ben) == [post_id]


def test_x433_posts_of_people_with_many_followers_are_merged(
    signed_in: Callable[[str], User],
) -> None:
    ada, eve, ben = make_user("Ada"), make_user("Eve"), signed_in("Ben")
    fans = [make_user("Fan") for _ in range(2)]
    for each in (*fans, ben):
        follow(each, ada)
    follow(ben, eve)
    with patch.object(feeds, "MAX_COPIES", 2):
        first = publish(ada, days_ago=0.002)
        second = publish(eve, days_ago=0.001)
        follow(fans[0], ada, follows_now=False)
        third = publish(ada)  # who has once had many followers stays merged
    feed.crowded_posts.forget()
    tomorrow = uuid_from_time(current_time() + timedelta(1))
    copied = follow_queries.FEED.all(user_id=ben.user_id, before=tomorrow, most=9)
    assert [row.post_id for row in copied] == [second]
    assert list_feed(ben) == [third, second, first]


def test_x433_each_page_of_a_feed_goes_on_where_the_one_before_ended(
    signed_in: Callable[[str], User],
) -> None:
    ada, eve, ben = make_user("Ada"), make_user("Eve"), signed_in("Ben")
    follow(ben, ada)
    follow(ben, eve)
    posts = [publish((ada, eve)[number % 2], days_ago=9 - number) for number in range(7)]
    feeds.INSERT_CROWDED.run(shop=follow_queries.SHOP, user_id=eve.user_id)
    feed.crowded_posts.forget()
    with patch.object(feed, "PAGE_LENGTH", 3), patch.object(feed, "_ROWS_READ", 4):
        found: list[UUID] = []
        token, pages = "", 0
        while pages < 9:
            page = prefetch_feed(ben.user_id, token).collect().page
            found += page.ids
            token, pages = page.next_token, pages + 1
            if not token:
                break
    assert found == posts[::-1]
    assert rules.PAGE_LENGTH > 3


def test_i50_the_check_finds_and_repairs_wrong_numbers_and_rows() -> None:
    ada, ben, cleo = make_user("Ada"), make_user("Ben"), make_user("Cleo")
    for each in (ben, cleo):
        follow(each, ada)
    place = {"followed_user_id": ada.user_id, "partition": FIRST_PARTITION}
    subject = Mock(**place)

    def find() -> list[Violation]:
        return [
            *follow_invariants._check_following(ben.user_id),
            *follow_invariants._check_followers(subject),
        ]

    assert find() == []
    follow_invariants.SET_FOLLOWERS.apply(if_lost=RAISE_UNKNOWN, **place, count=7, seen=2)
    follow_invariants.SET_FOLLOWS.apply(if_lost=RAISE_UNKNOWN, user_id=ben.user_id, count=3, seen=1)
    row = follow_queries.FOLLOWER.one(**place, user_id=ben.user_id)
    assert row
    follow_invariants.DELETE_FOLLOWER.apply(
        if_lost=RAISE_UNKNOWN, **place, user_id=ben.user_id, seen=row.version
    )
    stray = uuid4()
    follows.SET_FOLLOWER.apply(
        if_lost=RAISE_UNKNOWN, **place, user_id=stray, follows=True, version=1, ttl=0, seen=None
    )
    assert {each.fault for each in find()} == {
        "the number of people followed is not that of the rows",
        "the follower is missing",
        "the follower follows no more",
        "the number of followers is not that of the rows",
    }
    for _ in range(3):
        for violation in find():
            if violation.fix:
                violation.fix(current_time())
    assert find() == []
    assert count_followers(ada) == 2


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def send_follow(client: Client, handle: str) -> str:
    """Send the form that follows a person, and return the page after it."""
    form = {"follows": "1", "operation": uuid4()}
    return client.post(reverse("posts:follow", args=[handle]), form, follow=True).content.decode()


def test_x434_a_person_is_followed_and_blocked_by_their_page() -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    handle, own_handle, client = make_profile(ada), make_profile(ben), sign_in(ben)
    feed_url = reverse("posts:feed")
    assert "0 followers" in client.get(reverse("posts:person", args=[handle])).content.decode()
    assert "1 follower" in send_follow(client, handle)
    post_url = reverse("posts:post", args=[publish(ada)])
    page = client.get(feed_url)
    assert post_url in page.content.decode()
    assert re.match(r"statements=\d+, rounds=3,", page["X-Cassandra"])
    assert handle in client.get(reverse("posts:people")).content.decode()
    client.post(reverse("posts:block", args=[handle]))
    assert post_url not in client.get(feed_url).content.decode()
    assert "You can’t follow this person." in send_follow(sign_in(ada), own_handle)
    client.post(reverse("posts:unblock"), {"person": ada.user_id})
    send_follow(sign_in(ada), own_handle)
    assert count_followers(ben) == 1


def test_x434_nobody_follows_themselves_or_who_has_no_public_profile() -> None:
    ben = make_user("Ben")
    handle, client, feed_url = make_profile(ben), sign_in(ben), reverse("posts:feed")
    assert "You can’t follow yourself." in send_follow(client, handle)
    assert client.post(reverse("posts:follow", args=["nobody_here"])).status_code == 404
    hidden = make_profile(make_user("Ada"), is_public=False)
    assert client.post(reverse("posts:follow", args=[hidden])).status_code == 404
    assert Client().get(feed_url).status_code == 302
    assert "You follow nobody yet" in client.get(feed_url).content.decode()
    assert client.get(feed_url, {"after": "x"}).status_code == 404


def test_x434_who_is_blocked_neither_comments_nor_likes() -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    post_id, client = publish(ada), sign_in(ben)
    blocks.block_person(ada.user_id, ben.user_id, current_time())
    form = {"body": "I was here", "form_id": make_form_id(ben.user_id)}
    answer = client.post(reverse("posts:comment", args=[post_id]), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "You can’t comment on this person’s posts." in page
    assert "I was here" in page
    client.post(reverse("posts:like", args=[post_id]), {"like_type": "like", "operation": uuid4()})
    assert existing(queries.get_post(post_id)).sums.like_count == 0


def test_x434_an_author_blocks_who_has_commented() -> None:
    ada, ben = make_user("Ada"), make_user("Ben")
    post = existing(queries.get_post(publish(ada)))
    comment = add_comment(post, ben, "Buy mine instead")
    place = [post.post_id, comment.partition, comment.thread_id, comment.comment_id]
    address = reverse("posts:block_writer", args=place)
    assert sign_in(make_user("Eve")).post(address).status_code == 404
    sign_in(ada).post(address)
    assert follow_queries.has_blocked(ada.user_id, ben.user_id)


def test_x434_a_member_is_told_of_new_followers_once_a_day() -> None:
    ada = make_user("Ada")
    for _ in range(2):
        follow(make_user("Fan"), ada)
        tell_about(ada.user_id)
    assert list_words(ada.user_id) == ["2 people follow you"]
