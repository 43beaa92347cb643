"""Reads of posts, their lists, and profiles (L1, L2, L9)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from cassandra.util import max_uuid_from_time

from cassandra_db import (
    LOCAL_ONE,
    PendingResult,
    Row,
    current_time,
    page_key,
    page_token,
    read,
    scan,
)
from moderation.states import PUBLISHED, WITHDRAWN
from posts.entities import Post, PostSums, Profile, ShownProduct, get_moment
from posts.handles import fold_handle
from posts.rules import PAGE_LENGTH

# No post is older.
FIRST_YEAR = 2025
WEEK = "week"
# The partitions of a list that are read at once: at first, and while the page is not full.
_FIRST_AT_ONCE, _NEXT_AT_ONCE = 2, 12

_POST = """SELECT post_id, user_id, name, body, tags, products, pictures, new_pictures, former_pictures, alts, picture_count,
       state, version, change_id, written_at, edited_at, published_at, queued_at, held_for, refusal, decided_at, reporters,
       comment_partition, like_count, like_counts, comment_count, counted FROM posts"""
# L1: a post with its sums; all posts, for the consistency check.
POST = read("L1", f"{_POST} WHERE post_id = :post_id")
POSTS = scan(
    "L1", "SELECT post_id FROM posts WHERE token(post_id) > :start AND token(post_id) <= :end"
)
# L2: a page of each list; a post's row in each list.
BY_USER = read(
    "L2",
    """SELECT post_id, user_id, state FROM posts_by_user
       WHERE user_id = :user_id AND year = :year AND post_id < :before LIMIT :most""",
)
BY_PRODUCT = read(
    "L2",
    """SELECT post_id, user_id FROM posts_by_product
       WHERE product_id = :product_id AND year = :year AND post_id < :before LIMIT :most""",
    consistency=LOCAL_ONE,
)
BY_TAG = read(
    "L2",
    """SELECT post_id, user_id FROM posts_by_tag
       WHERE tag = :tag AND year = :year AND post_id < :before LIMIT :most""",
    consistency=LOCAL_ONE,
)
BY_MONTH = read(
    "L2",
    """SELECT post_id, user_id FROM posts_by_month
       WHERE month = :month AND post_id < :before LIMIT :most""",
    consistency=LOCAL_ONE,
)
POPULAR_POSTS = read(
    "L2",
    "SELECT rank, post_id, user_id, likes FROM popular_posts WHERE period = :period",
    consistency=LOCAL_ONE,
)
_PROFILE = """SELECT user_id, handle, former_handles, about, is_public, name, version, change_id FROM profiles"""
# L9: a person's profile; who has a handle.
PROFILE = read("L9", f"{_PROFILE} WHERE user_id = :user_id")
BY_HANDLE = read(
    "L9", "SELECT handle_key, user_id FROM people_by_handle WHERE handle_key = :handle_key"
)
# The posts whose copies, pictures or sums may be behind.
PENDING = read(
    "L1",
    "SELECT minute, post_id, what, written FROM pending_posts_by_minute WHERE minute = :minute",
)


def post_from_row(row: Row | None) -> Post | None:
    """Return a row of `posts` as a post; None without a row, or for a row that has only sums."""
    if row is None or row.state is None:
        return None
    products = tuple(
        ShownProduct(UUID(product), UUID(variant))
        for product, variant in json.loads(row.products or "[]")
    )
    return Post(
        post_id=row.post_id,
        product_id=products[0].product_id if products else row.post_id,
        user_id=row.user_id,
        name=row.name or "",
        body=row.body or "",
        tags=_split(row.tags),
        products=products,
        pictures=_split(row.pictures),
        new_pictures=_split(row.new_pictures),
        former_pictures=_split(row.former_pictures),
        alts=json.loads(row.alts or "{}"),
        picture_count=row.picture_count or 0,
        state=row.state,
        version=row.version,
        change_id=row.change_id,
        written_at=row.written_at,
        edited_at=row.edited_at,
        published_at=row.published_at,
        queued_at=row.queued_at,
        held_for=row.held_for or "",
        refusal=row.refusal or "",
        decided_at=row.decided_at,
        reporters=_split(row.reporters),
        comment_partition=row.comment_partition or 0,
        sums=PostSums(
            row.like_count or 0,
            json.loads(row.like_counts or "{}"),
            row.comment_count or 0,
            row.counted or 0,
        ),
    )


def _split(names: str | None) -> tuple[str, ...]:
    return tuple((names or "").split())


def prefetch_post(post_id: UUID) -> PendingResult:
    """Start reading a post, for `post_from_row`."""
    return POST.start(post_id=post_id)


def get_post(post_id: UUID) -> Post | None:
    """Return a post in any state, or None. Raises CassandraUnavailable."""
    return post_from_row(prefetch_post(post_id).one())


def prefetch_posts(post_ids: Iterable[UUID]) -> list[PendingResult]:
    """Start reading posts in one round, for `posts_from_results`."""
    return [prefetch_post(each) for each in dict.fromkeys(post_ids)]


def posts_from_results(reading: Iterable[PendingResult]) -> dict[UUID, Post]:
    """Return the posts, in any state, keyed by id. Raises CassandraUnavailable."""
    found = (post_from_row(pending.one()) for pending in reading)
    return {post.post_id: post for post in found if post}


def get_posts(post_ids: Iterable[UUID]) -> dict[UUID, Post]:
    """Return posts in any state, keyed by id. Raises CassandraUnavailable."""
    return posts_from_results(prefetch_posts(post_ids))


@dataclass(frozen=True)
class PostList:
    """A list of posts: its kind, and the tag or the id that it belongs to. `states` restricts a person's list."""

    kind: str
    key: str | UUID = ""
    states: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The list's name in page tokens."""
        return f"L2 {self.kind} {self.key}"

    def has_row(self, row: Row) -> bool:
        """Return whether the list shows this row."""
        return (not self.states or row.state in self.states) and (
            not self.hides or row.state not in self.hides
        )

    def list_partitions(self, newest: datetime) -> list[date]:
        """Return the first days of the list's years or months up to the one with `newest`, the newest first."""
        months = range(12, 0, -1) if self.kind == "newest" else (1,)
        first_days = (
            date(year, month, 1)
            for year in range(newest.year, FIRST_YEAR - 1, -1)
            for month in months
        )
        return [each for each in first_days if each <= newest.date()]

    def start(self, partition: date, before: UUID, most: int) -> PendingResult:
        """Start reading the rows of a partition that are older than `before`."""
        where = {"before": before, "most": most}
        match self.kind:
            case "newest":
                return BY_MONTH.start(month=partition, **where)
            case "tag":
                return BY_TAG.start(tag=self.key, year=partition.year, **where)
            case "product":
                return BY_PRODUCT.start(product_id=self.key, year=partition.year, **where)
            case _:
                return BY_USER.start(user_id=self.key, year=partition.year, **where)


NEWEST = PostList("newest")
POPULAR = PostList("popular")
# It is read by posts.feed.
FEED = PostList("following")


def posts_with_tag(tag: str) -> PostList:
    """Return the list of the published posts with a tag, which is casefolded."""
    return PostList("tag", tag)


def posts_with_product(product_id: UUID) -> PostList:
    """Return the list of the published posts that show a product."""
    return PostList("product", product_id)


def posts_of_person(user_id: UUID) -> PostList:
    """Return the list of a person's published posts."""
    return PostList("person", user_id, states=(PUBLISHED,))


def own_posts(user_id: UUID) -> PostList:
    """Return the list of a member's posts as the member sees it: in all states but WITHDRAWN."""
    return PostList("own", user_id, hides=(WITHDRAWN,))


@dataclass(frozen=True)
class PostIds:
    """A page of a list: the posts' ids, their authors by post id, and the token of the next page; "" at the end."""

    ids: tuple[UUID, ...]
    next_token: str
    authors: Mapping[UUID, UUID]


class PendingPage:
    """A page of a list that is being read."""

    def __init__(self, of: PostList, after: str, most: int) -> None:
        self._list, self._most = of, most
        key = page_key(after, of.name)[0] if after else None
        self._start = int(key or 0) if of is POPULAR else 0
        newest = current_time() + timedelta(minutes=1)
        self._before: UUID = key if isinstance(key, UUID) else max_uuid_from_time(newest)
        self._left = [] if of is POPULAR else of.list_partitions(get_moment(self._before))
        self._reading = (
            [POPULAR_POSTS.start(period=WEEK)] if of is POPULAR else self._read(_FIRST_AT_ONCE)
        )

    def _read(self, count: int) -> list[PendingResult]:
        return [self._list.start(each, self._before, self._most + 1) for each in self._left[:count]]

    def collect(self) -> PostIds:
        """Return the page. If it is not full, go on in earlier months or years, twelve at once. Raises CassandraUnavailable."""
        if self._list is POPULAR:
            return self._collect_popular()
        found: list[Row] = []
        while self._reading and len(found) <= self._most:
            found += self._take_rows()
            self._reading = self._read(_NEXT_AT_ONCE) if len(found) <= self._most else []
        shown = found[: self._most]
        has_more = len(found) > self._most
        token = page_token([shown[-1].post_id], self._list.name) if has_more else ""
        return _make_page(shown, token)

    def _take_rows(self) -> Iterator[Row]:
        """Yield the rows that were read, up to the first partition that may have more."""
        for pending in self._reading:
            rows = pending.rows()
            yield from (row for row in rows if self._list.has_row(row))
            if len(rows) > self._most:
                self._before = rows[-1].post_id
                return
            del self._left[0]

    def _collect_popular(self) -> PostIds:
        rows, end = self._reading[0].rows(), self._start + self._most
        return _make_page(
            rows[self._start : end], page_token([end], self._list.name) if len(rows) > end else ""
        )


def _make_page(rows: list[Row], token: str) -> PostIds:
    return PostIds(
        tuple(row.post_id for row in rows), token, {row.post_id: row.user_id for row in rows}
    )


def prefetch_page(of: PostList, after: str = "", most: int = PAGE_LENGTH) -> PendingPage:
    """Start reading a page of a list of posts. Raises InvalidPageToken.

    The page still has to leave out posts that are not public, or have left the list, which the posts themselves tell.
    """
    return PendingPage(of, after, most)


def list_post_ids_of(user_id: UUID) -> list[UUID]:
    """Return the ids of all posts of a person, in any state. Raises CassandraUnavailable."""
    page = PendingPage(PostList("all", user_id), "", 1_000_000)
    return list(page.collect().ids)


def profile_from_row(row: Row | None) -> Profile | None:
    """Return a row of `profiles` as a profile; None without a row."""
    if row is None or row.version is None:
        return None
    return Profile(
        user_id=row.user_id,
        handle=row.handle or "",
        about=row.about or "",
        is_public=bool(row.is_public),
        name=row.name or "",
        version=row.version,
        change_id=row.change_id,
        former_handles=_split(row.former_handles),
    )


def prefetch_profiles(user_ids: Iterable[UUID]) -> list[PendingResult]:
    """Start reading profiles in one round, for `profiles_from_results`."""
    return [PROFILE.start(user_id=each) for each in dict.fromkeys(user_ids)]


def profiles_from_results(reading: Iterable[PendingResult]) -> dict[UUID, Profile]:
    """Return the profiles, public or not, keyed by user id. Raises CassandraUnavailable."""
    found = (profile_from_row(pending.one()) for pending in reading)
    return {profile.user_id: profile for profile in found if profile}


def get_profiles(user_ids: Iterable[UUID]) -> dict[UUID, Profile]:
    """Return people's profiles, public or not, keyed by user id. Raises CassandraUnavailable."""
    return profiles_from_results(prefetch_profiles(user_ids))


def get_profile(user_id: UUID) -> Profile | None:
    """Return a person's profile, public or not, or None. Raises CassandraUnavailable."""
    return get_profiles([user_id]).get(user_id)


def find_user_id_by_handle(handle: str) -> UUID | None:
    """Return who has claimed a handle, or None. `has_handle` says whether the person's profile names it. Raises CassandraUnavailable."""
    key = fold_handle(handle)
    row = BY_HANDLE.one(handle_key=key) if key else None
    return row.user_id if row else None


def has_handle(profile: Profile, handle: str) -> bool:
    """Return whether a profile has this handle or had it before."""
    key = fold_handle(handle)
    return key in (fold_handle(profile.handle), *profile.former_handles)


def find_profile_by_handle(handle: str) -> Profile | None:
    """Return the profile that has this handle or had it before, public or not, or None. Raises CassandraUnavailable."""
    user_id = find_user_id_by_handle(handle)
    profile = get_profile(user_id) if user_id else None
    return profile if profile and has_handle(profile, handle) else None
