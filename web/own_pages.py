"""Pages of this site that a request names: where somebody goes on after logging in, or is led back to."""

from django.utils.http import url_has_allowed_host_and_scheme


def is_own_page(to: str) -> bool:
    """Return whether `to` is the path of a page here. No host may be in it, not even this site's: "//host" is none, however it is written."""
    return to.startswith("/") and url_has_allowed_host_and_scheme(to, allowed_hosts=None)
