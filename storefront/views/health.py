"""Health checks for whatever watches over the processes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from cassandra_db import CassandraUnavailable, ClockWrong, require_right_clock
from catalogue import queries
from web.decorators import public
from web.rendering import without_header


@require_safe
@without_header
@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer that this process runs, whatever the database does."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@without_header
@public
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer whether this process can sell: whether a majority of nodes answers it, and its clock is right."""
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
