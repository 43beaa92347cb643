"""What happens around every view."""

import logging
import sys
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from cassandra_db import CassandraUnavailable, metered
from web.rendering import view_named

GetResponse = Callable[[HttpRequest], HttpResponse]
log = logging.getLogger(__name__)


class CountStatements:
    """Tells in a header how many statements a page took, and the longest chain of reads (COUNT_STATEMENTS)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.COUNT_STATEMENTS:
            return self.get_response(request)
        with metered() as meter:
            response = self.get_response(request)
        response["X-Cassandra"] = f"statements={meter.statements}, rounds={meter.rounds}"
        return response


class Redirects:
    """Makes redirects what a browser and htmx need: 303 after a POST, and a whole new page instead of a swapped one."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.FOUND and request.method == "POST":
            response.status_code = HTTPStatus.SEE_OTHER
        if getattr(request, "htmx", None) and response.status_code in (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER):
            translated = HttpResponseClientRedirect(response["Location"])
            translated.cookies = response.cookies
            return translated
        return response


class Unavailable:
    """Answers 503 when Cassandra is away."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return unavailable(request) if isinstance(exception, CassandraUnavailable) else None


def unavailable(request: HttpRequest) -> HttpResponse:
    """Return the styled 503, which needs no database. To be called while the exception is being handled."""
    log.warning("%s %s: %s", request.method, view_named(request), sys.exc_info()[1] or "Cassandra is away")
    response = render(None, "errors/503.html", status=503)
    response["Retry-After"] = "10"
    response["Cache-Control"] = "no-store"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for an error nobody caught: 503 if a middleware met an absent Cassandra, else 500."""
    if isinstance(sys.exc_info()[1], CassandraUnavailable):
        return unavailable(request)
    return render(None, "errors/500.html", status=500)
