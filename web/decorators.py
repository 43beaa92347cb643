"""Decorators that say which methods a view answers, and who may open it."""

from collections.abc import Callable
from functools import wraps
from inspect import getclosurevars
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

# The methods of a page with a form.
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def post_only(leads_to: str, *given: str) -> Callable[[View[P]], View[P]]:
    """Declare that a view takes only submitted forms. A visitor who opens its address is redirected to the page `leads_to`.

    `given` names the URL arguments that the page's address takes, too: `@post_only("orders:detail", "number")`.
    """

    def decorated(view: View[P]) -> View[P]:
        @get_or_post
        @wraps(view)
        def submitted(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            return HttpResponseRedirect(
                reverse(leads_to, kwargs={name: kwargs[name] for name in given})
            )

        return submitted

    return decorated


def list_methods(view: Callable[..., object] | None) -> list[str]:
    """Return the methods that a view's decorator `require_http_methods` has; none for a view without this decorator."""
    while view is not None:
        # Django's decorator keeps the methods only in its closure. A test finds views without this decorator.
        code = getattr(view, "__code__", None)
        if code and "request_method_list" in code.co_freevars:
            return list(getclosurevars(view).nonlocals["request_method_list"])
        view = getattr(view, "__wrapped__", None)
    return []


def public(view: View[P]) -> View[P]:
    """Declare that everybody may open a page, and that the page shows no person's own data."""
    view.access = "public"  # type: ignore[attr-defined]
    return view


def owner_only(view: View[P]) -> View[P]:
    """Declare that everybody may open a page of their own data. For other people's data the view answers 404."""
    view.access = "own"  # type: ignore[attr-defined]
    return view


def no_store(view: View[P]) -> View[P]:
    """Declare that no cache may keep a public page, because a login or a mailed link is in it.

    Caches never keep pages that are not public (web.middleware.ResponseHeadersMiddleware).
    """
    view.no_store = True  # type: ignore[attr-defined]
    return view
