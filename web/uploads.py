"""Files come in by marked views alone (decisions 040 and 071): those of staff, and those of shoppers that know who sends.

Everywhere else a request that brings one is refused as soon as the file begins, before a byte of it is kept. What is larger than
a form may be is taken only at an address that such a page has signed: `storefront.gunicorn_worker` asks for that before
it reads on.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.signing import BadSignature, TimestampSigner

from web.decorators import P, View

# As long as somebody may stay signed in, and so may be on a page that was opened before.
TOKEN_SECONDS = 14 * 24 * 3600
_PARAMETER = "upload"
# Whose views may take files: none that anybody may open.
_ACCESS = ("staff", "member", "own")


@dataclass(frozen=True)
class UploadLimits:
    """How large all files of a request may be together, and how many such requests a process takes at once; `salt` signs its addresses."""

    salt: str
    max_bytes: int
    at_once: int


# Each with places of its own: shoppers who send slowly keep no staff waiting.
STAFF_UPLOADS = UploadLimits("web.uploads", 160 * 1024 * 1024, 4)
SHOPPER_UPLOADS = UploadLimits("web.uploads.shoppers", 60 * 1024 * 1024, 2)


def takes_files(max_bytes: int) -> Callable[[View[P]], View[P]]:
    """Declare that a view takes files. Of one with more than `max_bytes` only the beginning comes, with its whole size."""

    def decorated(view: View[P]) -> View[P]:
        view.max_file_bytes = max_bytes  # type: ignore[attr-defined]
        return view

    return decorated


def upload_url(address: str, limits: UploadLimits = STAFF_UPLOADS) -> str:
    """Return the address to which the form of a page sends files."""
    signed = TimestampSigner(salt=limits.salt).sign(address)
    return f"{address}?{urlencode({_PARAMETER: signed.removeprefix(address)})}"


def find_upload_limits(address: str, query: str) -> UploadLimits | None:
    """Return the limits for which `upload_url` has made an address and its query, not too long ago; None if it has not."""
    tokens = parse_qs(query).get(_PARAMETER, [""])
    for limits in (STAFF_UPLOADS, SHOPPER_UPLOADS):
        signer = TimestampSigner(salt=limits.salt)
        with suppress(BadSignature):
            signer.unsign(f"{address}{tokens[0]}", max_age=TOKEN_SECONDS)
            return limits
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
