"""Reads that a view starts as soon as the session is known, beside the read of the session's member.

    @starts_reads(prefetch_board)
    @staff_required(ORDER_STAFF)
    def order_board(request): ... get_early_reads(request) ...

Nothing that they read is used before the view's own check of the visitor.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse

from web.decorators import View

_EARLY_READS = "early_reads"


def starts_reads(start: Callable[..., Any]) -> Callable[[View[...]], View[...]]:
    """Mark a member's view whose reads begin beside that of the member, so that they take no round of their own.

    `start(request, user_id, **address)` starts them; `get_early_reads` returns what it returned.
    """

    def decorated(view: View[...]) -> View[...]:
        @wraps(view)
        def started(request: HttpRequest, /, *args: Any, **kwargs: Any) -> HttpResponse:
            if user_id := request.session.get(SESSION_KEY):
                vars(request)[_EARLY_READS] = start(request, UUID(user_id), **kwargs)
            return view(request, *args, **kwargs)

        return started

    return decorated


def get_early_reads(request: HttpRequest) -> Any:
    """Return what the view's function of `starts_reads` has returned; None for a visitor who is not signed in."""
    return vars(request).get(_EARLY_READS)
