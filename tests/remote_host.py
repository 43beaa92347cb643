"""A host of the Internet, as a test wants it: it answers with files, redirects and statuses, slowly or with too much."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Answer = Callable[["RemoteHandler"], None]


class RemoteHandler(BaseHTTPRequestHandler):
    """Answers each path by the function that the host has for it, and else with 404."""

    def do_GET(self) -> None:
        host = self.server.remote_host  # type: ignore[attr-defined]
        host.asked.append(self.path)
        host.headers.append(dict(self.headers))
        host.answers.get(self.path, send_status(404))(self)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class RemoteHost:
    """A host on a free port of this machine, and what it was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.released = Event()  # lets slow answers end
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), RemoteHandler)
        self.server.daemon_threads = True
        self.server.remote_host = self  # type: ignore[attr-defined]

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"https://{self.name}{path}"


def send(content: bytes, *, has_length: bool = True) -> Answer:
    """Answer with a file."""

    def answer(handler: RemoteHandler) -> None:
        handler.send_response(200)
        if has_length:
            handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        with contextlib.suppress(OSError):  # the other side has enough
            handler.wfile.write(content)

    return answer


def send_status(status: int, location: str = "") -> Answer:
    """Answer with a status, and lead elsewhere."""

    def answer(handler: RemoteHandler) -> None:
        handler.send_response(status)
        if location:
            handler.send_header("Location", location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def send_slowly(released: Event) -> Answer:
    """Begin an answer, and go on only when the test is over."""

    def answer(handler: RemoteHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"\xff\xd8\xff")
        released.wait(60)

    return answer


@contextlib.contextmanager
def run_remote_host(certificate: Path | None = None) -> Iterator[RemoteHost]:
    """Run a host within the block; with a certificate's file, it speaks https."""
    host = RemoteHost()
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        host.server.socket = context.wrap_socket(host.server.socket, server_side=True)
    thread = Thread(target=host.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield host
    finally:
        host.released.set()
        host.server.shutdown()
        host.server.server_close()
        thread.join()


def write_certificate(folder: Path, name: str) -> Path:
    """Write a certificate for a host's name, which is its own authority, and its key; return the file."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return file
