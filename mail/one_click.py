"""Unsubscribing by the button of a mail program (RFC 8058): it posts to the mail's own link, without a cookie and without showing a page."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

_FIELD, _VALUE = "List-Unsubscribe", "One-Click"
# The header beside List-Unsubscribe; a mail program heeds it only where the link is HTTPS.
HEADER = (f"{_FIELD}-Post", f"{_FIELD}={_VALUE}")


def is_one_click(request: HttpRequest) -> bool:
    """Return whether a submit comes from a mail program rather than from the link's page."""
    return request.method == "POST" and request.POST.get(_FIELD) == _VALUE


def confirm_one_click() -> HttpResponse:
    """Return what a mail program is told, which shows it to nobody."""
    return HttpResponse(_("You’ve unsubscribed.") + "\n", content_type="text/plain; charset=utf-8")
