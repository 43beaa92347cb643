"""Fetches files from other hosts at addresses that people have typed: only by https, and only from public hosts.

A host's name is resolved once, and the connection goes to the resolved address: a name that leads elsewhere a moment later
(DNS rebinding) gains nothing. Each redirect is checked like the first address. All numbers are bounds on what a hostile host costs.
"""

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Timer
from time import monotonic
from urllib.parse import SplitResult, urljoin, urlsplit

from django.conf import settings
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _

MAX_URL_LENGTH = 2000
MAX_REDIRECTS = 5
# For the connection and each read; and for a whole file with its redirects.
_ANSWER_SECONDS, _FILE_SECONDS = 10.0, 30.0
_BLOCK_BYTES = 64 * 1024
_HTTPS_PORT = 443
# Global unicast. Mapped IPv4 addresses, NAT64, and the unique local, link-local and multicast ranges are outside of it.
_IPV6 = ipaddress.ip_network("2000::/3")
# 6to4, which leads to IPv4 hosts, and its relays; the addresses of protocols.
_SPECIAL = [ipaddress.ip_network(each) for each in ("2002::/16", "192.88.99.0/24", "192.0.0.0/24")]
_TEMPORARY = {
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
    *(each for each in HTTPStatus if each >= HTTPStatus.INTERNAL_SERVER_ERROR),
}
_MOVED = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.SEE_OTHER,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)


class FetchFailed(Exception):
    """A file could not be fetched; the text says why. With `is_temporary`, a later attempt can succeed."""

    def __init__(self, text: str, *, is_temporary: bool = False) -> None:
        super().__init__(text)
        self.is_temporary = is_temporary


def check_url(url: str) -> SplitResult:
    """Return the parts of an address from which a file may be fetched. The host's name is not resolved. Raises FetchFailed."""
    if len(url) > MAX_URL_LENGTH:
        raise FetchFailed(
            _("This address has more than %(most)d characters.") % {"most": MAX_URL_LENGTH}
        )
    try:
        parts = urlsplit(iri_to_uri(url))
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise FetchFailed(_("This is not a web address.")) from error
    if parts.netloc in settings.FETCH_TEST_HOSTS and parts.scheme == "http":
        return parts
    if parts.scheme != "https":
        raise FetchFailed(_("Enter an address that begins with https://."))
    if not host or "@" in parts.netloc or port not in (None, _HTTPS_PORT):
        raise FetchFailed(_("Enter an address without a user name or port."))
    return parts


def find_host(url: str) -> str:
    """Return the host of an address that `check_url` accepts. Raises FetchFailed."""
    return check_url(url).netloc.lower()


def fetch_file(url: str, max_bytes: int, accept: str) -> bytes:
    """Return the content at an address, at most `max_bytes`. `accept` are content types. Raises FetchFailed."""
    until = monotonic() + _FILE_SECONDS
    try:
        for _hop in range(MAX_REDIRECTS + 1):
            parts = check_url(url)
            with _open(parts, accept, until) as answer:
                if answer.status not in _MOVED:
                    return _read(answer, max_bytes)
                url = urljoin(parts.geturl(), answer.getheader("Location", ""))
    except TimeoutError as error:
        raise FetchFailed(_("The host didn’t answer in time."), is_temporary=True) from error
    except ssl.SSLCertVerificationError as error:
        raise FetchFailed(_("The host’s certificate isn’t valid."), is_temporary=True) from error
    # ValueError: a header or a length that http.client cannot read.
    except (OSError, HTTPException, ValueError) as error:
        raise FetchFailed(_("The host didn’t answer."), is_temporary=True) from error
    raise FetchFailed(_("There are too many redirects."))


@contextmanager
def _open(parts: SplitResult, accept: str, until: float) -> Iterator[HTTPResponse]:
    """Connect to a host, send the request, and yield the answer.

    The connection ends at `until`, a time of the monotonic clock. Raises FetchFailed, HTTPException and OSError.
    """
    assert parts.hostname
    is_test = parts.scheme == "http"
    port = parts.port or (80 if is_test else _HTTPS_PORT)
    connected = _connect(parts.hostname, port, until, is_test=is_test)
    if not is_test:
        connected = _get_context().wrap_socket(
            connected, server_hostname=parts.hostname, do_handshake_on_connect=False
        )
    connection = HTTPConnection(parts.hostname, port)
    connection.sock = connected
    timer = Timer(max(until - monotonic(), 0.0), _end, (connected,))
    timer.daemon = True
    timer.start()
    try:
        if isinstance(connected, ssl.SSLSocket):
            connected.do_handshake()
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        headers = {
            "Host": parts.netloc,
            "Accept": accept,
            "Accept-Encoding": "identity",
            "User-Agent": f"Mozilla/5.0 (compatible; import; +{settings.PUBLIC_URL})",
            "Connection": "close",
        }
        connection.request("GET", target, headers=headers)
        with connection.getresponse() as answer:
            yield answer
        if monotonic() >= until:
            # Content without a length ends with the connection, so it may be cut off.
            raise TimeoutError
    finally:
        timer.cancel()
        connection.close()


@cache
def _get_context() -> ssl.SSLContext:
    # Reading the authorities takes longer than a handshake.
    return ssl.create_default_context()


def _end(connected: socket.socket) -> None:
    """End a connection, also while another thread reads from it."""
    with suppress(OSError):  # it has ended already
        # SSLSocket.shutdown would take the encryption away beneath the other thread.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _connect(host: str, port: int, until: float, *, is_test: bool) -> socket.socket:
    """Return a connection to one of a host's addresses. Raises FetchFailed if one of them is not public. Also raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchFailed(_("The host was not found."), is_temporary=True) from error
    addresses = [str(each[4][0]) for each in found]
    if not is_test and not all(map(is_public, addresses)):
        raise FetchFailed(_("This host isn’t public."))
    failure: OSError = OSError("a host without addresses")
    # A second address for hosts that have both kinds: one of them may lead nowhere from here.
    for address in dict.fromkeys([addresses[0], addresses[-1]] if addresses else []):
        try:
            seconds = min(_ANSWER_SECONDS, max(until - monotonic(), 0.1))
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public Internet."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # an IPv6 address with a zone
        return False
    if ip.version == _IPV6.version and ip not in _IPV6:
        return False
    is_special = ip.is_multicast or ip.is_reserved or any(ip in each for each in _SPECIAL)
    return ip.is_global and not is_special


def _read(answer: HTTPResponse, max_bytes: int) -> bytes:
    """Return the content of an answer. Raises FetchFailed, OSError and HTTPException."""
    if answer.status != HTTPStatus.OK:
        text = _("The host answered with status %(status)d.") % {"status": answer.status}
        raise FetchFailed(text, is_temporary=answer.status in _TEMPORARY)
    content = bytearray()
    while block := answer.read(_BLOCK_BYTES):
        content += block
        if len(content) > max_bytes:
            megabytes = max_bytes // (1024 * 1024)
            raise FetchFailed(_("This file has more than %(most)d MB.") % {"most": megabytes})
    if answer.length:  # the connection ended early
        raise FetchFailed(_("The host didn’t answer."), is_temporary=True)
    return bytes(content)
