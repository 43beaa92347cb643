"""Lists of posts: the newest and the popular ones, those with a tag, and those that show a product."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from cassandra_db.errors import InvalidPageToken
from catalogue.queries import prefetch_categories, prefetch_product
from moderation.pages import product_on_sale_from_rows, require_product_id
from posts import queries
from posts.entities import Post
from posts.people import Person, name_person
from posts.queries import PendingPage, PostIds, PostList
from storefront.whole_pages import whole_page
from web.decorators import public
from web.rendering import render_page

# How many posts of a list a wide window shows beside each other: their pictures are loaded at once.
_FIRST_ROW = 4


@dataclass(frozen=True)
class PostCard:
    """A post as a list shows it."""

    post: Post
    person: Person
    is_eager: bool = False
    is_first: bool = False


def begin_page(request: HttpRequest, of: PostList) -> PendingPage:
    """Start reading the page of a list that a request asks for. Raises Http404 for a token that the shop has not made."""
    try:
        return queries.prefetch_page(of, request.GET.get("after", ""))
    except InvalidPageToken as error:
        raise Http404 from error


class PendingCards:
    """The posts of a page that are being read with their authors, in one round."""

    def __init__(self, page: PostIds, of: PostList) -> None:
        self._page, self._list = page, of
        self._posts = queries.prefetch_posts(page.ids)
        self._profiles = queries.prefetch_profiles(page.authors.values())

    def collect(self) -> list[PostCard]:
        """Return the posts, without those that have left the list. Raises CassandraUnavailable."""
        posts = queries.posts_from_results(self._posts)
        profiles = queries.profiles_from_results(self._profiles)
        shown = [posts[each] for each in self._page.ids if each in posts]
        shown = [post for post in shown if _is_in(self._list, post)]
        return [
            PostCard(
                post,
                name_person(post.user_id, post.name, profiles),
                is_eager=place < _FIRST_ROW,
                is_first=place == 0,
            )
            for place, post in enumerate(shown)
        ]


def _is_in(of: PostList, post: Post) -> bool:
    """Return whether a post still belongs to a list: the list's row may be older than the post."""
    if not post.is_public:
        return False
    if of.kind == "tag":
        return of.key in post.tags
    return of.kind != "product" or any(each.product_id == of.key for each in post.products)


def list_context(page: PostIds, of: PostList, address: str, **parameters: str) -> dict[str, Any]:
    """Return what a list of posts shows. `address` and `parameters` are the list's own. Raises CassandraUnavailable."""
    query = urlencode({**parameters, "after": page.next_token})
    return {
        "cards": PendingCards(page, of).collect(),
        "next_url": f"{address}?{query}" if page.next_token else "",
    }


def render_posts(
    request: HttpRequest, reading: PendingPage, of: PostList, context: Mapping[str, Any]
) -> HttpResponse:
    """Return the page of a list, or for htmx the next part of it. The address is the one that was asked for."""
    parameters = {"popular": ""} if "popular" in request.GET else {}
    listed = list_context(reading.collect(), of, request.path, **parameters)
    return render_page(request, "posts/list.html", {**context, **listed}, part="more")


@require_safe
@whole_page("popular", "after")
@public
def newest_posts(request: HttpRequest) -> HttpResponse:
    """Show all posts, newest first, or the popular ones of this week."""
    prefetch_categories()
    is_popular = "popular" in request.GET
    of = queries.POPULAR if is_popular else queries.NEWEST
    reading = begin_page(request, of)
    context = {
        "kind": of.kind,
        "is_first": "after" not in request.GET,
        "nav_current": reverse("posts:newest"),
    }
    return render_posts(request, reading, of, context)


@require_safe
@whole_page("after")
@public
def tagged_posts(request: HttpRequest, tag: str) -> HttpResponse:
    """Show the posts with a tag, newest first."""
    if tag != tag.casefold():
        return redirect("posts:tag", tag.casefold(), permanent=True)
    prefetch_categories()
    of = queries.posts_with_tag(tag)
    return render_posts(request, begin_page(request, of), of, {"kind": of.kind, "tag": tag})


@require_safe
@whole_page("after")
@public
def product_posts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the posts that show a product, newest first."""
    prefetch_categories()
    product_id = require_product_id(slug)
    of = queries.posts_with_product(product_id)
    reading, reading_product = begin_page(request, of), prefetch_product(product_id)
    product = product_on_sale_from_rows(reading_product.rows())
    if product.slug != slug:
        return redirect("posts:of_product", product.slug, permanent=True)
    return render_posts(request, reading, of, {"kind": of.kind, "product": product})


def require_time_id(given: UUID) -> UUID:
    """Return an id of an address if it is time-based. Raises Http404."""
    if given.version != 1:
        raise Http404
    return given
