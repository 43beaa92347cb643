"""The load generator: a process with a few keep-alive connections in closed loops.

It speaks just enough HTTP for an answer with a Content-Length. So it takes about 30 µs of processor time a request, a tenth of the
time of http.client.
"""

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, repeat
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Self
from urllib.parse import urlencode
from uuid import uuid4

HOST = "127.0.0.1"


def percentile(seconds: Sequence[float], share: float) -> float:
    """Return the time in milliseconds within which this share of the latencies (in seconds) stayed."""
    ordered = sorted(seconds)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000


@dataclass
class Slice:
    """The result of a slice, a short period of load. Latencies are in seconds."""

    seconds: float
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        return percentile(self.latencies, share)


@dataclass(frozen=True)
class PageRequests:
    """Requests of one page, which a connection sends repeatedly."""

    path: str
    cookie: str
    is_compressed: bool = False
    answer: bytes = b"200"
    headers: tuple[str, ...] = ()

    def requests(self, host: str) -> Iterator[bytes]:
        """Yield the requests, without end."""
        lines = [
            f"GET {self.path} HTTP/1.1",
            f"Host: {host}",
            *([f"Cookie: {self.cookie}"] if self.cookie else []),
            *(["Accept-Encoding: gzip"] if self.is_compressed else []),
            *self.headers,
        ]
        return repeat("\r\n".join([*lines, "", ""]).encode())


@dataclass(frozen=True)
class CartSubmits:
    """Submits that add one variant after the other to a cart, each with a new idempotency key."""

    path: str
    cookie: str
    csrf: str
    variants: Sequence[str]
    answer: bytes = b"303"

    def requests(self, host: str) -> Iterator[bytes]:
        """Yield the requests, without end."""
        for variant in cycle(self.variants):
            form = {
                "variant": variant,
                "quantity": 1,
                "operation": uuid4(),
                "csrfmiddlewaretoken": self.csrf,
            }
            body = urlencode(form)
            lines = [
                *(f"POST {self.path} HTTP/1.1", f"Host: {host}", f"Cookie: {self.cookie}"),
                "Content-Type: application/x-www-form-urlencoded",
                *(f"Content-Length: {len(body)}", "", body),
            ]
            yield "\r\n".join(lines).encode()


class Load:
    """The load generator's process. Use it as a context manager."""

    def __init__(self, connections: int) -> None:
        context = get_context("spawn")
        self._connections = connections
        self._here, worker_end = context.Pipe()
        self._process = context.Process(target=_work, args=(worker_end,), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._here.send(None)
        self._process.join(10)

    def run(
        self, port: int, path: str, cookie: str, seconds: float, *, is_compressed: bool = False
    ) -> Slice:
        """Request a page on all connections, in closed loops. Raises RuntimeError for any status but 200."""
        asked = PageRequests(path, cookie, is_compressed)
        return self.run_each(port, [asked] * self._connections, seconds)

    def run_each(
        self, port: int, asked: Sequence[PageRequests | CartSubmits], seconds: float
    ) -> Slice:
        """Send each of `asked` on a connection of its own. Raises RuntimeError for a status other than its `answer`."""
        self._here.send((port, asked, seconds))
        found: Slice | str = self._here.recv()
        if isinstance(found, str):
            raise RuntimeError(found)
        return found


def _work(pipe: Connection) -> None:
    while (order := pipe.recv()) is not None:
        port, wanted, seconds = order
        try:
            with ExitStack() as stack:
                acts = [stack.enter_context(_open_connection(port, each)) for each in wanted]
                pipe.send(in_threads(acts)(seconds))
        except (OSError, RuntimeError) as error:
            pipe.send(str(error))


@contextmanager
def _open_connection(port: int, wanted: PageRequests | CartSubmits) -> Iterator[Callable[[], None]]:
    """Open a connection, and yield a function that sends the next request on it and reads the answer."""
    requests = wanted.requests(f"{HOST}:{port}")
    with socket.create_connection((HOST, port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def ask() -> None:
            connection.sendall(next(requests))
            if (status := _read(connection)) != wanted.answer:
                raise RuntimeError(f"{wanted.path} answered {status.decode()}")

        yield ask


def in_threads(acts: Sequence[Callable[[], None]]) -> Callable[[float], Slice]:
    """Return a function that calls each of `acts` in a thread of its own, repeatedly, for some seconds.

    An error ends its thread. When all threads have ended, the function raises the first error.
    """

    def run(seconds: float) -> Slice:
        latencies: list[float] = []
        failures: list[Exception] = []
        until = perf_counter() + seconds

        def repeat(act: Callable[[], None]) -> None:
            try:
                while (started := perf_counter()) < until:
                    act()
                    latencies.append(perf_counter() - started)
            except Exception as error:  # noqa: BLE001 raised again below, in the thread that measures
                failures.append(error)

        threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
        started = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return Slice(perf_counter() - started, latencies)

    return run


def _read(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    while (end := data.find(b"\r\n\r\n")) < 0:
        more = connection.recv(65536)
        if not more:
            raise OSError("the server closed the connection")
        data += more
    head = data[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        raise OSError("an answer without a Content-Length")
    left = int(head[at + 15 :].split(b"\r\n", 1)[0]) - (len(data) - end - 4)
    while left > 0:
        more = connection.recv(65536)
        if not more:
            raise OSError("the server closed the connection")
        left -= len(more)
    return data[9:12]
