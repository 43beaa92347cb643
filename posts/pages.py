"""Posts, comments and people as the addresses of pages name them."""

from uuid import UUID

from django.http import Http404

from moderation.states import WITHDRAWN
from posts import comment_queries, queries
from posts.entities import Comment, Post, Profile
from posts.rules import MAX_HANDLE


def require_public_post(post_id: UUID) -> Post:
    """Return a post that everybody sees. Raises Http404, CassandraUnavailable."""
    post = queries.get_post(post_id) if post_id.version == 1 else None
    if post is None or not post.is_public:
        raise Http404
    return post


def require_comment(post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID) -> Comment:
    """Return a comment that was not deleted, on a post that everybody sees. Raises Http404, CassandraUnavailable."""
    is_possible = {each.version for each in (post_id, thread_id, comment_id)} == {1}
    if not is_possible or not 0 <= partition < 2**31:
        raise Http404
    reading = comment_queries.prefetch_comment(post_id, partition, thread_id, comment_id)
    require_public_post(post_id)
    row = reading.one()
    found = comment_queries.comment_from_row(row) if row and row.comment_id else None
    if found is None or found.state == WITHDRAWN:
        raise Http404
    return found


def require_public_profile(handle: str) -> Profile:
    """Return the public profile with a handle. Raises Http404, CassandraUnavailable."""
    # A longer one would be no handle, but too long a key.
    profile = queries.find_profile_by_handle(handle) if len(handle) <= MAX_HANDLE else None
    if profile is None or not profile.is_public:
        raise Http404
    return profile
