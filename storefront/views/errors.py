"""What is shown when a request cannot be answered."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from web.decorators import public
from web.rendering import render_page


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show why a form was not taken: it was open for too long, or comes from elsewhere."""
    return render_page(request, "errors/403_csrf.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that a request made no sense."""
    return render_page(request, "errors/400.html", {}, status=HTTPStatus.BAD_REQUEST)


@public
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that this is not for everybody."""
    return render_page(request, "errors/403.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that there is nothing at an address."""
    return render_page(request, "errors/404.html", {}, status=HTTPStatus.NOT_FOUND)
