"""Shows a mail's HTML in a frame of a page: it runs nothing, and its links open beside the page."""

from typing import Any, cast

from csp.decorators import csp_update
from django.http import HttpResponse

from web.decorators import P, View

# What a frame may do. Its scripts and forms do nothing.
SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src *; frame-ancestors 'self'; sandbox {SANDBOX}"


def with_frame(view: View[P]) -> View[P]:
    """Let a view's page show frames of the shop's own."""
    return cast(View[P], csp_update({"frame-src": ["'self'"]})(cast(Any, view)))


def open_links_outside(html: str) -> str:
    """Return a page's HTML whose links open beside the frame that shows it."""
    return html.replace("<head>", '<head><base target="_blank">', 1)


def frame_html(html: str) -> HttpResponse:
    """Return a mail's HTML for a frame (X473)."""
    answer = HttpResponse(open_links_outside(html))
    answer["Content-Security-Policy"] = _POLICY
    answer["X-Frame-Options"] = "SAMEORIGIN"
    return answer
