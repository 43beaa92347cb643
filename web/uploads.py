"""Files come in by marked staff views alone (decision 040).

Everywhere else a request that brings one is refused as soon as the file begins, before a byte of it is kept. What is larger than
a form may be is taken only at an address that a page for the staff has signed: `storefront.gunicorn_worker` asks for that before
it reads on.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.core.signing import BadSignature, TimestampSigner

from web.decorators import P, View

# Of all files of a request together.
MAX_UPLOAD_BYTES = 160 * 1024 * 1024
# As long as somebody may stay signed in, and so may be on a page that was opened before.
TOKEN_SECONDS = 14 * 24 * 3600
_PARAMETER = "upload"
_SALT = "web.uploads"


def takes_files(max_bytes: int) -> Callable[[View[P]], View[P]]:
    """Declare that a staff view takes files. Of one with more than `max_bytes` only the beginning comes, with its whole size."""

    def decorated(view: View[P]) -> View[P]:
        view.max_file_bytes = max_bytes  # type: ignore[attr-defined]
        return view

    return decorated


def upload_url(address: str) -> str:
    """Return the address to which the form of a staff page sends files."""
    signed = TimestampSigner(salt=_SALT).sign(address)
    return f"{address}?{urlencode({_PARAMETER: signed.removeprefix(address)})}"


def is_upload_allowed(address: str, query: str) -> bool:
    """Return whether an address and its query are those that `upload_url` has made, not too long ago."""
    tokens = parse_qs(query).get(_PARAMETER, [""])
    try:
        TimestampSigner(salt=_SALT).unsign(f"{address}{tokens[0]}", max_age=TOKEN_SECONDS)
    except BadSignature:
        return False
    return True


class MarkedViewsHandler(TemporaryFileUploadHandler):
    """Takes files for marked staff views, into temporary files, and refuses them for all others."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Begin a file. Raises RequestDataTooBig, which is answered with 400, where none is asked for."""
        # Forms are read by the check of their token, before the view is called and after it is known.
        found = self.request.resolver_match if self.request else None
        view = found.func if found else None
        self.max_bytes: int = getattr(view, "max_file_bytes", 0)
        if not self.max_bytes or getattr(view, "access", "") != "staff":
            raise RequestDataTooBig("a file, where none is asked for")
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Write what comes; of a file that is too large only its size still counts."""
        if start <= self.max_bytes:
            super().receive_data_chunk(raw_data, start)
