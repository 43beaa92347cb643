"""Checks paths that a request names, such as the page to open after a login."""

from django.utils.http import url_has_allowed_host_and_scheme


def is_own_page(to: str) -> bool:
    """Return whether `to` is a path on this site. A path that names a host, in any spelling of "//host", is not."""
    return to.startswith("/") and url_has_allowed_host_and_scheme(to, allowed_hosts=None)
