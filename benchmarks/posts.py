"""Measures what likes and comments cost, and whether the shop is slower while 64 people are at one post.

    python -m benchmarks.posts
    python -m benchmarks.posts --people 16 --acts 4     # quicker

In a keyspace of its own, each kind of like and comment is made alone. Then a process lets people like one post, change and take back
their likes, and comment on it, each an act every four to eight seconds, while a visitor who gets no page from memory asks for a product's
page 20 times a second. Every other second the process is stopped, so that a disturbance of the machine meets both. Ends with status 1 if
a number is wrong afterwards, or if the p95 of that page is more than 1.2 times what it is without.
"""

from __future__ import annotations

import json
import sys
from argparse import SUPPRESS
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from benchmarks.feed import publish
from benchmarks.load import percentile
from benchmarks.notifications import MOST_SLOWER, ask_for_page, load_shop, measure_beside
from benchmarks.pages import serve_shop
from benchmarks.setup import make_parser, own_keyspace, report_missed
from cassandra_db import REFUSED_MEANS_DONE, count_statements, current_time

if TYPE_CHECKING:
    from posts.entities import Comment, Post

KEYSPACE = "stoa_posts"
COMMENT = "comment"
# What each person does in turn.
ACTS = ("like", "love", COMMENT, "", "want", COMMENT, "have", "")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("posts", __doc__)
    parser.add_argument("--people", type=int, default=64)
    parser.add_argument("--acts", type=int, default=14, help="of each person")
    parser.add_argument("--warm", type=int, default=10, help="seconds of requests before")
    parser.add_argument("--probe", help=SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        import django

        django.setup()
        print("ready", flush=True)
        print(json.dumps(let_people_act(UUID(args.probe), args.people, args.acts)))
        return 0
    with own_keyspace(KEYSPACE):
        print_costs()
        post_id, (_product_id, path) = publish(uuid4()), load_shop(0)
        command = [sys.executable, "-m", "benchmarks.posts", "--probe", str(post_id)]
        command += ["--people", str(args.people), "--acts", str(args.acts)]
        with serve_shop(KEYSPACE) as server:
            ask_for_page(server.port, path, args.warm)
            found, without, meanwhile = measure_beside(command, KEYSPACE, server.port, path)
        return _report(post_id, args.people, args.acts, found, without, meanwhile)


def print_costs() -> None:
    """Print the statements of each kind of like and comment, made alone."""
    from posts.operations import likes
    from posts.rules import POPULAR_PARTITIONS

    post, (ann, ben) = get_post(publish(uuid4())), (uuid4(), uuid4())
    # The first of each also makes the numbers of the partition.
    like(uuid4(), post, "like")
    thread = comment_on(uuid4(), post)
    acts: dict[str, Callable[[], object]] = {
        "a like": lambda: like(ann, post, "like"),
        "another type": lambda: like(ann, post, "love"),
        "the same form again": lambda: like(ann, post, "love"),
        "taken back": lambda: like(ann, post, ""),
        "a comment": lambda: comment_on(ann, post),
        "a reply": lambda: comment_on(ben, post, thread),
    }
    for name, act in acts.items():
        _print_cost(name, act)
    likes.GROW.apply(if_lost=REFUSED_MEANS_DONE, post_id=post.post_id, total=POPULAR_PARTITIONS)
    _print_cost("a popular post's", lambda: like(ben, post, "like"))


def _print_cost(name: str, act: Callable[[], object]) -> None:
    began = perf_counter()
    with count_statements() as meter:
        act()
    seconds = perf_counter() - began
    print(
        f"{name:20}{meter.statement_count:4} statements: {meter.read_count} reads, {meter.write_count} writes, "
        f"{meter.conditional_write_count} conditional, in {meter.round_count} rounds, {seconds * 1000:.0f} ms"
    )


def get_post(post_id: UUID) -> Post:
    """Return the post as it is now."""
    from posts import queries

    post = queries.get_post(post_id)
    if post is None:
        raise RuntimeError(f"there is no post {post_id}")
    return post


def like(user_id: UUID, post: Post, like_type: str) -> None:
    """Send a like as the page does."""
    from posts.operations.likes import set_like

    set_like(user_id, post, like_type, change_id=uuid4(), now=current_time())


def comment_on(user_id: UUID, post: Post, thread: Comment | None = None) -> Comment:
    """Send a comment, or a reply, as the page does."""
    from cassandra.util import uuid_from_time

    from posts.entities import CommentInput
    from posts.operations.comments import write_comment

    return write_comment(
        post,
        user_id,
        CommentInput(
            "How warm it looks!", name="Ben T.", thread_id=thread.thread_id if thread else None
        ),
        comment_id=uuid_from_time(current_time()),
        change_id=uuid4(),
        now=current_time(),
    )


def let_people_act(post_id: UUID, people: int, acts: int) -> dict[str, Any]:
    """Let people act on a post, each in a thread. Return the seconds that it took, and those of each act."""
    post, began = get_post(post_id), perf_counter()

    def be_person(number: int) -> list[float]:
        user_id, random, took = uuid4(), Random(number), list[float]()
        for act in range(acts):
            sleep(random.uniform(4, 8))
            said, started = ACTS[act % len(ACTS)], perf_counter()
            if said == COMMENT:
                comment_on(user_id, post)
            else:
                like(user_id, post, said)
            took.append(perf_counter() - started)
        return took

    with ThreadPoolExecutor(people) as pool:
        took = [each for person in pool.map(be_person, range(people)) for each in person]
    return {"seconds": perf_counter() - began, "took": took}


def _report(
    post_id: UUID,
    people: int,
    acts: int,
    found: dict[str, Any],
    without: list[float],
    meanwhile: list[float],
) -> int:
    from posts.operations.sums import count_sums

    said = [ACTS[act % len(ACTS)] for act in range(acts)]
    last = [each for each in said if each != COMMENT][-1:]
    expected = Counter({each: people for each in last if each}), people * said.count(COMMENT)
    stored, counted = get_post(post_id).sums, count_sums(post_id)
    numbers = [
        (+Counter(each.like_counts), each.comment_count) for each in (stored, counted) if each
    ]
    quiet, busy, count = percentile(without, 0.95), percentile(meanwhile, 0.95), people * acts
    print(f"acts              {count:8,} in {found['seconds']:.0f} s")
    print(f"an act, median    {percentile(found['took'], 0.5):8.1f} ms")
    print(f"product page, p95 {quiet:10.1f} ms without, {busy:.1f} ms meanwhile")
    missed = []
    if numbers != [expected, expected]:
        missed.append(f"the numbers are {numbers} instead of {expected}")
    if busy > MOST_SLOWER * quiet:
        missed.append(f"the page was {busy / quiet:.2f} times as slow")
    return report_missed(missed)


if __name__ == "__main__":
    raise SystemExit(main())
