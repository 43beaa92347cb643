"""Reads a member's feed (L8): the copied posts, and those of people with many followers, which are merged here.

The page filters by what the member follows now, so an ended follow or a block needs no deletion. Whoever shows the posts reads
them, and leaves out what is not public any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cassandra.util import max_uuid_from_time

from cassandra_db import PendingResult, current_time, page_key, page_token
from cassandra_db.process_copies import RecentValue
from posts import follow_queries
from posts.operations.feeds import NEWEST_COPIED, list_crowded
from posts.queries import PostIds
from posts.rules import PAGE_LENGTH

# How many rows are read for a page: some are of people whom the member follows no more.
_ROWS_READ = 200


@dataclass(frozen=True)
class FeedPage:
    """A page of a feed, and whether the member follows anybody."""

    page: PostIds
    follows_anybody: bool


@dataclass(frozen=True)
class PendingFeed:
    """A feed that is being read."""

    user_id: UUID
    before: UUID
    rows: PendingResult
    follows: PendingResult

    def collect(self) -> FeedPage:
        """Return the page. Raises CassandraUnavailable."""
        rows = self.rows.rows()
        follows = follow_queries.follows_from_rows(self.follows.rows())
        merged = {
            post_id: author_id
            for author_id, post_ids in (crowded_posts.get().items() if follows else ())
            if author_id in follows
            for post_id in post_ids
            if _order(post_id) < _order(self.before)
        }
        if len(rows) == _ROWS_READ:
            # Older ones belong to a later page.
            oldest = _order(rows[-1].post_id)
            merged = {key: value for key, value in merged.items() if _order(key) >= oldest}
        found = merged | {row.post_id: row.author_id for row in rows if row.author_id in follows}
        ordered = sorted(found, key=_order, reverse=True)
        shown = ordered[:PAGE_LENGTH]
        last = shown[-1] if len(ordered) > PAGE_LENGTH else None
        if last is None and len(rows) == _ROWS_READ:
            last = rows[-1].post_id
        token = page_token([last], _list_name(self.user_id)) if last else ""
        authors = {each: found[each] for each in shown}
        return FeedPage(PostIds(tuple(shown), token, authors), bool(follows))


def _order(post_id: UUID) -> tuple[int, bytes]:
    return post_id.time, post_id.bytes


def prefetch_feed(user_id: UUID, token: str, follows: PendingResult | None = None) -> PendingFeed:
    """Start reading a page of a member's feed. `follows` is a read of `prefetch_follows`. Raises InvalidPageToken."""
    tomorrow = current_time() + timedelta(days=1)
    before = page_key(token, _list_name(user_id))[0] if token else max_uuid_from_time(tomorrow)
    return PendingFeed(
        user_id,
        before,
        follow_queries.FEED.start(user_id=user_id, before=before, most=_ROWS_READ),
        follows or follow_queries.prefetch_follows(user_id),
    )


def _list_name(user_id: UUID) -> str:
    return f"L8 {user_id.hex}"


def _read_crowded_posts() -> Mapping[UUID, list[UUID]]:
    """Return the newest posts of people with many followers. Raises CassandraUnavailable."""
    now = current_time()
    reading = {
        each: follow_queries.prefetch_newest_of(each, NEWEST_COPIED, now) for each in list_crowded()
    }
    return {
        each: follow_queries.newest_from_rows(pending, NEWEST_COPIED)
        for each, pending in reading.items()
    }


# A post of such a person is in feeds at most these seconds after it was published.
crowded_posts = RecentValue(_read_crowded_posts, 15)
