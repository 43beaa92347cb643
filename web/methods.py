"""What a view is, which methods it answers, and whom it is for."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

# A page with a form; and a press, whose address somebody may open again: it then leads to its page.
get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def public(view: View[P]) -> View[P]:
    """Declare that a page is for everybody and shows nobody's own things."""
    view.access = "public"  # type: ignore[attr-defined]
    return view


def own(view: View[P]) -> View[P]:
    """Declare that a page is for everybody, and opens only what is the visitor's own: all else answers as if it were not there."""
    view.access = "own"  # type: ignore[attr-defined]
    return view
