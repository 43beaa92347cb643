"""Measures what a post costs that is copied to all followers, and what a feed costs into which posts are merged as it is read.

    python -m benchmarks.feed
    python -m benchmarks.feed --followers 100 1000     # quicker

In a keyspace of its own, an author gets followers with sessions and publishes posts, which are copied as the worker does it. Then a
member reads a feed into which the newest posts of 0, 50 and 200 other authors are merged. Prints statements, CPU and time for each,
and how many followers make copying as dear as a day of merging. Ends with status 1 if a follower lacks a post or a feed is not whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from benchmarks.setup import make_parser, own_keyspace, report_missed
from cassandra_db import RAISE_UNKNOWN, Meter, count_statements, current_time

if TYPE_CHECKING:
    from posts.queries import PostIds

KEYSPACE = "stoa_feed"
FOLLOWERS = (100, 1000, 5000)
MERGED = (0, 50, 200)
POSTS, READS = 5, 100
SECONDS_A_DAY = 24 * 3600


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("feed", __doc__)
    parser.add_argument("--followers", type=int, nargs="+", default=FOLLOWERS)
    args = parser.parse_args()
    with own_keyspace(KEYSPACE):
        missed = [line for count in args.followers for line in copy_posts(count)]
        return report_missed([*missed, *read_feeds()])


def copy_posts(follower_count: int) -> list[str]:
    """Copy posts of an author with so many followers, print the cost of one, and return what is wrong."""
    from posts import follow_queries
    from posts.operations.feeds import copy_post

    author_id, followers = uuid4(), [uuid4() for _ in range(follower_count)]
    add_followers(author_id, followers)
    costs = []
    for _ in range(POSTS):
        post_id = publish(author_id)
        began, cpu = perf_counter(), process_time()
        with count_statements() as meter:
            count = copy_post(post_id, current_time())
        costs.append((perf_counter() - began, process_time() - cpu, meter.statement_count))
    seconds, cpu, statements = (median(each) for each in zip(*costs, strict=True))
    print(
        f"a post to {follower_count} followers: {statements:.0f} statements, "
        f"{cpu * 1000:.0f} ms of CPU, {seconds * 1000:.0f} ms"
    )
    feeds = [follow_queries.FEED.start(user_id=each, **newest()) for each in followers]
    has_all = all(len(pending.rows()) == POSTS for pending in feeds)
    is_right = count == follower_count and has_all
    return [] if is_right else [f"a follower of {follower_count} lacks a post"]


def newest() -> dict[str, object]:
    """Return where the newest rows of a feed begin, and how many are read."""
    from cassandra.util import max_uuid_from_time

    return {"before": max_uuid_from_time(current_time() + timedelta(days=1)), "most": 200}


def add_followers(author_id: UUID, followers: Sequence[UUID]) -> None:
    """Let people with sessions follow an author, by plain writes."""
    from accounts.sessions import REMEMBER
    from cassandra_db import wait_for_all
    from cassandra_db.session import get_session
    from posts.partitions import FIRST_PARTITION

    follower = get_session().prepare(
        """UPDATE follows_by_followed SET follows = true, version = 1
           WHERE followed_user_id = ? AND partition = ? AND user_id = ?"""
    )
    number = get_session().prepare(
        "UPDATE follows_by_followed SET follower_count = ? WHERE followed_user_id = ? AND partition = ?"
    )
    now, place = current_time(), (author_id, FIRST_PARTITION)
    get_session().execute(number, (len(followers), *place))
    for start in range(0, len(followers), 64):
        some = followers[start : start + 64]
        written = [get_session().execute_async(follower, (*place, each)) for each in some]
        session = {"began": now, "now": now, "device": "", "ttl": SECONDS_A_DAY}
        wait_for_all([REMEMBER.start(user_id=each, key=uuid4().hex, **session) for each in some])
        for each in written:
            each.result()


def publish(author_id: UUID) -> UUID:
    """Write a post that the staff have published."""
    from cassandra.util import uuid_from_time

    from moderation.states import PUBLISHED
    from posts.entities import Post
    from posts.operations.copies import refresh_post
    from posts.operations.posts import INSERT_POST

    now = current_time()
    post_id: UUID = uuid_from_time(now)
    post = Post(
        post_id=post_id,
        product_id=post_id,
        user_id=author_id,
        name="Ada L.",
        body="My mug in the morning",
        pictures=(f"photo/{uuid4().hex}-640x640",),
        picture_count=1,
        state=PUBLISHED,
        version=1,
        change_id=uuid4(),
        written_at=now,
        published_at=now,
    )
    INSERT_POST.apply(if_lost=RAISE_UNKNOWN, **post.columns())
    refresh_post(post_id)
    return post_id


def read_feeds() -> list[str]:
    """Read feeds with more and more merged authors, print their costs and the break-even, and return what is wrong."""
    from posts import feed
    from posts.follow_queries import SHOP
    from posts.operations.feeds import INSERT_CROWDED, MAX_COPIES
    from posts.operations.follows import set_follow

    reader, authors, missed = uuid4(), [uuid4() for _ in range(max(MERGED))], []
    expected: list[UUID] = []
    for count in MERGED:
        for each in authors[len(expected) : count]:
            set_follow(reader, each, follows=True, change_id=uuid4(), now=current_time())
            INSERT_CROWDED.run(shop=SHOP, user_id=each)
            expected.append(publish(each))
        feed.crowded_posts.forget()
        first, again = _read(reader), [_read(reader) for _ in range(READS)]
        page, meter, _cpu = first
        print(
            f"a feed with {count} merged people: {meter.statement_count} statements in {meter.round_count} rounds, "
            f"{first[2] * 1000:.1f} ms of CPU; from memory {again[0][1].statement_count} in {again[0][1].round_count}, "
            f"{median(each[2] for each in again) * 1000:.1f} ms"
        )
        if list(page.ids) != expected[::-1][: len(page.ids)] or bool(count) != bool(page.ids):
            missed.append(f"a feed with {count} merged people is not whole")
    a_day = 2 * SECONDS_A_DAY / feed.crowded_posts.seconds
    print(
        f"merging one person costs a process at most {a_day:.0f} statements a day, as many as copying a post to {a_day / 2:.0f} "
        f"followers; copied up to {MAX_COPIES}"
    )
    return missed


def _read(reader: UUID) -> tuple[PostIds, Meter, float]:
    from posts.feed import prefetch_feed

    cpu = process_time()
    with count_statements() as meter:
        page = prefetch_feed(reader, "").collect().page
    return page, meter, process_time() - cpu


if __name__ == "__main__":
    raise SystemExit(main())
