"""Reads that a view starts as soon as the session is known, beside the read of the session's member.

    @starts_reads(prefetch_board)
    @staff_required(ORDER_STAFF)
    def order_board(request): ... get_early_reads(request) ...

Nothing that they read is used before the view's own check of the visitor.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

_View = TypeVar("_View", bound=Callable[..., HttpResponse])
# Starts reads for a request of a member, and returns what the view will collect.
StartReads = Callable[[HttpRequest, UUID], Any]


def starts_reads(start: StartReads) -> Callable[[_View], _View]:
    """Mark a view whose GET requests start reads early."""

    def decorated(view: _View) -> _View:
        view.start_reads = start  # type: ignore[attr-defined]
        return view

    return decorated


def start_early_reads(
    request: HttpRequest, view: Callable[..., HttpResponse], user_id: UUID
) -> None:
    """Start the reads of a marked view."""
    start = getattr(view, "start_reads", None)
    if start and request.method in ("GET", "HEAD"):
        vars(request)["early_reads"] = start(request, user_id)


def get_early_reads(request: HttpRequest) -> Any:
    """Return what the view's function of `starts_reads` has returned; None if it was not called."""
    return vars(request).get("early_reads")
