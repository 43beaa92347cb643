"""Health checks for whatever watches over the processes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from cassandra_db.errors import CassandraUnavailable
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
    """Answer whether this process can serve pages: whether Cassandra answers it."""
    try:
        queries.is_database_answering()
    except CassandraUnavailable:
        return HttpResponse("Cassandra does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ready\n", content_type="text/plain")
