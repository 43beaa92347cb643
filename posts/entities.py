"""A post, a comment and a profile, as pages and operations use them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from cassandra.util import datetime_from_uuid1

from moderation.states import PUBLISHED, WITHDRAWN
from moderation.texts import ModeratedText
from posts.partitions import FIRST_PARTITION


def get_moment(time_id: UUID) -> datetime:
    """Return the time of a time-based id, in UTC."""
    found: datetime = datetime_from_uuid1(time_id)
    return found.replace(tzinfo=UTC)


@dataclass(frozen=True)
class ShownProduct:
    """A product on a post, and the variant that its picture shows."""

    product_id: UUID
    variant_id: UUID


@dataclass(frozen=True)
class PostSums:
    """The numbers below a post. `counted` is when they were counted, in microseconds since 1970; 0: never."""

    like_count: int = 0
    like_counts: Mapping[str, int] = field(default_factory=dict)
    comment_count: int = 0
    counted: int = 0


@dataclass(frozen=True, kw_only=True)
class Post(ModeratedText):
    """A post of a member. `version` goes up with each change; `sums` do not belong to it."""

    post_id: UUID
    tags: tuple[str, ...] = ()
    products: tuple[ShownProduct, ...] = ()
    pictures: tuple[str, ...] = ()
    new_pictures: tuple[str, ...] = ()
    former_pictures: tuple[str, ...] = ()
    alts: Mapping[str, str] = field(default_factory=dict)
    picture_count: int = 0
    edited_at: datetime | None = None
    published_at: datetime | None = None
    comment_partition: int = 0
    sums: PostSums = PostSums()

    @property
    def text_id(self) -> UUID:
        """The id of the post."""
        return self.post_id

    @property
    def is_public(self) -> bool:
        """Whether everybody sees the post."""
        return self.state == PUBLISHED and bool(self.pictures)

    @property
    def is_gone(self) -> bool:
        """Whether its author has deleted it."""
        return self.state == WITHDRAWN

    @property
    def own_pictures(self) -> tuple[str, ...]:
        """All pictures of the post, the published ones first."""
        return (*self.pictures, *self.new_pictures)

    @property
    def is_complete(self) -> bool:
        """Whether the worker has decoded all pictures that the form sent."""
        return len(self.own_pictures) >= self.picture_count

    @property
    def year(self) -> int:
        """The year of its partition in the lists, in UTC."""
        return get_moment(self.post_id).year

    @property
    def month(self) -> date:
        """The first day of the month of its partition, in UTC."""
        return get_moment(self.post_id).date().replace(day=1)

    def without_pictures(self, removed: Collection[str]) -> Post:
        """Return the post without these pictures; the worker deletes their files."""
        gone = tuple(each for each in self.own_pictures if each in removed)
        return replace(
            self,
            pictures=tuple(each for each in self.pictures if each not in removed),
            new_pictures=tuple(each for each in self.new_pictures if each not in removed),
            former_pictures=(*self.former_pictures, *gone),
            picture_count=max(self.picture_count - len(gone), 0),
        )

    def columns(self) -> dict[str, Any]:
        """Return the values of the post's row, keyed by column, without the sums."""
        values = ModeratedText.columns(replace(self, products=()))
        del values["sums"], values["product_id"]
        values["products"] = json.dumps(
            [[each.product_id.hex, each.variant_id.hex] for each in self.products]
        )
        values["alts"] = json.dumps(dict(self.alts))
        return values


@dataclass(frozen=True, kw_only=True)
class PostInput:
    """A post as its author sends it, with the shop's findings about it.

    `alts` are the pictures' descriptions: by the name of a picture that the post has, or by the salt (pictures.make_salt) of one
    that is still an upload.
    """

    body: str
    tags: tuple[str, ...] = ()  # casefolded
    products: tuple[ShownProduct, ...] = ()
    alts: Mapping[str, str] = field(default_factory=dict)
    # The reason why the staff must read the words first, or "". A new post waits for its pictures anyway.
    held_for: str = ""


@dataclass(frozen=True, kw_only=True)
class Comment(ModeratedText):
    """A comment on a post, or a reply to one. `product_id` is the post's id."""

    partition: int
    thread_id: UUID
    comment_id: UUID
    edited_at: datetime | None = None

    @property
    def text_id(self) -> UUID:
        """The id of the comment."""
        return self.comment_id

    @property
    def post_id(self) -> UUID:
        """The post that it is about."""
        return self.product_id

    @property
    def is_reply(self) -> bool:
        """Whether it answers another comment."""
        return self.comment_id != self.thread_id

    @property
    def is_counted(self) -> bool:
        """Whether everybody sees it."""
        return self.state == PUBLISHED


@dataclass(frozen=True)
class CommentInput:
    """A comment as its writer sends it, with the shop's findings about it. A reply names its thread and the thread's partition."""

    body: str
    name: str  # of the writer, as the public sees it
    thread_id: UUID | None = None
    partition: int = 0
    # The reason why the staff must read it first, or "".
    held_for: str = ""


@dataclass(frozen=True)
class Thread:
    """A comment with its replies, oldest reply first. `first` is None if only replies are left to show."""

    thread_id: UUID
    first: Comment | None
    replies: tuple[Comment, ...]


@dataclass(frozen=True)
class Like:
    """What a person has said of a post: one of rules.LIKE_TYPES, or "" (nothing). `change_ids` are of the last forms, newest first."""

    post_id: UUID
    like_type: str
    version: int = 0
    partition: int = FIRST_PARTITION
    liked_at: datetime | None = None
    change_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Profile:
    """A member's profile. One that is not public has no page, and is shown by its name alone."""

    user_id: UUID
    handle: str
    about: str
    is_public: bool
    name: str
    version: int = 0
    change_id: UUID | None = None
    former_handles: tuple[str, ...] = ()
