"""I50: follows and the people followed agree, and the numbers are those of the rows."""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from cassandra_db import SEND_AGAIN, Row, conditional_write, scan
from consistency.findings import Check, Violation, call, column_subjects, row_subjects
from posts import follow_queries
from posts.operations.follows import refresh_follower

FOLLOWING = scan(
    "I50",
    "SELECT DISTINCT user_id FROM follows_by_user WHERE token(user_id) > :start AND token(user_id) <= :end",
)
FOLLOWED = scan(
    "I50",
    """SELECT DISTINCT followed_user_id, partition FROM follows_by_followed
       WHERE token(followed_user_id, partition) > :start AND token(followed_user_id, partition) <= :end""",
)
SET_FOLLOWS = conditional_write(
    "I50",
    "UPDATE follows_by_user SET follow_count = :count WHERE user_id = :user_id IF follow_count = :seen",
)
SET_FOLLOWERS = conditional_write(
    "I50",
    """UPDATE follows_by_followed SET follower_count = :count
       WHERE followed_user_id = :followed_user_id AND partition = :partition IF follower_count = :seen""",
)
DELETE_FOLLOWER = conditional_write(
    "I50",
    """DELETE FROM follows_by_followed
       WHERE followed_user_id = :followed_user_id AND partition = :partition AND user_id = :user_id
       IF version = :seen""",
)


def _check_following(user_id: UUID) -> Iterator[Violation]:
    rows = follow_queries.prefetch_follows(user_id).rows()
    follows = follow_queries.follows_from_rows(rows)
    seen = rows[0].follow_count if rows else None
    if (seen or 0) != len(follows):
        repair = partial(SET_FOLLOWS.apply, if_lost=SEND_AGAIN)
        fix = call(repair, user_id=user_id, count=len(follows), seen=seen)
        fault = "the number of people followed is not that of the rows"
        yield Violation("I50", f"user {user_id}", fault, f"{seen}, not {len(follows)}", fix)
    for each in follows.values():
        key = {"followed_user_id": each.followed_user_id, "partition": each.partition}
        row = follow_queries.FOLLOWER.one(**key, user_id=user_id)
        if row is None or row.version != each.version:
            fix = call(refresh_follower, user_id, each.followed_user_id)
            subject = f"user {user_id} follows {each.followed_user_id}"
            yield Violation("I50", subject, "the follower is missing", fix=fix)


def _check_followers(place: Row) -> Iterator[Violation]:
    key = {"followed_user_id": place.followed_user_id, "partition": place.partition}
    subject, count = f"user {place.followed_user_id} partition {place.partition}", 0
    for followers in follow_queries.iterate_followers(place.followed_user_id, [place.partition]):
        for user_id in followers:
            follow = follow_queries.get_follow(user_id, place.followed_user_id)
            if follow is None or not follow.follows:
                row = follow_queries.FOLLOWER.one(**key, user_id=user_id)
                yield Violation(
                    "I50",
                    f"{subject} follower {user_id}",
                    "the follower follows no more",
                    fix=call(_remove, key, user_id, row) if row else None,
                )
            count += 1
    seen = follow_queries.FOLLOWER_COUNT.one(**key)
    present = seen.follower_count if seen else None
    if (present or 0) != count:
        repair = partial(SET_FOLLOWERS.apply, if_lost=SEND_AGAIN)
        fix = call(repair, **key, count=count, seen=present)
        fault = "the number of followers is not that of the rows"
        yield Violation("I50", subject, fault, f"{present}, not {count}", fix)


def _remove(key: dict[str, object], user_id: UUID, row: Row) -> None:
    """Bring a follower in line with the follow; without a follow, delete the row. The next check sets the number."""
    refresh_follower(user_id, row.followed_user_id)
    if follow_queries.get_follow(user_id, row.followed_user_id) is None:
        DELETE_FOLLOWER.apply(if_lost=SEND_AGAIN, **key, user_id=user_id, seen=row.version)


CHECKS = (
    Check("follows", ("I50",), column_subjects(FOLLOWING, "user_id", "users"), _check_following),
    Check("followers", ("I50",), row_subjects(FOLLOWED), _check_followers),
)
