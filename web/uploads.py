"""Takes files only in marked views (decision 040): views of staff, and views of shoppers who are known.

Other views refuse a request as soon as a file begins, before they keep a byte of the file. Requests that are larger than a form
need an address that a marked page has signed for this person or browser. `storefront.gunicorn_worker` checks the signature before
it reads the body (decision 025).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from django.http import HttpRequest
from django.middleware.csrf import get_token

from web.decorators import P, View
from web.encryption import keyed_digests

_PARAMETER = "upload"
# The values of `access` that views with files may have. Public views may not take files.
_ACCESS = ("staff", "member", "own")


@dataclass(frozen=True)
class UploadLimits:
    """The maximum size of a request's files together, and how many such requests a process takes at a time, in total and of a network.

    `salt` signs the upload addresses, which are valid for as long as `session_setting` allows a session.
    """

    salt: str
    max_bytes: int
    at_once: int
    per_network: int
    session_setting: str


# Staff and shoppers have separate limits, so that slow shoppers do not keep staff waiting.
STAFF_UPLOADS = UploadLimits("web.uploads", 160 * 1024 * 1024, 4, 4, "MAX_STAFF_SESSION_SECONDS")
SHOPPER_UPLOADS = UploadLimits(
    "web.uploads.shoppers", 60 * 1024 * 1024, 4, 2, "MAX_SESSION_SECONDS"
)
# An address is signed for a signed-in member, or for a browser.
_MEMBER, _BROWSER = "m", "b"


@dataclass(frozen=True)
class UploadGrant:
    """The limits of a signed address, and its sender as a keyed hash."""

    limits: UploadLimits
    sender: str

    def is_for_browser(self, csrf_cookie: str) -> bool:
        """Return whether the address was signed for the browser with this cookie."""
        return self.sender in _senders(_BROWSER, csrf_cookie)

    def is_for_member(self, user_id: UUID | None) -> bool:
        """Return whether the address was signed for this member, in any session, or for a browser before a login."""
        if user_id is None:
            return False
        return self.sender[:1] == _BROWSER or self.sender in _senders(_MEMBER, user_id.hex)


def takes_files(max_bytes: int) -> Callable[[View[P]], View[P]]:
    """Declare that a view takes files. A file with more than `max_bytes` arrives cut off, but with its whole size."""

    def decorated(view: View[P]) -> View[P]:
        view.max_file_bytes = max_bytes  # type: ignore[attr-defined]
        return view

    return decorated


def upload_url(
    request: HttpRequest,
    address: str,
    limits: UploadLimits = STAFF_UPLOADS,
    *,
    is_for_guest: bool = False,
) -> str:
    """Return an address for a form that sends files, signed for the current member or for a guest's browser."""
    if is_for_guest:
        get_token(request)  # sets the CSRF cookie of a browser that has none yet
        (sender, *_) = _senders(_BROWSER, request.META["CSRF_COOKIE"])
    else:
        (sender, *_) = _senders(_MEMBER, UUID(str(request.user.pk)).hex)
    signed = TimestampSigner(salt=limits.salt).sign(f"{address}?{sender}")
    return f"{address}?{urlencode({_PARAMETER: signed.removeprefix(f'{address}?')})}"


def _senders(kind: str, who: str) -> list[str]:
    """Return a sender's hashes for an upload address: first under the current SECRET_KEY, then under the old ones."""
    return [kind + digest[:32] for digest in keyed_digests(f"{kind} {who}", "uploads", "")]


def find_upload_grant(address: str, query: str) -> UploadGrant | None:
    """Return the grant of an address that `upload_url` has signed, else None. Raises SignatureExpired for an old signature."""
    tokens = parse_qs(query).get(_PARAMETER, [""])
    for limits in (STAFF_UPLOADS, SHOPPER_UPLOADS):
        signer = TimestampSigner(salt=limits.salt)
        try:
            seconds = getattr(settings, limits.session_setting)
            signed = signer.unsign(f"{address}?{tokens[0]}", max_age=seconds)
        except SignatureExpired:
            raise
        except BadSignature:
            continue
        return UploadGrant(limits, signed.removeprefix(f"{address}?"))
    return None


class MarkedViewsHandler(TemporaryFileUploadHandler):
    """Spools files for marked views to temporary files, and refuses them for other views."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file. Raises RequestDataTooBig, which is answered with 400, if the view takes no files."""
        # The CSRF check reads the form at a time when the view is known but not called yet.
        found = self.request.resolver_match if self.request else None
        view = found.func if found else None
        self.max_bytes: int = getattr(view, "max_file_bytes", 0)
        if not self.max_bytes or getattr(view, "access", "") not in _ACCESS:
            raise RequestDataTooBig("a file, where none is asked for")
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Write a chunk of a file. When the file is too large, count only its size."""
        if start <= self.max_bytes:
            super().receive_data_chunk(raw_data, start)
