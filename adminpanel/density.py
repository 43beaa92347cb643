"""The density of the staff's lists: comfortable rows of 48 pixels, or compact ones of 40."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.access import derive_return_url, staff_required
from web.cookies import set_cookie
from web.decorators import post_only

# The cookie with the density that this device shows.
COOKIE, COMPACT = "row-density", "compact"
_DAYS = 400
# The page that every role may open, for browsers that do not say which page has sent the form.
_PAGE = "adminpanel:second_factor"


def is_compact(request: HttpRequest) -> bool:
    """Return whether this device shows compact rows."""
    return request.COOKIES.get(COOKIE) == COMPACT


@staff_required(only_reads=True)
@post_only(_PAGE)
def choose_density(request: HttpRequest) -> HttpResponse:
    """Save the density of lists in a cookie, and return to the page that sent the form."""
    answer = redirect(derive_return_url(request, _PAGE))
    chosen = COMPACT if request.POST.get("density") == COMPACT else ""
    set_cookie(answer, COOKIE, chosen, _DAYS * 24 * 3600)
    return answer
