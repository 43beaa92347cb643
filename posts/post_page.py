"""The page of a post: what it shows, read in two rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.bell import get_request_bell
from cassandra_db.errors import InvalidPageToken
from moderation.states import PUBLISHED
from posts import comment_queries, like_queries, queries
from posts.comment_queries import ThreadPage
from posts.entities import Comment, Post, Profile
from posts.forms import CommentForm
from posts.people import Person, name_person
from posts.rules import LIKE_TYPES
from posts.shop_products import PendingShopProducts
from posts.states import HIDDEN
from posts.structured_data import PostHead
from web.types import StrOrPromise

# How many people who like a post are named.
_NAMED = 2


@dataclass(frozen=True)
class LikeButton:
    """A button of the likes. `value` is what it sends: the type, or "" where it takes the like back."""

    like_type: str
    label: StrOrPromise
    count: int
    is_chosen: bool

    @property
    def value(self) -> str:
        return "" if self.is_chosen else self.like_type


@dataclass(frozen=True)
class ShownComment:
    """A comment as a viewer sees it."""

    comment: Comment
    person: Person
    is_own: bool
    can_hide: bool
    can_report: bool

    @property
    def is_hidden(self) -> bool:
        return self.comment.state == HIDDEN

    @property
    def is_public(self) -> bool:
        return self.comment.state == PUBLISHED


@dataclass(frozen=True)
class ShownThread:
    """A comment with its replies. `first` is None if it is deleted or not shown."""

    thread_id: UUID
    first: ShownComment | None
    replies: Sequence[ShownComment]
    form: CommentForm | None


class PostPage:
    """The page of a post. The first round of reads begins with it, the second one with `context`."""

    def __init__(self, request: HttpRequest, post_id: UUID) -> None:
        if post_id.version != 1:
            raise Http404
        self.request, self.post_id = request, post_id
        self.user_id = get_request_bell(request).user_id
        self._after = request.GET.get("after", "")
        self._reading = queries.prefetch_post(post_id)
        self._threads = self._start_threads(0)
        self._likers = like_queries.prefetch_likers(post_id)
        self._own_like = (
            like_queries.prefetch_likes_of(self.user_id, [post_id]) if self.user_id else None
        )

    def _start_threads(self, partition: int) -> comment_queries.PendingThreads:
        try:
            return comment_queries.prefetch_threads(self.post_id, partition, self._after)
        except InvalidPageToken as error:
            raise Http404 from error

    @cached_property
    def post(self) -> Post:
        """The post, if everybody sees it. Raises Http404, CassandraUnavailable."""
        post = queries.post_from_row(self._reading.one())
        if post is None or not post.is_public:
            raise Http404
        return post

    @property
    def is_author(self) -> bool:
        return self.post.user_id == self.user_id

    def context(self, form: CommentForm | None = None) -> dict[str, Any]:
        """Return what the page shows. `form` is a comment that was refused. Raises Http404, CassandraUnavailable."""
        post = self.post
        products = PendingShopProducts(post.products)
        if post.comment_partition and not self._after:
            self._threads = self._start_threads(post.comment_partition)
        page = self._threads.collect(self.user_id, post.user_id)
        likers = like_queries.likers_from_rows(self._likers.rows(), 2 * _NAMED)
        people = {post.user_id, *likers, *comment_queries.list_writers(page.threads)}
        profiles = queries.get_profiles(people)
        person, shown = name_person(post.user_id, post.name, profiles), products.collect()
        return {
            "post": post,
            "person": person,
            "head": PostHead(post, person, shown),
            "is_author": self.is_author,
            "is_member": self.user_id is not None,
            "products": shown,
            "buyable_count": sum(each.is_buyable for each in shown),
            "like_buttons": self._list_like_buttons(),
            "likers": describe_likers(likers, profiles, post.sums.like_count),
            "form": form,
            **self._comments(page, profiles, form),
        }

    def _list_like_buttons(self) -> list[LikeButton]:
        own = like_queries.likes_from_rows(self._own_like.rows()) if self._own_like else {}
        mine = own[self.post_id].like_type if self.post_id in own else ""
        counts = self.post.sums.like_counts
        return [
            LikeButton(like_type, label, counts.get(like_type, 0), like_type == mine)
            for like_type, label in LIKE_TYPES.items()
        ]

    def _comments(
        self, page: ThreadPage, profiles: dict[UUID, Profile], form: CommentForm | None
    ) -> dict[str, Any]:
        ids = {str(each.thread_id) for each in page.threads}
        replied_to = str(form["thread"].value()) if form else ""
        is_reply = replied_to in ids
        threads = []
        for thread in page.threads:
            first = self._show(thread.first, profiles) if thread.first else None
            replies = [self._show(each, profiles) for each in thread.replies]
            partition = (thread.first or thread.replies[0]).partition
            own_form = (
                form
                if replied_to == str(thread.thread_id)
                else CommentForm.for_thread(self.user_id, thread.thread_id, partition)
                if self.user_id
                else None
            )
            threads.append(ShownThread(thread.thread_id, first, replies, own_form))
        address = reverse("posts:post", args=(self.post_id,))
        query = urlencode({"after": page.next_token})
        return {
            "threads": threads,
            "comment_form": (form if not is_reply else None)
            or (CommentForm.for_thread(self.user_id) if self.user_id else None),
            "next_url": f"{address}?{query}" if page.next_token else "",
            "is_first_page": not self._after,
        }

    def _show(self, comment: Comment, profiles: dict[UUID, Profile]) -> ShownComment:
        is_own = comment.user_id == self.user_id
        return ShownComment(
            comment,
            name_person(comment.user_id, comment.name, profiles),
            is_own=is_own,
            can_hide=self.is_author and comment.state in (PUBLISHED, HIDDEN),
            can_report=self.user_id is not None and not is_own and comment.state == PUBLISHED,
        )


def describe_likers(likers: Sequence[UUID], profiles: dict[UUID, Profile], total: int) -> str:
    """Return who likes a post, such as "Ann L. and 11 others like this". Only people with a public profile are named."""
    public = [profiles[each] for each in likers if each in profiles and profiles[each].is_public]
    names = [each.name or each.handle for each in public][: min(_NAMED, total)]
    others = total - len(names)
    if not names:
        return (
            ngettext("%(count)d person likes this", "%(count)d people like this", total)
            % {"count": total}
            if total
            else ""
        )
    named = _(" and ").join(names) if not others else ", ".join(names)
    if not others:
        return ngettext("%(names)s likes this", "%(names)s like this", len(names)) % {
            "names": named
        }
    return ngettext(
        "%(names)s and %(count)d other like this",
        "%(names)s and %(count)d others like this",
        others,
    ) % {"names": named, "count": others}
