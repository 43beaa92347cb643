"""The header's bell: how many notifications of a member are new. It is read beside the member, in the same round."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from cassandra_db import PendingResult
from notifications.queries import new_count_from_rows, prefetch_new_count


@dataclass
class RequestBell:
    """The bell of one request, and its pending read."""

    user_id: UUID | None = None
    new: PendingResult | None = None
    count: int | None = None


def get_request_bell(request: HttpRequest) -> RequestBell:
    """Return the bell of a request; the first call makes an empty one."""
    return cast(RequestBell, vars(request).setdefault("request_bell", RequestBell()))


def prefetch_bell(request: HttpRequest, view: Callable[..., HttpResponse], user_id: UUID) -> None:
    """Start reading the bell's number. Pages of the staff show no bell."""
    bell = get_request_bell(request)
    bell.user_id = user_id
    if request.method not in ("GET", "HEAD") or getattr(view, "access", "") == "staff":
        return
    bell.new = prefetch_new_count(user_id)


def count_new(request: HttpRequest) -> int:
    """Return how many notifications of the request's member are new; 0 for a guest. Raises CassandraUnavailable."""
    bell = get_request_bell(request)
    if bell.count is None:
        if bell.new is None and bell.user_id:
            bell.new = prefetch_new_count(bell.user_id)
        bell.count = new_count_from_rows(bell.new.rows()) if bell.new else 0
    return bell.count
