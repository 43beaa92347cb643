"""The load: a process of its own with a few keep-alive connections, each of which asks, reads and asks again.

It speaks just enough HTTP for an answer with a Content-Length, so that it takes little of the processors that the
shop is measured on: some 30 µs a request, where http.client takes ten times as much.
"""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Self

HOST = "127.0.0.1"


@dataclass
class Slice:
    """What one slice of load came to: latencies in seconds."""

    seconds: float
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """The latency that this share of the requests stayed below, in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000


class Load:
    """The load generator's process. Use it as a context manager."""

    def __init__(self, connections: int) -> None:
        context = get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_work, args=(there, connections), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._here.send(None)
        self._process.join(10)

    def run(self, port: int, path: str, cookie: str, seconds: float) -> Slice:
        """Ask for the page as often as it is answered. Raises RuntimeError for any answer but 200."""
        self._here.send((port, path, cookie, seconds))
        answer = self._here.recv()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return Slice(*answer)


def _work(pipe: Connection, connections: int) -> None:
    while (order := pipe.recv()) is not None:
        port, path, cookie, seconds = order
        latencies: list[float] = []
        failures: list[str] = []
        until = perf_counter() + seconds
        args = (port, path, cookie, until, latencies, failures)
        threads = [threading.Thread(target=_ask, args=args) for _ in range(connections)]
        started = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        pipe.send(failures[0] if failures else (perf_counter() - started, latencies))


def _ask(port: int, path: str, cookie: str, until: float, latencies: list[float], failures: list[str]) -> None:
    lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}:{port}", *([f"Cookie: {cookie}"] if cookie else []), "", ""]
    request = "\r\n".join(lines).encode()
    try:
        with socket.create_connection((HOST, port), timeout=30) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (started := perf_counter()) < until:
                connection.sendall(request)
                status = _read(connection)
                latencies.append(perf_counter() - started)
                if status != b"200":
                    failures.append(f"{path} answered {status.decode()}")
                    return
    except OSError as error:
        failures.append(f"{path}: {error}")


def _read(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    while (end := data.find(b"\r\n\r\n")) < 0:
        more = connection.recv(65536)
        if not more:
            raise OSError("the server closed the connection")
        data += more
    head = data[:end].lower()
    place = head.find(b"content-length:")
    if place < 0:
        raise OSError("an answer without a Content-Length")
    left = int(head[place + 15 :].split(b"\r\n", 1)[0]) - (len(data) - end - 4)
    while left > 0:
        more = connection.recv(65536)
        if not more:
            raise OSError("the server closed the connection")
        left -= len(more)
    return data[9:12]
