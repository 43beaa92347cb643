"""gunicorn's worker of threads, changed in one thing: a request gets a thread when all of it has come (S67, decision 025).

gunicorn gives a connection a thread at its first byte, and the thread waits for the rest as long as the client likes: a few
clients that send half a request take all the threads. Here the poller collects head and body, of all connections at once.
Files are collected on the disk (decision 040).
"""

import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from django.core.signing import SignatureExpired
from gunicorn.errors import ConfigError
from gunicorn.http import get_parser
from gunicorn.http.body import LengthReader
from gunicorn.util import write_error
from gunicorn.workers.gthread import TConn, ThreadWorker

from web.uploads import SHOPPER_UPLOADS, STAFF_UPLOADS, UploadLimits

if TYPE_CHECKING:
    from storefront.upload_senders import UploadSender

# For head and body together, from the first byte or the accepted connection on.
REQUEST_SECONDS = float(os.environ.get("REQUEST_SECONDS", "20"))
# The shop's forms have some kilobytes; Django takes as much (DATA_UPLOAD_MAX_MEMORY_SIZE).
BODY_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024
# Files have more time, as long as so much of them comes in each REQUEST_SECONDS: half a megabit a second.
UPLOAD_SECONDS = 300.0
UPLOAD_BYTES_PER_SECOND = 64 * 1024
# After each of these it is looked up whether the sender's session has ended meanwhile.
CHECKED_BYTES = 1024 * 1024
# So long a client that was answered may take to close its end; what it still sends is thrown away.
LINGER_SECONDS = 2.0
# No thread is asked for these pages, so they have no translation.
TOO_LARGE = (
    "More was sent than this shop takes at once: files have at most {megabytes} MB together. "
    "Go back and send fewer."
)
TRY_AGAIN = "Others are sending files at the moment. Go back and send yours again in a minute."
TOO_SLOW = (
    "The files came too slowly. Go back and send fewer at once, or send them over another network."
)
PAGE_IS_OVER = (
    "You are not signed in any more, or this page is too old, so nothing was saved. "
    "Open the page again and send your files once more."
)
_READ_BYTES = 64 * 1024
_BODY_HEADER = re.compile(rb"\r\n(?:content-length|transfer-encoding)", re.IGNORECASE)


class RefusedRequest(Exception):
    """A request that no thread shall see. `text` is what somebody reads of it who has a page in front of him."""

    def __init__(self, status: int, reason: str, text: str = "") -> None:
        super().__init__(status, reason)
        self.status, self.reason, self.text = status, reason, text


@dataclass
class Arrival:
    """What has come of a connection's next request."""

    deadline: float
    received: bytearray = field(default_factory=bytearray)
    # Head and body; None until the head has come.
    size: int | None = None
    is_answered: bool = False
    # Of what is larger than a form.
    sender: "UploadSender | None" = None
    # When how much of it was there, and from how much on its sender is looked up again.
    paced_at: float = 0.0
    paced_bytes: int = 0
    next_check: int = 0
    # Where all goes on that is too large for the memory.
    file: IO[bytes] | None = None

    @property
    def count(self) -> int:
        """How many bytes have come."""
        return self.file.tell() if self.file else len(self.received)

    @property
    def is_whole(self) -> bool:
        return self.size is not None and self.count >= self.size

    def is_too_slow(self, now: float) -> bool:
        """Return whether less of a file has come within the last REQUEST_SECONDS than the least speed asks for."""
        if self.file is None or now < self.paced_at + REQUEST_SECONDS:
            return False
        count, seconds = self.count, now - self.paced_at
        is_too_slow = count - self.paced_bytes < seconds * UPLOAD_BYTES_PER_SECOND
        self.paced_at, self.paced_bytes = now, count
        return is_too_slow

    def add(self, data: bytes) -> None:
        """Add what has come. Raises OSError if the disk takes no more."""
        if self.file:
            self.file.write(data)
        else:
            self.received += data

    def move_to_disk(self) -> IO[bytes]:
        """Let all go on in a file that nobody else sees, and return it. Raises OSError."""
        self.file = TemporaryFile()  # noqa: SIM115 -- split() hands it over to be closed
        self.file.write(self.received)
        self.paced_at, self.paced_bytes = monotonic(), len(self.received)
        self.deadline = self.paced_at + UPLOAD_SECONDS
        return self.file

    def close(self) -> None:
        """Give the disk back."""
        if self.file:
            self.file.close()

    def split(self) -> tuple[Iterable[bytes], bytes]:
        """Return the request, and what came after it."""
        assert self.size is not None
        if self.file is None:
            return [bytes(self.received[: self.size])], bytes(self.received[self.size :])
        self.file.seek(self.size)
        rest = self.file.read()
        self.file.truncate(self.size)
        return _read_file(self.file), rest


def _read_file(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        data = file.read(_READ_BYTES)
        while data:
            following = file.read(_READ_BYTES)
            if not following:
                # Whoever has the last of it asks for no more, and the disk is wanted.
                file.close()
            yield data
            data = following


class WholeRequestWorker(ThreadWorker):  # type: ignore[misc]
    """Threads for whole requests; half ones wait in the poller, bounded in time, in number and in bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.arrivals: dict[TConn, Arrival] = {}
        # The files of all requests and where they come from, until they are closed or nobody has them any more.
        self.files: dict[UploadLimits, WeakKeyDictionary[IO[bytes], Sequence[str]]] = {
            each: WeakKeyDictionary() for each in (STAFF_UPLOADS, SHOPPER_UPLOADS)
        }
        # At most half of the connections send a request, a quarter waits for the next one; there is always room for whole requests.
        self.max_arrivals = self.worker_connections // 2
        self.max_keepalived = self.worker_connections // 4

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Refuse what the poller could not read. Raises ConfigError."""
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError(
                "TLS ends at the proxy (docs/operations/configuration.md): leave certfile and keyfile out."
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
        try:
            arrival.add(data)
            if arrival.size is None:
                arrival.size = self.measure(conn, arrival, len(data))
                if arrival.sender:
                    self.begin_upload(arrival, arrival.sender)
            if arrival.sender and arrival.count >= arrival.next_check:
                self.look_up_sender(conn, arrival, arrival.sender)
        except RefusedRequest as refused:
            self.refuse(conn, refused)
            return
        except OSError:
            self.refuse(conn, RefusedRequest(507, "Insufficient Storage"))
            return
        if arrival.is_whole:
            self.forget(conn)
            # Only this request: a thread that wants more meets its end, and never waits.
            request, conn.early = arrival.split()
            conn.file = arrival.file
            conn.parser = get_parser(self.cfg, request, conn.client)
            conn.initialized = True
            super().enqueue_req(conn)

    def begin_upload(self, arrival: Arrival, sender: "UploadSender") -> None:
        """Let a large request go on in a file. Raises RefusedRequest if there are too many of them, or of its network, OSError."""
        limits = sender.grant.limits
        files = self.files[limits]
        present = [networks for file, networks in files.items() if not file.closed]
        if len(present) >= limits.at_once or any(
            sum(network in networks for networks in present) >= limits.per_network * share
            for network, share in sender.networks
        ):
            raise RefusedRequest(503, "Service Unavailable", TRY_AGAIN)
        files[arrival.move_to_disk()] = [network for network, _ in sender.networks]

    def look_up_sender(self, conn: TConn, arrival: Arrival, sender: "UploadSender") -> None:
        """Have a thread see whether the sender's session is there; the poller waits for no database."""
        arrival.next_check = arrival.count + CHECKED_BYTES
        looking_up = self.tpool.submit(sender.may_send)
        looking_up.add_done_callback(
            lambda found: self.method_queue.defer(self.drop_if_signed_out, conn, arrival, found)
        )

    def drop_if_signed_out(self, conn: TConn, arrival: Arrival, found: Future[bool]) -> None:
        """Refuse the rest of a file whose sender's session has ended. What is whole already its view answers."""
        if error := found.exception():
            self.log.error("a session could not be looked up", exc_info=error)
        elif self.arrivals.get(conn) is arrival and not found.result():
            self.refuse(conn, RefusedRequest(403, "Forbidden", PAGE_IS_OVER))

    def measure(self, conn: TConn, arrival: Arrival, new: int) -> int | None:
        """Return how many bytes head and body have, or None while the head is not complete. Raises RefusedRequest."""
        received = arrival.received
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
            # gunicorn imports this module before the settings are there.
            from storefront.upload_senders import find_upload_sender

            try:
                sender = arrival.sender = find_upload_sender(request, conn.client)
            except SignatureExpired:
                raise RefusedRequest(403, "Forbidden", PAGE_IS_OVER) from None
            limits = sender.grant.limits if sender else None
            if limits is None or body.length > limits.max_bytes:
                megabytes = (limits or STAFF_UPLOADS).max_bytes // 2**20
                raise RefusedRequest(
                    413, "Content Too Large", TOO_LARGE.format(megabytes=megabytes)
                )
        if request._expected_100_continue and len(received) < end + body.length:
            with suppress(OSError):  # the next read sees that it is closed
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return end + int(body.length)

    def refuse(self, conn: TConn, refused: RefusedRequest) -> None:
        """Answer without a thread, and close."""
        try:
            write_error(conn.sock, refused.status, refused.reason, refused.text)
        except OSError:
            self.drop(conn)
        else:
            self.forget(conn).close()
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
        if file := getattr(conn, "file", None):
            file.close()  # its view may not have read it
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
            is_too_slow = arrival.is_too_slow(now)
            if arrival.deadline > now and not is_too_slow:
                continue
            if is_too_slow:
                self.refuse(conn, RefusedRequest(408, "Request Timeout", TOO_SLOW))
            elif arrival.received and not arrival.is_answered:
                self.refuse(conn, RefusedRequest(408, "Request Timeout"))
            else:
                self.drop(conn)

    def _cap_keepalive(self, deadline: float) -> None:
        super()._cap_keepalive(deadline)
        for arrival in self.arrivals.values():
            if not arrival.received:
                arrival.deadline = min(arrival.deadline, deadline)

    def forget(self, conn: TConn) -> Arrival:
        """Stop reading from the connection, and return what has come."""
        self.poller.unregister(conn.sock)
        return self.arrivals.pop(conn)

    def drop(self, conn: TConn) -> None:
        """Close the connection at once."""
        self.forget(conn).close()
        self.nr_conns -= 1
        conn.close()
