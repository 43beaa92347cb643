"""Fetches files from other hosts at addresses that people have typed: only by https, and only from public hosts.

A host's name is resolved once, and the connection goes to the resolved address: a name that leads elsewhere a moment later
(DNS rebinding) gains nothing. Each redirect is checked like the first address. All numbers are bounds on what a hostile host costs.
"""

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
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
_IPV6_UNICAST = ipaddress.ip_network("2000::/3")
# Multicast; 6to4, which leads to IPv4 hosts, and its relays; the addresses of protocols. `is_global` knows all others.
_SPECIAL = [
    ipaddress.ip_network(each)
    for each in ("224.0.0.0/4", "2002::/16", "192.88.99.0/24", "192.0.0.0/24")
]
_MOVED = (301, 302, 303, 307, 308)


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
    if parts.scheme != "https":
        raise FetchFailed(_("Enter an address that begins with https://."))
    is_plain = host and "@" not in parts.netloc and port in (None, _HTTPS_PORT)
    if not is_plain and not _is_test_host(parts):
        raise FetchFailed(_("Enter an address without a user name or port."))
    return parts


def _is_test_host(parts: SplitResult) -> bool:
    """Return whether a host is one of a test: it may be this machine, and speaks http."""
    return parts.netloc in settings.FETCH_TEST_HOSTS


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
    with closing(HTTPConnection(parts.hostname, parts.port or _HTTPS_PORT)) as connection:
        connection.sock = _connect(parts, connection.port, until)
        if not _is_test_host(parts):
            # The handshake waits for the timer, which bounds it.
            connection.sock = _get_context().wrap_socket(
                connection.sock, server_hostname=parts.hostname, do_handshake_on_connect=False
            )
        timer = Timer(max(until - monotonic(), 0.0), _end, (connection.sock,))
        timer.daemon = True
        timer.start()
        try:
            if isinstance(connection.sock, ssl.SSLSocket):
                connection.sock.do_handshake()
            headers = {
                "Host": parts.netloc,
                "Accept": accept,
                "Accept-Encoding": "identity",
                "User-Agent": f"Mozilla/5.0 (compatible; import; +{settings.PUBLIC_URL})",
                "Connection": "close",
            }
            target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
            connection.request("GET", target, headers=headers)
            with connection.getresponse() as answer:
                yield answer
            if monotonic() >= until:
                # Content without a length ends with the connection, so it may be cut off.
                raise TimeoutError
        finally:
            timer.cancel()


@cache
def _get_context() -> ssl.SSLContext:
    # Reading the authorities takes longer than a handshake.
    return ssl.create_default_context()


def _end(connected: socket.socket) -> None:
    """End a connection, also while another thread reads from it."""
    with suppress(OSError):  # it has ended already
        # SSLSocket.shutdown would take the encryption away beneath the other thread.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _connect(parts: SplitResult, port: int, until: float) -> socket.socket:
    """Return a connection to one of a host's addresses. Raises FetchFailed if one of them is not public. Also raises OSError."""
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchFailed(_("The host was not found."), is_temporary=True) from error
    addresses = [str(each[4][0]) for each in found]
    if not _is_test_host(parts) and not all(map(is_public, addresses)):
        raise FetchFailed(_("This host isn’t public."))
    failure = OSError("a host without addresses")
    # A second address for hosts that have both kinds: one of them may lead nowhere from here.
    for address in dict.fromkeys((*addresses[:1], *addresses[-1:])):
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
    # Mapped IPv4 addresses, NAT64, and the unique local, link-local and multicast ranges are no unicast of the Internet.
    if ip.version == _IPV6_UNICAST.version and ip not in _IPV6_UNICAST:
        return False
    return ip.is_global and not any(ip in each for each in _SPECIAL)


def _read(answer: HTTPResponse, max_bytes: int) -> bytes:
    """Return the content of an answer. Raises FetchFailed, OSError and HTTPException."""
    if answer.status != HTTPStatus.OK:
        text = _("The host answered with status %(status)d.") % {"status": answer.status}
        is_temporary = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status in (
            HTTPStatus.REQUEST_TIMEOUT,
            HTTPStatus.TOO_EARLY,
            HTTPStatus.TOO_MANY_REQUESTS,
        )
        raise FetchFailed(text, is_temporary=is_temporary)
    content = bytearray()
    while block := answer.read(_BLOCK_BYTES):
        content += block
        if len(content) > max_bytes:
            megabytes = max_bytes // (1024 * 1024)
            raise FetchFailed(_("This file has more than %(most)d MB.") % {"most": megabytes})
    if answer.length:  # the connection ended early
        raise FetchFailed(_("The host didn’t answer."), is_temporary=True)
    return bytes(content)
