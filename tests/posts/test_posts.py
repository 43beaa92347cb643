"""Posts as their authors write them and the staff decide about them: lists, crashes, and forms that are sent twice."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest

from accounts.models import User
from cassandra_db import InvalidPageToken, current_time
from consistency.findings import Scope
from consistency.runner import check_consistency
from jobs.due_rows import Sweep
from moderation.errors import TextChanged
from moderation.queries import list_waiting
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from posts import queries
from posts.entities import Post, PostInput, ShownProduct
from posts.errors import NoSuchPost
from posts.jobs import finish_post
from posts.operations import posts as operations
from posts.operations.pending import PENDING_POSTS
from posts.queries import NEWEST, PostList
from posts.time_ids import make_form_id
from tests.factories import make_user
from tests.orders.crashes import first_and_last_writes, kill_at_write, record_writes
from tests.posts.posting import publish, run_worker
from tests.reads import existing
from tests.shards import ItemsShard
from tests.threads import call_at_once, map_at_once

PICTURES = tuple(f"photo/{shade:032x}-640x640" for shade in range(3))
RULES = ("I47", "I48")


@pytest.fixture
def ann() -> User:
    return make_user("Ann Lee")


def write(user: User, post_id: UUID | None = None, *, seen: int = 0, **said: Any) -> Post:
    """What the form does."""
    change_id, removed = said.pop("change_id", uuid4()), said.pop("removed", ())
    return operations.write_post(
        post_id or make_form_id(user.user_id),
        user,
        PostInput(**{"body": "My mug in the morning"} | said),
        seen=seen,
        change_id=change_id,
        now=current_time(),
        removed=removed,
    )


def add_pictures(post: Post, *pictures: str) -> Post:
    """What the worker does with a form's pictures."""

    def add(before: Post) -> Post:
        own = (*before.new_pictures, *pictures)
        return replace(before, new_pictures=own, picture_count=len(before.pictures) + len(own))

    return operations.change_post(
        post.post_id, add, seen=post.version, change_id=uuid4(), now=current_time()
    )


def act(what: Any, post: Post, *args: Any) -> Post:
    found: Post = what(
        post.post_id, *args, seen=post.version, change_id=uuid4(), now=current_time()
    )
    return found


def is_waiting(post: Post) -> bool:
    return post.post_id in {row.review_id for row in list_waiting(1000)}


def is_listed(of: PostList, post: Post) -> bool:
    page = queries.prefetch_page(of, most=1000).collect()
    assert page.authors.get(post.post_id, post.user_id) == post.user_id
    return post.post_id in page.ids


def find_lists(post: Post) -> set[str]:
    """Return the lists in which a post is, among all that it may be in."""
    lists = {"newest": NEWEST, "person": queries.posts_of_person(post.user_id)}
    lists |= {f"tag {each}": queries.posts_with_tag(each) for each in ("wood", "blue")}
    lists |= {"own": queries.own_posts(post.user_id)}
    lists |= {f"product {each.hex}": queries.posts_with_product(each) for each in (FIRST, SECOND)}
    return {name for name, of in lists.items() if is_listed(of, post)}


def find_violations(*post_ids: UUID, repair: bool = False) -> list[str]:
    report = check_consistency(
        Scope(posts=frozenset(post_ids)), RULES, recheck_after=(), repair=repair
    )
    return [str(each) for each in report.violations]


FIRST, SECOND = uuid4(), uuid4()
SHOWN: dict[str, Any] = {"tags": ("wood",), "products": (ShownProduct(FIRST, uuid4()),)}
EVERYWHERE = {"newest", "person", "own", "tag wood", f"product {FIRST.hex}"}


def test_x450_a_post_waits_for_its_pictures_and_the_staff_and_stays_public_when_its_words_change(
    ann: User,
) -> None:
    written = write(ann, **SHOWN)
    assert (written.state, written.name, written.version) == (HELD, "Ann L.", 1)
    assert not is_waiting(written), "it has no picture yet"
    complete = add_pictures(written, *PICTURES[:2])
    assert is_waiting(complete)
    assert find_lists(complete) == {"own"}
    shown = act(operations.publish_post, complete)
    assert (shown.pictures, shown.new_pictures, shown.is_public) == (PICTURES[:2], (), True)
    assert (is_waiting(shown), find_lists(shown)) == (False, EVERYWHERE)
    edited = write(
        ann,
        shown.post_id,
        seen=shown.version,
        body="My jug",
        tags=("blue",),
        products=(ShownProduct(SECOND, uuid4()),),
        removed=PICTURES[:1],
    )
    assert (edited.state, edited.pictures, edited.former_pictures) == (
        PUBLISHED,
        PICTURES[1:2],
        PICTURES[:1],
    )
    moved = {"newest", "person", "own", "tag blue", f"product {SECOND.hex}"}
    assert find_lists(edited) == moved
    more = add_pictures(edited, PICTURES[2])
    assert (more.is_public, more.held_for, is_waiting(more)) == (True, "pictures", True)
    refused = act(operations.refuse_post, more, "No faces, please.")
    assert (refused.state, refused.refusal, find_lists(refused)) == (
        REFUSED,
        "No faces, please.",
        {"own"},
    )
    better = write(ann, refused.post_id, seen=refused.version, tags=("blue",))
    assert (better.state, better.refusal, is_waiting(better)) == (HELD, "", True)
    shown = act(operations.publish_post, better)
    assert (shown.pictures, shown.published_at) == (PICTURES[1:], edited.published_at)
    reported = shown
    for _reader in range(3):
        reported = operations.report_post(reported, uuid4(), now=current_time())
    assert (reported.is_public, is_waiting(reported)) == (True, True)
    held = act(operations.hold_post, reported)
    assert (held.state, find_lists(held)) == (HELD, {"own"})
    gone = act(operations.withdraw_post, held)
    assert (gone.state, gone.body, gone.tags, gone.own_pictures) == (WITHDRAWN, "", (), ())
    assert (find_lists(gone), is_waiting(gone)) == (set(), False)
    with pytest.raises(NoSuchPost):
        act(operations.publish_post, gone)
    with pytest.raises(NoSuchPost):
        write(ann, gone.post_id, seen=gone.version)


def test_x450_words_that_the_rules_hold_wait_and_an_edit_does_not_take_them_out(ann: User) -> None:
    shown = act(operations.publish_post, add_pictures(write(ann), PICTURES[0]))
    held = write(ann, shown.post_id, seen=shown.version, body="www.example.com", held_for="links")
    assert (held.state, held.held_for, is_waiting(held)) == (HELD, "links", True)
    edited = write(ann, shown.post_id, seen=held.version, body="My mug")
    assert (edited.state, edited.held_for) == (HELD, "links")


def test_x451_a_form_sent_twice_writes_once_and_a_stale_one_nothing(ann: User) -> None:
    post_id, form = make_form_id(ann.user_id), uuid4()
    made = map_at_once(lambda _: write(ann, post_id, change_id=form), range(6))
    assert {each.version for each in made} == {1}
    first = write(ann, post_id, seen=1, body="One")
    with pytest.raises(TextChanged):
        write(ann, post_id, seen=1, body="Two")
    with pytest.raises(TextChanged):
        act(operations.publish_post, made[0])
    outcomes = call_at_once(
        *(lambda each=each: write(ann, post_id, seen=2, body=each) for each in "abc"),
        refused=TextChanged,
    )
    (won,) = (each for each in outcomes if isinstance(each, Post))
    stored = existing(queries.get_post(post_id))
    assert (stored.body, stored.version, first.version) == (won.body, 3, 2)


def test_x451_nobody_writes_a_strangers_post_or_one_of_another_time(ann: User) -> None:
    own = write(ann)
    with pytest.raises(NoSuchPost):
        write(make_user("Bea"), own.post_id, seen=1)
    with (
        patch("posts.time_ids.current_microseconds", lambda: 1_600_000_000_000_000),
        pytest.raises(NoSuchPost),
    ):
        write(ann, make_form_id(ann.user_id))
    assert queries.get_post(own.post_id) == own


def test_x452_pages_of_a_list_go_on_in_earlier_months_and_years(ann: User) -> None:
    now = current_time()
    times = [now - timedelta(hours=hour) for hour in range(3)]
    times += [now - timedelta(days=days) for days in (40, 75, 300)]
    made = [publish(ann.user_id, at).post_id for at in times if at.year >= queries.FIRST_YEAR]
    of = queries.posts_of_person(ann.user_id)
    assert _read_all(of, most=2) == made
    assert queries.list_post_ids_of(ann.user_id) == made
    everybodys = _read_all(NEWEST, most=50)
    assert [each for each in everybodys if each in made] == made
    with pytest.raises(InvalidPageToken):
        queries.prefetch_page(NEWEST, queries.prefetch_page(of, most=2).collect().next_token)
    # Posts that are not public fill no page: the next rows are read.
    for post_id in made[1:4]:
        act(operations.refuse_post, existing(queries.get_post(post_id)), "No.")
    assert _read_all(of, most=2) == [made[0], *made[4:]]
    assert queries.prefetch_page(of, most=2).collect().ids == (made[0], made[4])
    assert _read_all(queries.own_posts(ann.user_id), most=2) == made


def _read_all(of: PostList, most: int) -> list[UUID]:
    page, found = queries.prefetch_page(of, most=most).collect(), list[UUID]()
    while page.next_token:
        found += page.ids
        page = queries.prefetch_page(of, page.next_token, most).collect()
    return [*found, *page.ids]


def test_x452_a_list_has_no_partition_before_the_first_year() -> None:
    newest = queries.get_moment(make_form_id(uuid4()))
    months = NEWEST.list_partitions(newest)
    assert months[0] == newest.date().replace(day=1)
    assert months[-1] == date(queries.FIRST_YEAR, 1, 1)
    assert len(months) == (newest.year - queries.FIRST_YEAR) * 12 + newest.month
    years = queries.posts_with_tag("wood").list_partitions(newest)
    assert [each.year for each in years] == list(range(newest.year, queries.FIRST_YEAR - 1, -1))


def _edit(post: Post, ann: User) -> None:
    write(ann, post.post_id, seen=post.version, tags=("blue",), change_id=post.post_id)


def _publish(post: Post, _ann: User) -> None:
    operations.publish_post(
        post.post_id, seen=post.version, change_id=post.post_id, now=current_time()
    )


def _withdraw(post: Post, _ann: User) -> None:
    operations.withdraw_post(
        post.post_id, seen=post.version, change_id=post.post_id, now=current_time()
    )


@pytest.mark.parametrize("what", [_edit, _publish, _withdraw])
def test_x453_killed_at_each_write_the_worker_brings_lists_and_queue_in_line(
    what: Any, ann: User
) -> None:
    def begin() -> Post:
        post = add_pictures(write(ann, **SHOWN), PICTURES[0])
        return post if what is _publish else act(operations.publish_post, post)

    post = begin()
    writes = first_and_last_writes(record_writes(lambda: what(post, ann)))
    assert len(writes) >= 6
    wanted = (find_lists(post), is_waiting(post))
    killed = list[UUID]()
    for target in writes:
        post = begin()
        killed.append(post.post_id)
        if kill_at_write(target, partial(what, post, ann)):
            run_worker(post.post_id)
            stored = existing(queries.get_post(post.post_id))
            if stored.version > post.version:
                assert (find_lists(stored), is_waiting(stored)) == wanted, str(target)
            else:
                assert find_lists(stored) == find_lists(post), str(target)
            what(post, ann)  # the form is sent again
            run_worker(post.post_id)
            stored = existing(queries.get_post(post.post_id))
            assert stored.version == post.version + 1
            assert (find_lists(stored), is_waiting(stored)) == wanted, str(target)
    assert find_violations(*killed) == []


def test_x453_the_worker_leaves_a_post_alone_that_a_request_may_still_write(ann: User) -> None:
    post = write(ann, **SHOWN)
    now = current_time()

    def sweep(until: datetime) -> list[str]:
        shard = ItemsShard("posts", item_ids=frozenset([post.post_id]))
        partitions = PENDING_POSTS.list_partitions(now - timedelta(minutes=2), now)
        work = Sweep(PENDING_POSTS, partitions, until, shard)
        for rows in work.groups("post_id"):
            finish_post(rows, work)
        rows = PENDING_POSTS.list_between(now - timedelta(minutes=2), now)
        return [row.what for row in rows if row.post_id == post.post_id]

    assert sweep(now) == ["post"]
    assert sweep(now + timedelta(minutes=3)) == []
