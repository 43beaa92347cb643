"""Compresses pages in a way that their size reveals no secrets (S88, decision 045).

A page contains text that an attacker may have chosen, such as its address, beside the visitor's secrets. The compressed page is
shorter if the text repeats a secret, so the attacker can guess the secret letter by letter (BREACH). Django therefore adds up to
a hundred random bytes to each answer. Pages that are compressed once for all visitors hold each visitor's values uncompressed.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from struct import pack
from zlib import MAX_WBITS, Z_SYNC_FLUSH, compressobj, crc32

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers

# Photos, PDFs and workbooks are compressed already, and files of `static/` were compressed beforehand.
COMPRESSED_TYPES = {"text/html", "image/svg+xml", "application/xml"}
# The header of a gzip file without name, time and system, and its last block.
_GZIP_HEAD, _LAST_BLOCK = b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"\x03\0"
_STORED_BLOCK_BYTES = 0xFFFF
# The weight of a coding in an Accept-Encoding header, from 0 to 1.
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
    """Removes codings with `q=0` from a request's Accept-Encoding: the sender refuses these codings (RFC 9110, 12.5.3).

    Django, WhiteNoise and this module look for a coding only by its name.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if ";" in (sent := request.META.get("HTTP_ACCEPT_ENCODING", "")):
            request.META["HTTP_ACCEPT_ENCODING"] = ", ".join(_list_accepted(sent))
        return self.get_response(request)


def _list_accepted(header: str) -> Iterator[str]:
    """Yield the codings of an Accept-Encoding with a weight above 0. A weight that is no number counts as 0."""
    for each in header.split(","):
        coding, *parameters = (part.strip().lower() for part in each.split(";"))
        weights = [part.partition("=")[2].strip() for part in parameters if part.startswith("q")]
        if coding and all(_is_above_zero(weight) for weight in weights):
            yield coding


def _is_above_zero(weight: str) -> bool:
    return bool(_WEIGHT.fullmatch(weight)) and float(weight) > 0


def send_gzip(response: HttpResponse, content: bytes) -> None:
    """Set the content of a response to text that is compressed already."""
    response.content = content
    response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])


def is_gzip_accepted(request: HttpRequest) -> bool:
    """Return whether the sender of a request accepts gzip."""
    return bool(re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")))


def deflate(text: bytes) -> bytes:
    """Return a text as a part of a gzip file, compressed without reference to the file's earlier parts."""
    compressor = compressobj(wbits=-MAX_WBITS)
    return compressor.compress(text) + compressor.flush(Z_SYNC_FLUSH)


def store(text: bytes) -> bytes:
    """Return a text as an uncompressed part of a gzip file: the file's size shows only the text's length."""
    blocks = (
        text[start : start + _STORED_BLOCK_BYTES]
        for start in range(0, len(text), _STORED_BLOCK_BYTES)
    )
    return b"".join(pack("<BHH", 0, len(each), len(each) ^ 0xFFFF) + each for each in blocks)


def join_gzip(parts: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the gzip file of these parts. Each part is a text and the result of `deflate` or `store` for it."""
    file, checksum, size = [_GZIP_HEAD], 0, 0
    for text, part in parts:
        file.append(part)
        checksum, size = crc32(text, checksum), size + len(text)
    return b"".join([*file, _LAST_BLOCK, pack("<II", checksum, size)])
