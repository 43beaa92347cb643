"""The pages of errors."""

import re
from contextlib import suppress
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse

from accounts.access import mark_staff_page
from cassandra_db import CassandraUnavailable, current_time
from catalogue.missing_addresses import sample_missing
from catalogue.old_addresses import normalize_path
from catalogue.operations.redirects import find_new_address, has_page
from catalogue.search import MAX_QUERY_LENGTH
from web.decorators import list_methods, public
from web.middleware import render_unavailable
from web.rendering import render_page

# How long a browser may keep a redirect from an address of a former shop.
REDIRECT_SECONDS = 3600
# A product's or category's address says which page was looked for; other addresses may be private.
_SLUG = re.compile(r"/[cp]/([-a-zA-Z0-9_]+)/?")


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Explain why a form was refused: it was open too long, or comes from elsewhere.

    The token is checked before the view is called. Methods that no form sends (PUT, DELETE) get 405, as the view would answer.
    """
    methods = list_methods(request.resolver_match.func if request.resolver_match else None)
    if request.method != "POST" and methods and request.method not in methods:
        return HttpResponseNotAllowed(methods)
    _choose_frame(request)
    return render_page(request, "errors/403_csrf.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Explain that a request was invalid."""
    _choose_frame(request)
    return render_page(request, "errors/400.html", {}, status=HTTPStatus.BAD_REQUEST)


@public
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Explain that access is denied."""
    _choose_frame(request)
    return render_page(request, "errors/403.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Redirect from an address of a former shop; or explain that the address does not exist, and offer a search for its words."""
    path, now = normalize_path(request.get_full_path()), current_time()
    try:
        if request.method in ("GET", "HEAD") and path and not has_page(path):
            if address := find_new_address(path, now):
                response = redirect(address, permanent=True)
                # Staff may change where an address leads.
                response["Cache-Control"] = f"max-age={REDIRECT_SECONDS}"
                return response
            with suppress(CassandraUnavailable):
                sample_missing(path, now)
    except CassandraUnavailable:
        return render_unavailable(request)
    _choose_frame(request)
    slug = _SLUG.fullmatch(request.path)
    context = {"guess": slug[1].replace("-", " ")[:MAX_QUERY_LENGTH] if slug else ""}
    return render_page(request, "errors/404.html", context, status=HTTPStatus.NOT_FOUND)


def _choose_frame(request: HttpRequest) -> None:
    """Draw errors below the staff's address in the staff's frame, even before a view was called."""
    if request.path.startswith(reverse("adminpanel:home")):
        mark_staff_page(request)
