"""Posts, comments and profiles as pages need them."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from accounts.models import User
from cassandra_db import current_time
from catalogue.entities import Product
from moderation.rules import shown_name
from posts.entities import Comment, CommentInput, Post, ShownProduct
from posts.operations.comments import write_comment
from posts.operations.posts import change_post
from posts.operations.profiles import save_profile
from posts.time_ids import make_form_id


def change(post: Post, *products: Product, **values: Any) -> Post:
    """Let a post show these products, and have other values."""
    if products:
        values["products"] = tuple(
            ShownProduct(each.product_id, each.variants[0].variant_id) for each in products
        )
    return change_post(
        post.post_id,
        lambda before: replace(before, **values),
        seen=post.version,
        change_id=uuid4(),
        now=current_time(),
    )


def add_comment(
    post: Post, user: User, body: str, *, held_for: str = "", thread: UUID | None = None
) -> Comment:
    """Comment on a post."""
    return write_comment(
        post,
        user.user_id,
        CommentInput(body, name=shown_name(user.name), thread_id=thread, held_for=held_for),
        comment_id=make_form_id(user.user_id),
        change_id=uuid4(),
        now=current_time(),
    )


def make_profile(user: User, handle: str = "", *, is_public: bool = True, seen: int = 0) -> str:
    """Give a person a profile, or change the one with the version `seen`; return its handle."""
    handle = handle or f"p{uuid4().hex[:20]}"
    save_profile(
        user.user_id, handle, "I like bowls.", is_public=is_public, seen=seen, change_id=uuid4()
    )
    return handle
