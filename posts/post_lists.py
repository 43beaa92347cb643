"""Lists of posts as pages show them."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest
from django.utils.http import urlencode

from cassandra_db.errors import InvalidPageToken
from posts import queries
from posts.entities import Post
from posts.people import Person, name_person
from posts.queries import PendingPage, PostIds, PostList

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
