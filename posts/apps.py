"""The app of posts."""

from typing import Any

from django.apps import AppConfig


class PostsConfig(AppConfig):
    """Has a member's feed filled at each login: nothing was copied to it while the member had no session (decision 093)."""

    name = "posts"

    def ready(self) -> None:
        """Listen for logins."""
        from django.contrib.auth.signals import user_logged_in

        user_logged_in.connect(_fill_feed, dispatch_uid="posts")


def _fill_feed(*, user: Any, **_: Any) -> None:
    from posts.operations.feeds import LOGIN, PENDING_FEEDS

    PENDING_FEEDS.note(subject_id=user.pk, what=LOGIN)
