"""Clients that send half a request, and what they leave to the others: on the real web server."""

import contextlib
import logging
import os
import re
import selectors
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import Client, RequestFactory
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from accounts import sessions
from accounts.models import User
from storefront.gunicorn_worker import Arrival, RefusedRequest, WholeRequestWorker
from storefront.upload_senders import UploadSender
from tests.factories import make_user
from tests.web_server import fetch_page, serve_shop
from web.uploads import SHOPPER_UPLOADS, STAFF_UPLOADS, UploadGrant, UploadLimits, upload_url

HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_BODY = b"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000\r\n\r\nemail="
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SECONDS = 3


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder = tmp_path_factory.mktemp("slow")
    with serve_shop(folder, REQUEST_SECONDS=str(SECONDS)) as url:
        yield "127.0.0.1", int(url.rpartition(":")[2])


@pytest.fixture
def connect(address: tuple[str, int]) -> Iterator[Callable[[bytes], socket.socket]]:
    """Open a connection and send something; all are closed at the end."""
    with contextlib.ExitStack() as stack:

        def connect(sent: bytes) -> socket.socket:
            client = stack.enter_context(socket.create_connection(address, timeout=30))
            client.sendall(sent)
            return client

        yield connect


CSRF = "c" * 32


def browser_request(user: User | None = None) -> HttpRequest:
    """A request for the page with a form for files."""
    request = RequestFactory().get("/")
    request.META["CSRF_COOKIE"] = CSRF
    request.user = user or AnonymousUser()
    return request


def sign_address(user: User, limits: UploadLimits) -> str:
    return upload_url(browser_request(user), "/healthz", limits)


def sign_in(user: User) -> str:
    """Return the cookie of a new session."""
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def comes_from(limits: UploadLimits, network: int) -> UploadSender:
    return UploadSender(UploadGrant(limits, "m"), [(f"203.0.113.{network}", 1)])


def ask(path: str, length: int, cookie: str) -> bytes:
    """Return the head of a request with files."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n"
        f"Connection: close\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def read_to_end(client: socket.socket) -> bytes:
    """Return all that comes until the server closes its end."""
    answer = b""
    # Who goes on sending after the answer may find the connection gone.
    with contextlib.suppress(ConnectionError):
        while data := client.recv(65536):
            answer += data
    return answer


def statuses(answer: bytes) -> list[int]:
    return [int(each) for each in re.findall(rb"HTTP/1\.1 (\d+)", answer)]


def test_s67_a_hundred_slow_clients_hold_up_nobody(
    connect: Callable[[bytes], socket.socket], address: tuple[str, int]
) -> None:
    slow = [connect(half) for half in (HALF_HEAD, HALF_BODY) for _ in range(50)]
    # These have their answer and do not close: that must not keep the server waiting, either.
    for _ in range(20):
        connect(WHOLE + b"Connection: close\r\n\r\n")
    over = threading.Event()

    def dribble() -> None:
        while not over.wait(1):
            for client in slow:
                with contextlib.suppress(OSError):
                    client.send(b"x")

    dribbling = threading.Thread(target=dribble)
    dribbling.start()
    try:
        for _ in range(20):
            assert fetch_page(f"http://{address[0]}:{address[1]}/healthz")[0] == 200
        # They are slow as one, and none gets more time for sending a byte now and then.
        answers = [statuses(read_to_end(client)) for client in slow]
    finally:
        over.set()
        dribbling.join()
    assert all(each in ([408], []) for each in answers)
    assert [408] in answers


def test_s67_a_connection_that_says_nothing_is_closed(
    connect: Callable[[bytes], socket.socket],
) -> None:
    silent, kept = connect(b""), connect(WHOLE + b"\r\n")
    assert read_to_end(silent) == b""
    assert statuses(read_to_end(kept)) == [200], "kept open for another request, but not for ever"


def test_s67_whoever_comes_in_pieces_is_answered_as_anybody(
    connect: Callable[[bytes], socket.socket],
) -> None:
    in_pieces = connect(b"GET /healthz HT")
    for piece in (b"TP/1.1\r\nHost: 127.0.0.1\r\n", b"Content-Length: 4\r", b"\n\r\nab"):
        in_pieces.sendall(piece)
    # The last of the body comes with the whole of the next request.
    in_pieces.sendall(b"cd" + WHOLE + b"Connection: close\r\n\r\n")
    assert statuses(read_to_end(in_pieces)) == [200, 200]


def test_s67_what_is_no_request_or_too_large_gets_no_thread(
    connect: Callable[[bytes], socket.socket],
) -> None:
    head = b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    expected = {
        head + b"Content-Length: 262145\r\n\r\n": 413,
        head + b"Transfer-Encoding: chunked\r\n\r\n": 411,
        head + b"X-Long: " + b"x" * 70_000: 431,
        head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
        head + b"Content-Length: -1\r\n\r\n": 400,
        head + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n": 400,
        head + b"Content-Length\r\n\r\n": 400,
        b"\r\n\r\n": 400,
        b"nonsense\r\n\r\n": 400,
    }
    found = {sent: statuses(read_to_end(connect(sent))) for sent in expected}
    assert found == {sent: [status] for sent, status in expected.items()}


def test_s82_files_are_taken_where_a_page_for_the_staff_has_signed_the_address(
    connect: Callable[[bytes], socket.socket],
) -> None:
    ann = make_user("Ann")
    cookie = sign_in(ann)
    signed, shoppers = sign_address(ann, STAFF_UPLOADS), sign_address(ann, SHOPPER_UPLOADS)
    for path, length, megabytes in (
        ("/healthz?upload=x", 400_000, 160),
        (signed, STAFF_UPLOADS.max_bytes + 1, 160),
        (shoppers, SHOPPER_UPLOADS.max_bytes + 1, 60),
    ):
        answer = read_to_end(connect(ask(path, length, cookie)))
        assert statuses(answer) == [413]
        assert f"at most {megabytes} MB together".encode() in answer
    client = connect(ask(signed, 400_000, cookie) + b"x" * 300_000)
    client.sendall(b"x" * 100_000)
    assert statuses(read_to_end(client)) == [200]
    # The next request comes with the last of the file.
    arrival = Arrival(0.0, bytearray(b"abc"), size=5)
    arrival.move_to_disk()
    arrival.add(b"defg")
    assert arrival.is_whole
    request, rest = arrival.split()
    assert rest == b"fg"
    # A file counts until a thread has all of it, and not until the connection ends.
    parts = iter(request)
    assert arrival.file
    assert not arrival.file.closed
    assert next(parts) == b"abcde"
    assert arrival.file.closed


def test_s103_files_are_taken_from_who_has_the_page_alone(
    connect: Callable[[bytes], socket.socket],
) -> None:
    ann, ben = make_user("Ann"), make_user("Ben")
    signed, session = sign_address(ann, SHOPPER_UPLOADS), sign_in(ann)
    guests = upload_url(browser_request(), "/healthz", SHOPPER_UPLOADS, is_for_guest=True)
    browser = f"{settings.CSRF_COOKIE_NAME}={CSRF}"

    def send(path: str, cookie: str, bytes_sent: int) -> list[int]:
        return statuses(read_to_end(connect(ask(path, 400_000, cookie) + b"x" * bytes_sent)))

    refused = {
        "no cookie": (signed, ""),
        "a made up one": (signed, f"{settings.SESSION_COOKIE_NAME}={'a' * 32}"),
        "another's": (signed, sign_in(ben)),
        "another browser": (guests, f"{settings.CSRF_COOKIE_NAME}={'z' * 32}"),
    }
    taken = {
        "one's own": (signed, session),
        # Whoever had to log in again has the page of before.
        "one's own, of another login": (signed, sign_in(ann)),
        "a guest's browser": (guests, browser),
        "a page from before a login": (guests, session),
    }
    # Refused before all of it is there, so that no place is held.
    found = {name: send(*who, 300_000) for name, who in refused.items()}
    found |= {name: send(*who, 400_000) for name, who in taken.items()}
    assert found == {name: [403] if name in refused else [200] for name in found}
    # A session that ends meanwhile: so does its upload, with the next megabyte.
    client = connect(ask(signed, 4_000_000, session) + b"x" * 400_000)
    sessions.end_sessions(ann.pk)
    with contextlib.suppress(ConnectionError):
        client.sendall(b"x" * 1_600_000)
    answer = read_to_end(client)
    assert statuses(answer) == [403]
    assert b"not signed in any more" in answer


def test_s103_files_that_come_too_slowly_give_their_place_back(
    connect: Callable[[bytes], socket.socket],
) -> None:
    ann = make_user("Ann")
    cookie, signed = sign_in(ann), sign_address(ann, SHOPPER_UPLOADS)
    # As many as a network may send at once; the next one waits for them.
    slow = [connect(ask(signed, 4_000_000, cookie) + b"x" * 10_000) for _ in range(2)]
    client = connect(ask(signed, 400_000, cookie))
    assert statuses(read_to_end(client)) == [503]
    for each in slow:
        answer = read_to_end(each)
        assert statuses(answer) == [408]
        assert b"too slowly" in answer
    client = connect(ask(signed, 400_000, cookie) + b"x" * 400_000)
    assert statuses(read_to_end(client)) == [200]


def test_s67_who_asks_before_sending_a_body_is_told_to(
    connect: Callable[[bytes], socket.socket],
) -> None:
    client = connect(
        WHOLE + b"Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    assert statuses(client.recv(100)) == [100]
    client.sendall(b"ab")
    assert statuses(read_to_end(client))[-1] == 200


def test_s67_when_many_are_slow_the_slowest_goes() -> None:
    config = Config()
    config.set("worker_connections", 4)
    worker = WholeRequestWorker(1, os.getpid(), [], None, 30, config, logging.getLogger())
    with contextlib.ExitStack() as stack:
        worker.poller = stack.enter_context(selectors.DefaultSelector())
        pairs = [tuple(map(stack.enter_context, socket.socketpair())) for _ in range(3)]
        connections = [TConn(config, server, ("127.0.0.1", 1), None) for _, server in pairs]
        for connection in connections:
            worker.enqueue_req(connection)
        slowest, _ = pairs[0]
        slowest.settimeout(10)
        assert slowest.recv(1) == b"", "closed, to make room for the third"
        assert list(worker.arrivals) == connections[1:]
        # Files that threads are reading from count as those that come.
        for limits in (SHOPPER_UPLOADS, STAFF_UPLOADS):
            read_by_threads = [Arrival(0.0, size=5) for _ in range(limits.at_once)]
            for number, each in enumerate(read_by_threads):
                worker.begin_upload(each, comes_from(limits, number // limits.per_network))
            # Another network, and one that has sent all that one may at once.
            list(read_by_threads[-1].split()[0])
            elsewhere, full = comes_from(limits, 9), comes_from(limits, 0)
            if limits.per_network < limits.at_once:
                with pytest.raises(RefusedRequest, match="503"):
                    worker.begin_upload(Arrival(0.0, size=5), full)
            worker.begin_upload(read_by_threads[-1], elsewhere)
            with pytest.raises(RefusedRequest, match="503"):
                worker.begin_upload(Arrival(0.0, size=5), elsewhere)
        for each in read_by_threads:
            each.close()
        assert all(each.closed for each in worker.files[STAFF_UPLOADS])
        # The poller may have seen something of it in the same moment.
        worker.receive(connections[0], connections[0].sock)
        assert list(worker.arrivals) == connections[1:]
