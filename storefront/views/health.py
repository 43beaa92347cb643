"""Health checks and metrics for monitoring."""

import os
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from cassandra_db import CassandraUnavailable, ClockWrong, current_time, require_right_clock
from catalogue import queries
from storefront.metrics import render_metrics
from web.decorators import no_store, public
from web.rendering import without_header


@require_safe
@without_header
@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that this process runs, independent of the database; 503 once the server is about to be stopped (DRAIN_FILE)."""
    if settings.DRAIN_FILE and os.path.exists(settings.DRAIN_FILE):  # noqa: PTH110 -- asked for each second
        return HttpResponse("about to stop\n", content_type="text/plain", status=503)
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@without_header
@public
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer whether this process can sell: a majority of nodes answers, and the process's clock is right."""
    try:
        queries.is_majority_answering()
        require_right_clock()
    except ClockWrong as wrong:
        return HttpResponse(f"{wrong}\n", content_type="text/plain", status=503)
    except CassandraUnavailable:
        return HttpResponse(
            "no majority of Cassandra's nodes answers\n", content_type="text/plain", status=503
        )
    return HttpResponse("ready\n", content_type="text/plain")


@require_safe
@without_header
@no_store
@public
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the counters of this server's processes to callers with METRICS_TOKEN; without a token the page does not exist."""
    if not settings.METRICS_TOKEN:
        return HttpResponse("not found\n", content_type="text/plain", status=HTTPStatus.NOT_FOUND)
    sent = request.headers.get("Authorization", "")
    if not constant_time_compare(sent, f"Bearer {settings.METRICS_TOKEN}"):
        refused = HttpResponse(
            "METRICS_TOKEN is wanted as a bearer token\n",
            content_type="text/plain",
            status=HTTPStatus.UNAUTHORIZED,
        )
        refused["WWW-Authenticate"] = "Bearer"
        return refused
    text, content_type = render_metrics(request.headers.get("Accept", ""), current_time())
    return HttpResponse(text, content_type=content_type)
