"""The density of the staff's lists: comfortable rows of 48 pixels, or compact ones of 40."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.access import staff_required
from web.cookies import set_cookie
from web.decorators import post_only

# The cookie with the density that this device shows.
COOKIE, COMPACT = "row-density", "compact"
_DAYS = 400


def is_compact(request: HttpRequest) -> bool:
    """Return whether this device shows compact rows."""
    return request.COOKIES.get(COOKIE) == COMPACT


@staff_required()
@post_only("adminpanel:second_factor")
def choose_density(request: HttpRequest) -> HttpResponse:
    """Save the density of lists in a cookie, and return to the page that sent the form."""
    back = request.headers.get("Referer", "")
    is_own = url_has_allowed_host_and_scheme(back, {request.get_host()})
    answer = redirect(back if is_own else "adminpanel:second_factor")
    chosen = COMPACT if request.POST.get("density") == COMPACT else ""
    set_cookie(answer, COOKIE, chosen, _DAYS * 24 * 3600)
    return answer
