"""Files come in by marked views alone (decision 040): those of staff, and those of shoppers that know who sends.

Everywhere else a request that brings one is refused as soon as the file begins, before a byte of it is kept. What is larger than
a form may be is taken only at an address that such a page has signed, from the person or the browser that has the page:
`storefront.gunicorn_worker` asks for that before it reads on (decision 025).
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
# Whose views may take files: none that anybody may open.
_ACCESS = ("staff", "member", "own")


@dataclass(frozen=True)
class UploadLimits:
    """How large all files of a request may be together, and how many such requests a process takes at once, and of one network.

    `salt` signs its addresses. They are good for as long as a session may last, which the setting says.
    """

    salt: str
    max_bytes: int
    at_once: int
    per_network: int
    session_setting: str


# Each with places of its own: shoppers who send slowly keep no staff waiting.
STAFF_UPLOADS = UploadLimits("web.uploads", 160 * 1024 * 1024, 4, 4, "MAX_STAFF_SESSION_SECONDS")
SHOPPER_UPLOADS = UploadLimits(
    "web.uploads.shoppers", 60 * 1024 * 1024, 4, 2, "MAX_SESSION_SECONDS"
)
# For whom an address was signed: who is signed in, or the browser of somebody who need not be.
_MEMBER, _BROWSER = "m", "b"


@dataclass(frozen=True)
class UploadGrant:
    """What a signed address allows, and whom; `sender` is a keyed hash."""

    limits: UploadLimits
    sender: str

    def is_for_browser(self, csrf_cookie: str) -> bool:
        """Return whether the page was opened in the browser with this cookie, by somebody who need not be signed in."""
        return self.sender in _senders(_BROWSER, csrf_cookie)

    def is_for_member(self, user_id: UUID | None) -> bool:
        """Return whether somebody who is signed in has the page: the same person, by whichever session, or who opened it before a login."""
        if user_id is None:
            return False
        return self.sender[:1] == _BROWSER or self.sender in _senders(_MEMBER, user_id.hex)


def takes_files(max_bytes: int) -> Callable[[View[P]], View[P]]:
    """Declare that a view takes files. Of one with more than `max_bytes` only the beginning comes, with its whole size."""

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
    """Return the address to which the form of a page sends files; good for who is signed in, or for a guest's browser alone."""
    if is_for_guest:
        get_token(request)  # sets the cookie where there is none yet
        (sender, *_) = _senders(_BROWSER, request.META["CSRF_COOKIE"])
    else:
        (sender, *_) = _senders(_MEMBER, UUID(str(request.user.pk)).hex)
    signed = TimestampSigner(salt=limits.salt).sign(f"{address}?{sender}")
    return f"{address}?{urlencode({_PARAMETER: signed.removeprefix(f'{address}?')})}"


def _senders(kind: str, who: str) -> list[str]:
    """Return what stands for a sender in an address, under today's SECRET_KEY and then the old ones."""
    return [kind + digest[:32] for digest in keyed_digests(f"{kind} {who}", "uploads", "")]


def find_upload_grant(address: str, query: str) -> UploadGrant | None:
    """Return what `upload_url` has made an address and its query for; None if it has not. Raises SignatureExpired if that was too long ago."""
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
    """Takes files for marked views, into temporary files, and refuses them for all others."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file. Raises RequestDataTooBig, which is answered with 400, where none is asked for."""
        # Forms are read by the check of their token, before the view is called and after it is known.
        found = self.request.resolver_match if self.request else None
        view = found.func if found else None
        self.max_bytes: int = getattr(view, "max_file_bytes", 0)
        if not self.max_bytes or getattr(view, "access", "") not in _ACCESS:
            raise RequestDataTooBig("a file, where none is asked for")
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Write what comes; of a file that is too large only its size still counts."""
        if start <= self.max_bytes:
            super().receive_data_chunk(raw_data, start)
