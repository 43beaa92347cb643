"""The shop as it is served: gunicorn, on a port of its own, and a cable to Cassandra that can be pulled."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.environment import ROOT


def free_port() -> int:
    """Return a port of the loopback interface that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def served(folder: Path, workers: int = 1, **environment: str) -> Iterator[str]:
    """Serve the shop under the suite's environment and yield its address. `folder` takes static files and the log."""
    port = free_port()
    env = os.environ | {"STATIC_ROOT": str(folder / "static"), "PUBLIC_URL": f"http://127.0.0.1:{port}"} | environment
    if not (folder / "static").exists():
        subprocess.run(
            [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"], cwd=ROOT, check=True, env=env
        )
    with (folder / "gunicorn.log").open("ab") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "storefront.wsgi:application", "-c", "gunicorn.conf.py"),
                *("--bind", f"127.0.0.1:{port}", "--workers", str(workers), "--threads", "4"),
            ],
            cwd=ROOT,
            env=env,
            stdout=log,
            stderr=log,
        )
    try:
        answer(f"http://127.0.0.1:{port}/healthz", until=200)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def answer(url: str, until: int | None = None, seconds: float = 30) -> tuple[int, Mapping[str, str], str]:
    """Return status, headers and text of a page; with `until`, of the first answer that has this status."""
    deadline = time.monotonic() + seconds
    while True:
        status, headers, text = 0, {}, ""
        try:
            with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310
                status, headers, text = response.status, dict(response.headers), response.read().decode()
        except urllib.error.HTTPError as error:
            status, headers, text = error.code, dict(error.headers), error.read().decode()
        except OSError:
            pass  # not listening yet
        if until in (None, status):
            return status, headers, text
        if time.monotonic() > deadline:
            raise AssertionError(f"{url} answered {status}, not {until}: {text[:200]}")
        time.sleep(0.2)


class Cable:
    """A TCP line from a port of its own to Cassandra, which can be pulled out and plugged in."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.port = free_port()
        self._listening: socket.socket | None = None
        self._lines: list[socket.socket] = []

    def plug_in(self) -> None:
        """Listen, and carry what comes."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def pull_out(self) -> None:
        """Stop listening and cut every line."""
        assert self._listening
        for line in [self._listening, *self._lines]:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        self._lines.clear()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.create_connection(self.target)
                self._lines += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
