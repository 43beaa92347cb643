"""I47 to I49: what the consistency check finds in posts, likes, comments and profiles, and how it repairs it."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest

from cassandra_db import current_time
from cassandra_db.session import get_session
from consistency.findings import Report, Scope
from consistency.runner import check_consistency
from moderation.states import HELD
from posts import invariants, queries
from posts.entities import CommentInput, Post
from posts.operations import copies
from posts.operations.comments import write_comment
from posts.operations.likes import set_like
from posts.operations.profiles import list_handle_keys, save_profile
from posts.time_ids import make_form_id
from tests.factories import make_user
from tests.posts.posting import check_comments, check_likes, publish, run_worker

RULES = ("I47", "I48", "I49")
ANN, BEA = uuid4(), uuid4()


def cql(text: str, *values: object) -> None:
    get_session().execute(text, values)


def check(scope: Scope, *, repair: bool = False) -> Report:
    return check_consistency(scope, RULES, recheck_after=(), repair=repair)


@pytest.fixture(scope="module")
def post() -> Post:
    made = publish(ANN)
    comment_id = make_form_id(BEA)
    write_comment(
        made,
        BEA,
        CommentInput("How warm!", name="Bea P."),
        comment_id=comment_id,
        change_id=uuid4(),
        now=current_time(),
    )
    set_like(BEA, made, "want", change_id=uuid4(), now=current_time())
    run_worker(made.post_id, BEA)
    return made


BREAKS: dict[str, tuple[str, str]] = {
    "month": ("I47", "DELETE FROM posts_by_month WHERE month = '{month}' AND post_id = {post}"),
    "person": (
        "I47",
        "UPDATE posts_by_user SET state = 'held' WHERE user_id = {ann} AND year = {year} AND post_id = {post}",
    ),
    "likes": (
        "I48",
        "UPDATE likes_by_post SET like_count = 7, wants = 7 WHERE post_id = {post} AND partition = -1",
    ),
    "no numbers": (
        "I48",
        "DELETE like_count, wants FROM likes_by_post WHERE post_id = {post} AND partition = -1",
    ),
    "comments": (
        "I48",
        "UPDATE post_comments SET comment_count = 5 WHERE post_id = {post} AND partition = 0",
    ),
    "sums": ("I48", "UPDATE posts SET like_count = 9, comment_count = 0 WHERE post_id = {post}"),
    "stray": (
        "I48",
        "UPDATE likes_by_post SET like_type = 'love', version = 5 WHERE post_id = {post} AND partition = -1 AND user_id = {ann}",
    ),
    "uncounted": (
        "I48",
        "DELETE FROM likes_by_post WHERE post_id = {post} AND partition = -1 AND user_id = {bea}",
    ),
    "place": ("I48", "DELETE FROM comments_by_user WHERE user_id = {bea}"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_x457_i47_i48_the_check_finds_what_disagrees_with_a_post_and_repairs_it(
    name: str, post: Post
) -> None:
    scope = Scope(posts=frozenset([post.post_id]), users=frozenset([BEA]))
    assert check(scope).is_clean
    rule, text = BREAKS[name]
    names = {"post": post.post_id, "ann": ANN, "bea": BEA, "year": post.year, "month": post.month}
    cql(text.format(**names))
    found = check(scope).violations
    assert {each.rule for each in found} == {rule}
    for _again in range(3):
        # Some repairs show the next thing that is wrong.
        if check(scope, repair=True).is_clean:
            break
    assert check(scope).is_clean
    assert check_likes(post.post_id, BEA) == {"want": 1}
    assert check_comments(post.post_id) == 1


def test_x457_i47_rows_of_lists_that_a_post_is_not_in_are_deleted(post: Post) -> None:
    product_id, at = uuid4(), 1
    strays: dict[str, Callable[[UUID], None]] = {
        "posts_by_tag": lambda post_id: copies.INSERT_BY_TAG.run(
            tag="stray", year=post.year, post_id=post_id, user_id=ANN, at=at
        ),
        "posts_by_product": lambda post_id: copies.INSERT_BY_PRODUCT.run(
            product_id=product_id, year=post.year, post_id=post_id, user_id=ANN, at=at
        ),
        "posts_by_month": lambda post_id: copies.INSERT_BY_MONTH.run(
            month=post.month.replace(year=2024), post_id=post_id, user_id=ANN, at=at
        ),
        "posts_by_user": lambda post_id: copies.INSERT_BY_USER.run(
            user_id=BEA, year=post.year, post_id=post_id, state=HELD, at=at
        ),
    }
    scans = {each.name: each for each in invariants.CHECKS}
    for name, insert in strays.items():
        for post_id in (post.post_id, make_form_id(ANN)):
            insert(post_id)
            finds = scans[name]
            found = [
                each
                for row in finds.iterate_subjects(None)
                if row.post_id == post_id
                for each in finds.find_violations(row)
            ]
            (violation,) = found
            assert (violation.rule, name in violation.fault) == ("I47", True)
            assert violation.fix
            violation.fix(current_time())
            rows = [row for row in finds.iterate_subjects(None) if row.post_id == post_id]
            assert [each for row in rows for each in finds.find_violations(row)] == []


def test_x457_i49_handles_and_profiles_claim_each_other() -> None:
    ann, handle = make_user("Ann Lee"), f"ann_{uuid4().hex[:9]}"
    profile = save_profile(ann.user_id, handle, "", is_public=True, seen=0, change_id=uuid4())
    (key,) = list_handle_keys(profile)
    scope = Scope(users=frozenset([ann.user_id]))
    assert check(scope).is_clean
    cql("DELETE FROM people_by_handle WHERE handle_key = %s", key)
    (lost,) = check(scope).violations
    assert lost.rule == "I49"
    assert check(scope, repair=True).is_clean
    assert queries.find_profile_by_handle(handle) == profile
    cql(
        "INSERT INTO people_by_handle (handle_key, user_id) VALUES (%s, %s)", f"x{key}", ann.user_id
    )
    handles = next(each for each in invariants.CHECKS if each.name == "handles")
    found = [
        violation
        for row in handles.iterate_subjects(None)
        if row.user_id == ann.user_id
        for violation in handles.find_violations(row)
    ]
    (stray,) = found
    assert stray.fix
    stray.fix(current_time())
    assert queries.BY_HANDLE.one(handle_key=f"x{key}") is None
    assert check(scope).is_clean
