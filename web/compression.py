"""What is drawn is sent compressed, and its size does not tell what is secret in it (S88, decision 045).

A page shows what somebody else may have chosen (its address) beside what is the visitor's alone. Compressed together, the page is shorter
if one repeats the other, and whoever sees sizes can guess letter by letter (BREACH). So Django adds up to a hundred random bytes to each
answer; and what is compressed once for all visitors has their own things in it as they are.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from struct import pack
from zlib import MAX_WBITS, Z_SYNC_FLUSH, compressobj, crc32

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers

# Photos, PDFs and workbooks are compressed already, files are sent as they come, and files of `static/` were compressed beforehand.
COMPRESSED_TYPES = {"text/html", "image/svg+xml", "application/xml"}
# A gzip file of no name, no time and no system; and how its last block says that there is no more.
_GZIP_HEAD, _LAST_BLOCK = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"\x03\0"
_STORED_BLOCK_BYTES = 0xFFFF
# How much a coding is wanted, from 0 to 1.
_WEIGHT = re.compile(r"[01](?:\.\d{0,3})?")


class CompressionMiddleware(GZipMiddleware):
    """Compresses pages, drawings and the sitemap for browsers that take gzip, with Django's guard against BREACH."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        content_type = response.get("Content-Type", "").partition(";")[0]
        if response.streaming or content_type not in COMPRESSED_TYPES:
            return response
        return super().process_response(request, response)


class AcceptedEncodingsMiddleware:
    """Leaves in a request's Accept-Encoding what its sender takes: a coding with `q=0` is refused (RFC 9110, 12.5.3).

    All that looks for a coding by its name, here, in Django and in WhiteNoise, finds none that was refused.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if ";" in (sent := request.META.get("HTTP_ACCEPT_ENCODING", "")):
            request.META["HTTP_ACCEPT_ENCODING"] = ", ".join(_list_accepted(sent))
        return self.get_response(request)


def _list_accepted(header: str) -> Iterator[str]:
    """Yield the codings of an Accept-Encoding that have a weight above 0; one whose weight is no number counts as refused."""
    for each in header.split(","):
        coding, *parameters = (part.strip().lower() for part in each.split(";"))
        weights = [part.partition("=")[2].strip() for part in parameters if part.startswith("q")]
        if coding and all(_is_above_zero(weight) for weight in weights):
            yield coding


def _is_above_zero(weight: str) -> bool:
    return bool(_WEIGHT.fullmatch(weight)) and float(weight) > 0


def send_gzip(response: HttpResponse, content: bytes) -> None:
    """Let a response have content that is compressed already."""
    response.content = content
    response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])


def is_gzip_accepted(request: HttpRequest) -> bool:
    """Return whether whoever asks takes gzip."""
    return bool(re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")))


def deflate(text: bytes) -> bytes:
    """Return a text as a part of a gzip file, compressed by itself: it repeats nothing of the parts before it."""
    compressor = compressobj(wbits=-MAX_WBITS)
    return compressor.compress(text) + compressor.flush(Z_SYNC_FLUSH)


def store(text: bytes) -> bytes:
    """Return a text as a part of a gzip file, as it is: its length is all that the file's length says of it."""
    blocks = (
        text[start : start + _STORED_BLOCK_BYTES]
        for start in range(0, len(text), _STORED_BLOCK_BYTES)
    )
    return b"".join(pack("<BHH", 0, len(each), len(each) ^ 0xFFFF) + each for each in blocks)


def join_gzip(parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the gzip file of parts in their order, each of them a text and what `deflate` or `store` has made of it."""
    file, checksum, size = [_GZIP_HEAD], 0, 0
    for text, part in parts:
        file.append(part)
        checksum, size = crc32(text, checksum), size + len(text)
    return b"".join([*file, _LAST_BLOCK, pack("<II", checksum, size)])
