"""What is shown when a request cannot be answered."""

import re
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import reverse

from accounts.access import mark_staff_page
from catalogue.search import MAX_QUERY_LENGTH
from web.decorators import list_methods, public
from web.rendering import render_page

# The address of a product or a category tells what was looked for; any other one may be nobody's business.
_SLUG = re.compile(r"/[cp]/([-a-zA-Z0-9_]+)/?")


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show why a form was not taken: it was open for too long, or comes from elsewhere.

    The check of the token comes before the view. What no form sends (PUT, DELETE) is answered as the view would: 405.
    """
    methods = list_methods(request.resolver_match.func if request.resolver_match else None)
    if request.method != "POST" and methods and request.method not in methods:
        return HttpResponseNotAllowed(methods)
    _choose_frame(request)
    return render_page(request, "errors/403_csrf.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that a request made no sense."""
    _choose_frame(request)
    return render_page(request, "errors/400.html", {}, status=HTTPStatus.BAD_REQUEST)


@public
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that this is not for everybody."""
    _choose_frame(request)
    return render_page(request, "errors/403.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that there is nothing at an address, and offer a search for what it may have been."""
    _choose_frame(request)
    slug = _SLUG.fullmatch(request.path)
    context = {"guess": slug[1].replace("-", " ")[:MAX_QUERY_LENGTH] if slug else ""}
    return render_page(request, "errors/404.html", context, status=HTTPStatus.NOT_FOUND)


def _choose_frame(request: HttpRequest) -> None:
    """Let an error below the staff's address stand in their frame, also if it came before any of their views."""
    if request.path.startswith(reverse("adminpanel:board")):
        mark_staff_page(request)
