"""Renders a page, or the part of it that htmx asked for. Nothing else knows about htmx."""

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from web.errors import TooManyAttempts

P = ParamSpec("P")
_STOP_POLLING = 286  # htmx polls no more after this status


def is_asked_for_part(request: HttpRequest) -> bool:
    """Return whether htmx wants a part of the page. A redirect would then load the whole page."""
    htmx = getattr(request, "htmx", None)
    return bool(htmx and not htmx.history_restore_request)


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    part: str = "",
    replace_url: str = "",
    push_url: str = "",
    status: int = 200,
    with_oob: bool = False,
) -> HttpResponse:
    """Return the whole page, or only its part `part` for a request by htmx.

    After a POST, or with `with_oob`, the header's badge and the status message come with the part. `replace_url` is the address
    that the browser then shows; `push_url` also becomes a step of its history.
    """
    if part and is_asked_for_part(request):
        text = render_to_string(f"{template}#{part}", dict(context), request)
        if with_oob or request.method == "POST":
            text += render_to_string("_oob.html", {}, request)
        response = HttpResponse(text, status=status)
        if replace_url:
            response["HX-Replace-Url"] = replace_url
        if push_url:
            response["HX-Push-Url"] = push_url
    else:
        response = HttpResponse(render_to_string(template, dict(context), request), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def render_or_redirect(
    request: HttpRequest,
    to: str,
    template: str,
    context: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
    *,
    part: str,
) -> HttpResponse:
    """Return the answer to a successful POST: for htmx the page's changed part, otherwise a redirect to `to`.

    `context` may be a function, which is called only if the part is rendered.
    """
    if getattr(request, "htmx", None):
        return render_page(
            request, template, context() if callable(context) else context, part=part
        )
    return redirect(to)


def render_too_many_attempts(
    request: HttpRequest,
    error: TooManyAttempts,
    template: str = "errors/429.html",
    context: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Return the answer for a reached rate limit: a page with status 429 and Retry-After.

    A form in the context keeps its input and gets the error. For htmx the answer is only a message, and the page stays.
    """
    context = {"error": error, **(context or {})}
    if getattr(request, "htmx", None):
        response = HttpResponse(
            render_to_string("errors/429.html#message", context, request), status=429
        )
        response["HX-Reswap"] = "none"
        patch_vary_headers(response, ["HX-Request"])
    else:
        if form := context.get("form"):
            form.add_error(None, str(error))
        response = render_page(request, template, context, status=429)
    response["Retry-After"] = str(error.retry_after)
    return response


def stop_refreshing() -> HttpResponse:
    """Return the answer that ends the requests of an element that refreshes itself."""
    return HttpResponse(status=_STOP_POLLING)


def without_header(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Mark a view whose page has no header, so that the header's data are not read."""
    view.without_header = True  # type: ignore[attr-defined]
    return view


def view_name(request: HttpRequest) -> str:
    """Return the name of a request's view, for the log. The request's path could contain a token or a line break."""
    found = request.resolver_match
    return found.view_name if found else "an address without a view"
