"""What a view is, which methods it answers, and whom it is for."""

from collections.abc import Callable
from functools import wraps
from inspect import getclosurevars
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

# A page with a form.
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def post_only(leads_to: str, *given: str) -> Callable[[View[P]], View[P]]:
    """Declare that a view takes submits alone. Opening its address again leads to a page.

    `given` names what of the submit's address stands in the page's, too: `@post_only("orders:detail", "number")`.
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
    """Return the methods that a view answers, as Django's `require_http_methods` was told; none if it was not."""
    while view is not None:
        # Django's decorator keeps them in its closure alone. That each view has it, a test holds.
        code = getattr(view, "__code__", None)
        if code and "request_method_list" in code.co_freevars:
            return list(getclosurevars(view).nonlocals["request_method_list"])
        view = getattr(view, "__wrapped__", None)
    return []


def public(view: View[P]) -> View[P]:
    """Declare that a page is for everybody and shows no user's own things."""
    view.access = "public"  # type: ignore[attr-defined]
    return view


def owner_only(view: View[P]) -> View[P]:
    """Declare that a page is for everybody, and opens only what is the visitor's own: all else answers as if it were not there."""
    view.access = "own"  # type: ignore[attr-defined]
    return view


def no_store(view: View[P]) -> View[P]:
    """Declare that no cache keeps a page that is for everybody, because of what is typed or named there: a login, a mailed link.

    Whatever is not public is kept by none anyway (web.middleware.ResponseHeadersMiddleware).
    """
    view.no_store = True  # type: ignore[attr-defined]
    return view
