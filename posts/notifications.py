"""What members are told about posts: likes, comments, mentions, new followers, and the decisions of the staff."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.queries import USER
from cassandra_db import Chain, PendingResult, Row
from moderation.rules import shown_name
from moderation.states import PUBLISHED, REFUSED
from notifications.entities import DIGEST, PAGE, POSTS, RETENTION, Kind, Line, News, Notification
from posts import comment_queries, follow_queries, like_queries, queries
from posts.entities import Comment, Post
from posts.follow_button import PendingFollowers
from posts.mentions import list_mentions
from posts.operations.comments import parse_comment
from posts.operations.follows import FOLLOWED, is_blocked_between
from posts.operations.likes import LIKED
from posts.operations.pending import COMMENT

POST_LIKED, POST_COMMENTED = "post_liked", "post_commented"
COMMENT_REPLIED, MENTIONED = "comment_replied", "mentioned"
POST_PUBLISHED, POST_REFUSED, COMMENT_REFUSED = (
    "post_published",
    "post_refused",
    "post_comment_refused",
)
DECISION = "decision"
NEW_FOLLOWERS = "new_followers"


def prepare_news(subject_id: UUID, detail: str, noted_at: datetime) -> list[News]:
    """Return what there is to tell about a post's likes, a comment, a decision about a post, or a new follower. Raises CassandraUnavailable."""
    kind = detail.partition(" ")[0]
    if kind == FOLLOWED:
        # All of a day are one notification (`quiet_for`).
        ids = {"person": subject_id.hex}
        return [News(NEW_FOLLOWERS, subject_id, noted_at, ids)] if _count(subject_id) else []
    post = queries.get_post(subject_id)
    if post is None or post.is_gone or post.is_erased:
        return []
    if kind == LIKED:
        return _tell_likes(post, noted_at)
    if kind == COMMENT:
        return _tell_comment(post, *parse_comment(detail))
    return _tell_decision(post) if kind == DECISION else []


def _tell_likes(post: Post, noted_at: datetime) -> list[News]:
    """Return the news that a post has new likes. All of a day are one notification (`quiet_for`)."""
    if not post.is_public or not _others(like_queries.list_likers(post.post_id, 2), post.user_id):
        return []
    return [News(POST_LIKED, post.user_id, noted_at, {"post": post.post_id.hex})]


def _others(user_ids: Sequence[UUID], user_id: UUID) -> list[UUID]:
    return [each for each in user_ids if each != user_id]


def _tell_decision(post: Post) -> list[News]:
    kind = {PUBLISHED: POST_PUBLISHED, REFUSED: POST_REFUSED}.get(post.state)
    if kind is None or post.decided_at is None:
        return []
    return [News(kind, post.user_id, post.decided_at, {"post": post.post_id.hex})]


def _tell_comment(post: Post, partition: int, thread_id: UUID, comment_id: UUID) -> list[News]:
    comment = comment_queries.get_comment(post.post_id, partition, thread_id, comment_id)
    if comment is None or comment.is_erased:
        return []
    ids = {
        "post": post.post_id.hex,
        "partition": str(partition),
        "thread": thread_id.hex,
        "comment": comment_id.hex,
    }
    if comment.state == REFUSED and comment.decided_at:
        return [News(COMMENT_REFUSED, comment.user_id, comment.decided_at, ids)]
    if comment.state != PUBLISHED or not post.is_public:
        return []
    told: dict[UUID, str] = {}
    for kind, user_id in _list_readers(post, comment):
        told.setdefault(user_id, kind)
    told.pop(comment.user_id, None)
    at = comment.decided_at or comment.written_at
    return [
        News(kind, user_id, at, ids)
        for user_id, kind in told.items()
        if not is_blocked_between(user_id, comment.user_id)
    ]


def _list_readers(post: Post, comment: Comment) -> Iterator[tuple[str, UUID]]:
    """Yield whom a comment concerns, and why. The first reason counts."""
    if comment.is_reply:
        first = comment_queries.get_comment(
            post.post_id, comment.partition, comment.thread_id, comment.thread_id
        )
        if first:
            yield COMMENT_REPLIED, first.user_id
    yield POST_COMMENTED, post.user_id
    for handle in list_mentions(comment.body):
        profile = queries.find_profile_by_handle(handle)
        if profile and profile.is_public:
            yield MENTIONED, profile.user_id


def describe_likes(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the posts, and the person who liked each last. The numbers are today's."""
    reading = [(note, queries.prefetch_post(_post_id(note)), _start_liker(note)) for note in notes]

    def collect() -> Mapping[UUID, Line]:
        lines = {}
        for note, pending, chain in reading:
            post = queries.post_from_row(pending.one())
            rows, users = chain.result()
            if post and post.is_public and users:
                is_own = any(row.user_id == note.user_id and row.like_type for row in rows)
                count = max(post.sums.like_count - 1 - is_own, 0)
                text = _describe_likers(shown_name(users[0].name or ""), count)
                lines[note.notification_id] = Line(text, _path(note))
        return lines

    return collect


def _start_liker(note: Notification) -> Chain:
    def find_user(rows: Sequence[Row]) -> Mapping[str, UUID] | None:
        others = _others(like_queries.likers_from_rows(rows, 2), note.user_id)
        return {"user_id": others[0]} if others else None

    return like_queries.prefetch_likers(_post_id(note)).then(USER, find_user)


def _describe_likers(name: str, others: int) -> str:
    if not others:
        return gettext("%(name)s likes your post") % {"name": name}
    text = ngettext(
        "%(name)s and %(count)d other like your post",
        "%(name)s and %(count)d others like your post",
        others,
    )
    return text % {"name": name, "count": others}


def describe_comments(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the posts and comments. A comment that nobody sees any more is gone."""
    reading = [
        (note, queries.prefetch_post(_post_id(note)), _start_comment(note)) for note in notes
    ]

    def collect() -> Mapping[UUID, Line]:
        lines = {}
        for note, pending, row in ((note, post, start.one()) for note, post, start in reading):
            post = queries.post_from_row(pending.one())
            is_refusal = note.kind == COMMENT_REFUSED
            if (
                post is None
                or not post.is_public
                or row is None
                or row.state != (REFUSED if is_refusal else PUBLISHED)
            ):
                continue
            path = f"{_path(note)}#c{UUID(note.ids['comment'])}"
            name = row.name or gettext("A customer")
            lines[note.notification_id] = Line(_COMMENT_WORDS[note.kind]() % {"name": name}, path)
        return lines

    return collect


_COMMENT_WORDS: Mapping[str, Callable[[], str]] = {
    POST_COMMENTED: lambda: gettext("%(name)s has commented on your post"),
    COMMENT_REPLIED: lambda: gettext("%(name)s has replied to your comment"),
    MENTIONED: lambda: gettext("%(name)s has mentioned you in a comment"),
    COMMENT_REFUSED: lambda: gettext("We haven’t published your comment"),
}


def _start_comment(note: Notification) -> PendingResult:
    return comment_queries.prefetch_comment(
        _post_id(note),
        int(note.ids["partition"]),
        UUID(note.ids["thread"]),
        UUID(note.ids["comment"]),
    )


def _count(user_id: UUID) -> int:
    return follow_queries.count_followers(user_id, follow_queries.list_partitions(user_id))


def describe_followers(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the profiles. The numbers are today's."""
    reading = [(note, PendingFollowers(note.user_id)) for note in notes]

    def collect() -> Mapping[UUID, Line]:
        lines = {}
        for note, pending in reading:
            if count := pending.count():
                text = ngettext(
                    "%(count)d person follows you", "%(count)d people follow you", count
                )
                path = reverse("posts:people")
                lines[note.notification_id] = Line(text % {"count": count}, path)
        return lines

    return collect


def describe_decisions(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the posts. A decision that no longer holds is gone."""
    reading = [(note, queries.prefetch_post(_post_id(note))) for note in notes]

    def collect() -> Mapping[UUID, Line]:
        lines = {}
        for note, pending in reading:
            post = queries.post_from_row(pending.one())
            if note.kind == POST_PUBLISHED and post and post.is_public:
                lines[note.notification_id] = Line(gettext("Your post is published"), _path(note))
            elif note.kind == POST_REFUSED and post and post.state == REFUSED:
                path = reverse("posts:write", args=[_post_id(note)])
                lines[note.notification_id] = Line(gettext("We haven’t published your post"), path)
        return lines

    return collect


def _post_id(note: Notification) -> UUID:
    return UUID(note.ids["post"])


def _path(note: Notification) -> str:
    return reverse("posts:post", args=[_post_id(note)])


_GONE = _("News about a post that is gone")
_COMMENT_GONE = _("News about a comment that is gone")
_FOLLOWERS_GONE = _("News about followers who are gone")
KINDS = [
    Kind(
        POST_LIKED, POSTS, _("New likes"), _GONE, describe_likes, PAGE, quiet_for=timedelta(days=1)
    ),
    *(
        # A comment is told once, also if the staff publish it again.
        Kind(name, POSTS, label, _COMMENT_GONE, describe_comments, DIGEST, quiet_for=RETENTION)
        for name, label in (
            (POST_COMMENTED, _("New comment")),
            (COMMENT_REPLIED, _("Reply to a comment")),
            (MENTIONED, _("Mention")),
        )
    ),
    Kind(
        NEW_FOLLOWERS,
        POSTS,
        _("New followers"),
        _FOLLOWERS_GONE,
        describe_followers,
        PAGE,
        quiet_for=timedelta(days=1),
    ),
    Kind(POST_PUBLISHED, POSTS, _("Post published"), _GONE, describe_decisions, PAGE),
    Kind(POST_REFUSED, POSTS, _("Post not published"), _GONE, describe_decisions),
    Kind(COMMENT_REFUSED, POSTS, _("Comment not published"), _COMMENT_GONE, describe_comments),
]
