"""The header's bell: how many notifications of a member are new. It is read beside the member, in the same round."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from cassandra_db import InvalidPageToken, PendingResult, Row
from notifications.queries import new_count_from_rows, prefetch_new_count

_View = TypeVar("_View", bound=Callable[..., HttpResponse])
# Starts the read of a page of notifications.
Prefetch = Callable[[HttpRequest, UUID], PendingResult]


@dataclass
class RequestBell:
    """The bell of one request: its pending read, and that of the page of notifications, if the view shows one."""

    user_id: UUID | None = None
    new: PendingResult | None = None
    listed: PendingResult | None = None
    count: int | None = None


def get_request_bell(request: HttpRequest) -> RequestBell:
    """Return the bell of a request; the first call makes an empty one."""
    return cast(RequestBell, vars(request).setdefault("request_bell", RequestBell()))


def shows_notifications(prefetch: Prefetch) -> Callable[[_View], _View]:
    """Mark a view that shows notifications: `prefetch` starts reading them as soon as the session is known."""

    def decorated(view: _View) -> _View:
        view.prefetch_notifications = prefetch  # type: ignore[attr-defined]
        return view

    return decorated


def prefetch_bell(request: HttpRequest, view: Callable[..., HttpResponse], user_id: UUID) -> None:
    """Start reading what the bell and the view show of a member's notifications. Pages of the staff show no bell."""
    bell = get_request_bell(request)
    bell.user_id = user_id
    if request.method not in ("GET", "HEAD") or getattr(view, "access", "") == "staff":
        return
    bell.new = prefetch_new_count(user_id)
    if prefetch := getattr(view, "prefetch_notifications", None):
        try:
            bell.listed = prefetch(request, user_id)
        except InvalidPageToken:
            bell.listed = None


def list_shown_rows(request: HttpRequest) -> list[Row] | None:
    """Return the rows that a view of `shows_notifications` shows; None if its page token is invalid. Raises CassandraUnavailable."""
    listed = get_request_bell(request).listed
    return listed.rows() if listed else None


def count_new(request: HttpRequest) -> int:
    """Return how many notifications of the request's member are new; 0 for a guest. Raises CassandraUnavailable."""
    bell = get_request_bell(request)
    if bell.count is None:
        if bell.new is None and bell.user_id:
            bell.new = prefetch_new_count(bell.user_id)
        bell.count = new_count_from_rows(bell.new.rows()) if bell.new else 0
    return bell.count
