"""Loads the demo shop's posts: thirty by twelve people, with their likes, comments and follows."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from cassandra.util import uuid_from_time

from accounts.operations import register_user
from cassandra_db import RAISE_UNKNOWN, current_time, truncate_to_milliseconds
from catalogue.photos import take_in_photo
from demo.catalogue_data import (
    NAMESPACE,
    PHOTOGRAPHS,
    PRODUCTS,
    demo_product_id,
    demo_variant_id,
    read_data_file,
)
from demo.loader import do_again_if_late
from demo.logins import LOGINS
from moderation.rules import shown_name
from moderation.states import PUBLISHED
from posts import queries
from posts.entities import Comment, CommentInput, Post, ShownProduct
from posts.operations.comments import write_comment
from posts.operations.copies import refresh_post
from posts.operations.follows import set_follow
from posts.operations.likes import set_like
from posts.operations.posts import INSERT_POST
from posts.operations.profiles import save_profile
from posts.rules import LIKE_TYPES

_DATA = read_data_file("posts")
_PRODUCTS = {each.key: each for each in PRODUCTS}
# The time between two comments.
_PAUSE = timedelta(minutes=25)
_NODE = 2**48 - 1


def load_posts(now: datetime, count: int | None = None) -> int:
    """Add the demo shop's posts that are missing, the newest `count` or all, with all that is under them. Return how many there are.

    Raises CassandraUnavailable, and the errors of the picture storage.
    """
    people = {each["name"]: _make_id(each["handle"]) for each in _DATA["person"]}
    people |= {login.name: login.user_id for login in LOGINS}
    by_handle = {each["handle"]: people[each["name"]] for each in _DATA["person"]}
    for each in _DATA["person"]:
        do_again_if_late(partial(_load_person, each, now))
    for name, handles in _DATA["follows"].items():
        for handle in handles:
            do_again_if_late(partial(_follow, people[name], by_handle[handle], now))
    newest = _DATA["post"][:count]
    for each in reversed(newest):
        do_again_if_late(partial(_load_post, each, people, now))
    return len(newest)


def _make_id(key: str) -> UUID:
    return uuid5(NAMESPACE, f"person {key}")


def _load_person(each: Mapping[str, Any], now: datetime) -> None:
    """Create a person's account, with which nobody can log in, and their profile."""
    user_id, handle = _make_id(each["handle"]), each["handle"]
    email = f"{handle}@people.shop.example"
    register_user(email, each["name"], None, now, login="refused", user_id=user_id)
    if queries.get_profile(user_id) is None:
        change_id = uuid5(user_id, "profile")
        save_profile(user_id, handle, each["about"], is_public=True, seen=0, change_id=change_id)


def _follow(user_id: UUID, followed_id: UUID, now: datetime) -> None:
    change_id = uuid5(user_id, f"follow {followed_id.hex}")
    set_follow(user_id, followed_id, follows=True, change_id=change_id, now=now)


def _load_post(each: Mapping[str, Any], people: Mapping[str, UUID], now: datetime) -> None:
    """Add a post unless its author has shown the picture already; then add what is missing under it."""
    author_id, key = people[each["who"]], f"post {each['picture']}"
    change_id = uuid5(author_id, key)
    own = queries.get_posts(queries.list_post_ids_of(author_id)).values()
    post = next((post for post in own if post.change_id == change_id), None)
    post = post or _write_post(each, author_id, change_id, now)
    if post.sums.like_count < sum(each["likes"].values()):
        _load_likes(each, post, people)
    if post.sums.comment_count < len(each["comments"]):
        _load_comments(each, post, people)


def _write_post(each: Mapping[str, Any], author_id: UUID, change_id: UUID, now: datetime) -> Post:
    """Write a post that the staff have published at once, as of some hours ago."""
    at = truncate_to_milliseconds(now - timedelta(hours=each["hours_ago"]))
    file = PHOTOGRAPHS / f"scene-post-{each['picture']}.avif"
    picture = str(take_in_photo(file.read_bytes(), file.name, change_id.hex))
    post = Post(
        post_id=uuid_from_time(at),
        product_id=author_id,
        user_id=author_id,
        name=shown_name(each["who"]),
        body=each["text"],
        tags=tuple(each["tags"]),
        products=tuple(_find_product(entry) for entry in each["products"]),
        pictures=(picture,),
        picture_count=1,
        alts={picture: each["alt"]},
        state=PUBLISHED,
        version=1,
        change_id=change_id,
        written_at=at,
        published_at=at,
    )
    INSERT_POST.apply(if_lost=RAISE_UNKNOWN, **post.columns())
    refresh_post(post.post_id)
    return post


def _find_product(entry: str) -> ShownProduct:
    """Return the product with this key, in the first variant that has the colour's code."""
    key, _, code = entry.partition(" ")
    product = _PRODUCTS[key]
    skus = [each.sku for each in product.variants if not code or code in each.sku.split("-")]
    return ShownProduct(demo_product_id(key), demo_variant_id(skus[0]))


def _load_likes(each: Mapping[str, Any], post: Post, people: Mapping[str, UUID]) -> None:
    """Let others like a post: so many by each type, always the same people."""
    others = sorted(
        (user_id for name, user_id in people.items() if name != each["who"]),
        key=lambda user_id: uuid5(post.change_id, user_id.hex),
    )
    types = [each_type for each_type in LIKE_TYPES for _ in range(each["likes"].get(each_type, 0))]
    for user_id, like_type in zip(others, types, strict=False):
        change_id = uuid5(post.change_id, f"like {user_id.hex}")
        set_like(user_id, post, like_type, change_id=change_id, now=current_time())


def _load_comments(each: Mapping[str, Any], post: Post, people: Mapping[str, UUID]) -> None:
    written: list[Comment] = []
    for number, (name, text, *answers) in enumerate(each["comments"]):
        at = post.written_at + (number + 1) * _PAUSE
        thread = written[answers[0]].thread_id if answers else None
        # The id is the same in each load, so that no comment is written twice.
        author = people[name]
        written.append(
            write_comment(
                post,
                author,
                CommentInput(text, name=shown_name(name), thread_id=thread),
                comment_id=uuid_from_time(at, author.int & _NODE, number),
                change_id=uuid5(post.change_id, f"comment {number}"),
                now=at,
            )
        )
