"""gunicorn's threaded worker, with one change: a request gets a thread once it is complete (S67, decision 025).

gunicorn gives a connection a thread at its first byte, and the thread waits for the rest. So a few clients with incomplete requests
could take all threads. Here the poller collects head and body of all connections; large bodies go to the disk (decision 040).
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

# The seconds for head and body together, from the first byte or from the accepted connection on.
REQUEST_SECONDS = float(os.environ.get("REQUEST_SECONDS", "20"))
# The shop's forms have some kilobytes. Django's limit is larger (DATA_UPLOAD_MAX_MEMORY_SIZE), for signed addresses.
BODY_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024
# Requests with files have more seconds, if they arrive at half a megabit a second in each REQUEST_SECONDS.
UPLOAD_SECONDS = 300.0
UPLOAD_BYTES_PER_SECOND = 64 * 1024
# After this many bytes the sender's session is checked again.
CHECKED_BYTES = 1024 * 1024
# How many seconds an answered client may keep its end open. All bytes that it still sends are dropped.
LINGER_SECONDS = 2.0
# These pages are sent without a thread, so they have no translation.
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
    """A request that gets no thread. `text` tells the person in front of the browser why."""

    def __init__(self, status: int, reason: str, text: str = "") -> None:
        super().__init__(status, reason)
        self.status, self.reason, self.text = status, reason, text


@dataclass
class Arrival:
    """The received part of a connection's next request."""

    deadline: float
    received: bytearray = field(default_factory=bytearray)
    # Bytes of head and body; None until the head has arrived.
    size: int | None = None
    is_answered: bool = False
    # Set for bodies that are larger than a form.
    sender: "UploadSender | None" = None
    # The time of the last speed check, the bytes that had arrived then, and the bytes at which the sender is checked again.
    paced_at: float = 0.0
    paced_bytes: int = 0
    next_check: int = 0
    # Holds the bytes of a request that is too large for memory.
    file: IO[bytes] | None = None

    @property
    def count(self) -> int:
        """The number of received bytes."""
        return self.file.tell() if self.file else len(self.received)

    @property
    def is_whole(self) -> bool:
        return self.size is not None and self.count >= self.size

    def is_too_slow(self, now: float) -> bool:
        """Return whether a file arrived too slowly within the last REQUEST_SECONDS."""
        if self.file is None or now < self.paced_at + REQUEST_SECONDS:
            return False
        count, seconds = self.count, now - self.paced_at
        is_too_slow = count - self.paced_bytes < seconds * UPLOAD_BYTES_PER_SECOND
        self.paced_at, self.paced_bytes = now, count
        return is_too_slow

    def add(self, data: bytes) -> None:
        """Add received bytes. Raises OSError if the disk is full."""
        if self.file:
            self.file.write(data)
        else:
            self.received += data

    def move_to_disk(self) -> IO[bytes]:
        """Move the received bytes to a temporary file, and return the file. Raises OSError."""
        self.file = TemporaryFile()  # noqa: SIM115 -- split() hands it over to be closed
        self.file.write(self.received)
        self.paced_at, self.paced_bytes = monotonic(), len(self.received)
        self.deadline = self.paced_at + UPLOAD_SECONDS
        return self.file

    def close(self) -> None:
        """Free the disk space."""
        if self.file:
            self.file.close()

    def split(self) -> tuple[Iterable[bytes], bytes]:
        """Return the request's bytes, and the bytes that came after the request."""
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
                # The last piece was read: free the disk space.
                file.close()
            yield data
            data = following


class WholeRequestWorker(ThreadWorker):  # type: ignore[misc]
    """Gives threads to complete requests. Incomplete requests wait in the poller, bounded in time, number and bytes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.arrivals: dict[TConn, Arrival] = {}
        # The files of all requests with their networks, until they are closed or collected.
        self.files: dict[UploadLimits, WeakKeyDictionary[IO[bytes], Sequence[str]]] = {
            each: WeakKeyDictionary() for each in (STAFF_UPLOADS, SHOPPER_UPLOADS)
        }
        # At most half of the connections send a request, and a quarter wait for the next. So complete requests always find room.
        self.max_arrivals = self.worker_connections // 2
        self.max_keepalived = self.worker_connections // 4

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Refuse settings that the poller cannot handle. Raises ConfigError."""
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise ConfigError(
                "TLS ends at the proxy (docs/operations/configuration.md): leave certfile and keyfile out."
            )

    def enqueue_req(self, conn: TConn) -> None:
        """Wait for the connection's next request. gunicorn calls this method to give the connection a thread."""
        if len(self.arrivals) >= self.max_arrivals:
            # The oldest incomplete request makes room, so quick clients are served.
            self.drop(next(iter(self.arrivals)))
        self.await_bytes(conn, REQUEST_SECONDS)
        early, conn.early = getattr(conn, "early", b""), b""
        if early:
            self.take(conn, early)

    def await_bytes(self, conn: TConn, seconds: float) -> Arrival:
        """Let the poller read from the connection."""
        conn.sock.settimeout(0)
        self.poller.register(conn.sock, EVENT_READ, partial(self.receive, conn))
        self.arrivals[conn] = Arrival(monotonic() + seconds)
        return self.arrivals[conn]

    def receive(self, conn: TConn, _: socket.socket) -> None:
        """Read from the connection, or drop it if the client has closed it."""
        if conn not in self.arrivals:
            return  # it was dropped for another connection that became ready at the same moment
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
        """Add bytes to the request, and give it to a thread once it is complete."""
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
            # The thread gets only this request: it cannot wait for more.
            request, conn.early = arrival.split()
            conn.file = arrival.file
            conn.parser = get_parser(self.cfg, request, conn.client)
            conn.initialized = True
            super().enqueue_req(conn)

    def begin_upload(self, arrival: Arrival, sender: "UploadSender") -> None:
        """Move a large request to a file. Raises OSError, and RefusedRequest for too many large requests in total or of a network."""
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
        """Let a thread check the sender's session, since the poller must not wait for the database."""
        arrival.next_check = arrival.count + CHECKED_BYTES
        looking_up = self.tpool.submit(sender.may_send)
        looking_up.add_done_callback(
            lambda found: self.method_queue.defer(self.drop_if_signed_out, conn, arrival, found)
        )

    def drop_if_signed_out(self, conn: TConn, arrival: Arrival, found: Future[bool]) -> None:
        """Refuse the rest of a file if the sender's session has ended. Complete requests are left to their view."""
        if error := found.exception():
            self.log.error("a session could not be looked up", exc_info=error)
        elif self.arrivals.get(conn) is arrival and not found.result():
            self.refuse(conn, RefusedRequest(403, "Forbidden", PAGE_IS_OVER))

    def measure(self, conn: TConn, arrival: Arrival, new: int) -> int | None:
        """Return the bytes of head and body, or None while the head is incomplete. Raises RefusedRequest."""
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
        except Exception:  # noqa: BLE001 -- a thread will get the same error, and answer the request
            return len(received)
        if not isinstance(body := request.body.reader, LengthReader):
            # Django reads no body of unknown length.
            raise RefusedRequest(411, "Length Required")
        if body.length > BODY_BYTES:
            # gunicorn imports this module before the settings are loaded.
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
            with suppress(OSError):  # the next read notices a closed connection
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        return end + int(body.length)

    def refuse(self, conn: TConn, refused: RefusedRequest) -> None:
        """Answer without a thread, and close the connection."""
        try:
            write_error(conn.sock, refused.status, refused.reason, refused.text)
        except OSError:
            self.drop(conn)
        else:
            self.forget(conn).close()
            self.linger(conn)

    def linger(self, conn: TConn) -> None:
        """Close our end of the connection, and let the poller wait for the client's end. gunicorn's own method would block."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            self.await_bytes(conn, LINGER_SECONDS).is_answered = True
        except (OSError, ValueError):  # it is closed already
            self.nr_conns -= 1
            conn.close()

    def finish_request(self, conn: TConn, future: Future[bool]) -> None:
        """Wait for the next request of a kept connection, or close it."""
        if file := getattr(conn, "file", None):
            file.close()  # in case the view did not read it
        if future.cancelled() or future.exception() or not future.result():
            self.linger(conn)
            return
        super().finish_request(conn, future)
        if conn.early and conn in self.keepalived_conns:
            self.on_client_socket_readable(conn, conn.sock)

    def murder_pending(self) -> None:
        """Close the connections whose time is over. Clients that have sent a part of a request get an answer."""
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
        """Stop reading from the connection, and return the received part of its request."""
        self.poller.unregister(conn.sock)
        return self.arrivals.pop(conn)

    def drop(self, conn: TConn) -> None:
        """Close the connection at once."""
        self.forget(conn).close()
        self.nr_conns -= 1
        conn.close()
