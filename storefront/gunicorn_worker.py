"""gunicorn's worker of threads, changed in one thing: a request gets a thread when all of it has come (S67, decision 025).

gunicorn gives a connection a thread at its first byte, and the thread waits for the rest as long as the client likes: a few
clients that send half a request take all the threads. Here the poller collects head and body, of all connections at once.
"""

import os
import re
import socket
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from time import monotonic
from typing import Any

from gunicorn.errors import ConfigError
from gunicorn.http import get_parser
from gunicorn.http.body import LengthReader
from gunicorn.util import write_error
from gunicorn.workers.gthread import TConn, ThreadWorker

# For head and body together, from the first byte or the accepted connection on.
REQUEST_SECONDS = float(os.environ.get("REQUEST_SECONDS", "20"))
# The shop's forms have some kilobytes; Django takes as much (DATA_UPLOAD_MAX_MEMORY_SIZE).
BODY_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024
# So long a client that was answered may take to close its end; what it still sends is thrown away.
LINGER_SECONDS = 2.0
_READ_BYTES = 64 * 1024
_BODY_HEADER = re.compile(rb"\r\n(?:content-length|transfer-encoding)", re.IGNORECASE)


class RefusedRequest(Exception):
    """A request that no thread shall see."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status, self.reason = status, reason


@dataclass
class Arrival:
    """What has come of a connection's next request."""

    deadline: float
    received: bytearray = field(default_factory=bytearray)
    # Head and body; None until the head has come.
    size: int | None = None
    is_answered: bool = False


class WholeRequestWorker(ThreadWorker):  # type: ignore[misc]
    """Threads for whole requests; half ones wait in the poller, bounded in time, in number and in bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.arrivals: dict[TConn, Arrival] = {}
        # At most half of the connections send a request, a quarter waits for the next one; there is always room for whole requests.
        self.max_arrivals = self.worker_connections // 2
        self.max_keepalived = self.worker_connections // 4

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Refuse what the poller could not read. Raises ConfigError."""
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError(
                "TLS ends at the proxy (docs/operations.md): leave certfile and keyfile out."
            )

    def enqueue_req(self, conn: TConn) -> None:
        """Wait for the connection's next request. gunicorn calls this to give it a thread."""
        if len(self.arrivals) >= self.max_arrivals:
            # Who is quick is served however many are slow.
            self.drop(next(iter(self.arrivals)))
        self.await_bytes(conn, REQUEST_SECONDS)
        early, conn.early = getattr(conn, "early", b""), b""
        if early:
            self.take(conn, early)

    def await_bytes(self, conn: TConn, seconds: float) -> Arrival:
        """Have the poller read from the connection."""
        conn.sock.settimeout(0)
        self.poller.register(conn.sock, EVENT_READ, partial(self.receive, conn))
        self.arrivals[conn] = Arrival(monotonic() + seconds)
        return self.arrivals[conn]

    def receive(self, conn: TConn, _: socket.socket) -> None:
        """Read what has come. The connection is dropped if the client has closed it."""
        if conn not in self.arrivals:
            return  # it was dropped for another one that the poller saw in the same moment
        try:
            data = conn.sock.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.drop(conn)
        elif not self.arrivals[conn].is_answered:
            self.take(conn, data)

    def take(self, conn: TConn, data: bytes) -> None:
        """Add what has come to the request, and give it to a thread when it is whole."""
        arrival = self.arrivals[conn]
        arrival.received += data
        if arrival.size is None:
            try:
                arrival.size = self.measure(conn, arrival.received, len(data))
            except RefusedRequest as refused:
                self.refuse(conn, refused)
                return
        if arrival.size is not None and len(arrival.received) >= arrival.size:
            self.forget(conn)
            # Only this request: a thread that wants more meets its end, and never waits.
            request, conn.early = arrival.received[: arrival.size], arrival.received[arrival.size :]
            conn.parser = get_parser(self.cfg, [bytes(request)], conn.client)
            conn.initialized = True
            super().enqueue_req(conn)

    def measure(self, conn: TConn, received: bytearray, new: int) -> int | None:
        """Return how many bytes head and body have, or None while the head is not complete. Raises RefusedRequest."""
        end = received.find(b"\r\n\r\n", max(0, len(received) - new - 3)) + 4
        if end < 4:
            if len(received) > HEAD_BYTES:
                raise RefusedRequest(431, "Request Header Fields Too Large")
            return None
        head = bytes(received[:end])
        if not _BODY_HEADER.search(head):
            return end
        try:
            request = next(get_parser(self.cfg, [head], conn.client))
        except Exception:  # noqa: BLE001 -- whatever it is, a thread meets it as well, and answers it
            return len(received)
        if not isinstance(body := request.body.reader, LengthReader):
            # Django reads no body whose length is not said.
            raise RefusedRequest(411, "Length Required")
        if body.length > BODY_BYTES:
            raise RefusedRequest(413, "Content Too Large")
        if request._expected_100_continue and len(received) < end + body.length:
            with suppress(OSError):  # the next read sees that it is closed
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return end + int(body.length)

    def refuse(self, conn: TConn, refused: RefusedRequest) -> None:
        """Answer without a thread, and close."""
        try:
            write_error(conn.sock, refused.status, refused.reason, "")
        except OSError:
            self.drop(conn)
        else:
            self.forget(conn)
            self.linger(conn)

    def linger(self, conn: TConn) -> None:
        """Close our end, and wait for the client's. gunicorn does so as well, and serves nobody meanwhile."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            self.await_bytes(conn, LINGER_SECONDS).is_answered = True
        except (OSError, ValueError):  # it is closed already
            self.nr_conns -= 1
            conn.close()

    def finish_request(self, conn: TConn, future: Future[bool]) -> None:
        """Wait for the next request of a connection that goes on; close any other."""
        if future.cancelled() or future.exception() or not future.result():
            self.linger(conn)
            return
        super().finish_request(conn, future)
        if conn.early and conn in self.keepalived_conns:
            self.on_client_socket_readable(conn, conn.sock)

    def murder_pending(self) -> None:
        """Close the connections whose time is over; who has sent something is told why."""
        now = monotonic()
        for conn, arrival in list(self.arrivals.items()):
            if arrival.deadline > now:
                continue
            if arrival.received and not arrival.is_answered:
                self.refuse(conn, RefusedRequest(408, "Request Timeout"))
            else:
                self.drop(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for arrival in self.arrivals.values():
            if not arrival.received:
                arrival.deadline = min(arrival.deadline, deadline)

    def forget(self, conn: TConn) -> None:
        """Stop reading from the connection."""
        self.poller.unregister(conn.sock)
        del self.arrivals[conn]

    def drop(self, conn: TConn) -> None:
        """Close the connection at once."""
        self.forget(conn)
        self.nr_conns -= 1
        conn.close()
