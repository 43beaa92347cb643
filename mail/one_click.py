"""Unsubscribing by a mail program's button (RFC 8058): the program posts to the mail's link, without opening the page."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

_FIELD, _VALUE = "List-Unsubscribe", "One-Click"
# This header accompanies List-Unsubscribe. Mail programs ignore the header unless the link is HTTPS.
HEADER = (f"{_FIELD}-Post", f"{_FIELD}={_VALUE}")


def is_one_click(request: HttpRequest) -> bool:
    """Return whether a mail program sent the request, and not the form on the page behind the link."""
    return request.method == "POST" and request.POST.get(_FIELD) == _VALUE


def confirm_one_click() -> HttpResponse:
    """Return the answer to a mail program, which does not show the answer."""
    return HttpResponse(_("You’ve unsubscribed.") + "\n", content_type="text/plain; charset=utf-8")
