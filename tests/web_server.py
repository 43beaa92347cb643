"""The shop as it is served: gunicorn, on a port of its own, and a cable to Cassandra that can be pulled."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path

import psutil
from django.contrib.staticfiles.finders import get_finders

from tests.environment import ROOT


def find_free_port() -> int:
    """Return a port of the loopback interface that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@cache
def collect_static_files() -> Path:
    """Return a folder with the static files as they are served, to be read only; the first run that has such files fills it.

    It is named by what is collected and by the packages that do it, so all servers of all runs share it, and each run finds its own.
    """
    digest = blake2b((ROOT / "requirements.txt").read_bytes(), digest_size=8)
    files = {path: storage for finder in get_finders() for path, storage in finder.list([])}
    for path in sorted(files):
        with files[path].open(path) as file:
            digest.update(path.encode() + b"\0" + file.read())
    folder = ROOT / ".run" / "collected" / digest.hexdigest()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=folder.parent))
        collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"]
        subprocess.run(collect, cwd=ROOT, check=True, env=os.environ | {"STATIC_ROOT": str(new)})
        try:
            new.rename(folder)
        except OSError:
            shutil.rmtree(new)  # another process was sooner
    return folder


class WebServer:
    """The web server's processes: they can be started, ended, killed, and started again at the same address."""

    root = ROOT  # with the shop's code

    def __init__(self, folder: Path, workers: int = 1, **environment: str) -> None:
        self.port = find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder, self._workers = folder, workers
        self.environment = (
            os.environ
            | {"STATIC_ROOT": str(collect_static_files()), "PUBLIC_URL": self.url}
            | environment
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serve the shop, and wait until it answers."""
        with (self._folder / "gunicorn.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(
                        sys.executable,
                        "-m",
                        "gunicorn",
                        "storefront.wsgi:application",
                        "-c",
                        "gunicorn.conf.py",
                    ),
                    *(
                        "--bind",
                        f"127.0.0.1:{self.port}",
                        "--workers",
                        str(self._workers),
                        "--threads",
                        "4",
                    ),
                ],
                cwd=self.root,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        fetch_page(f"{self.url}/healthz", until=200, seconds=90)

    def kill(self) -> None:
        """End the master and its workers at once, in the middle of whatever they do."""
        assert self._process
        master = psutil.Process(self._process.pid)
        processes = [master, *master.children(recursive=True)]
        for process in processes:
            process.kill()
        self._process.wait(20)
        psutil.wait_procs(processes, 20)

    def stop(self) -> None:
        """End the server as a restart would."""
        if self._process:
            self._process.terminate()
            self._process.wait(20)


@contextlib.contextmanager
def serve_shop(folder: Path, workers: int = 1, **environment: str) -> Iterator[str]:
    """Serve the shop under the suite's environment and yield its address. `folder` takes the log."""
    web = WebServer(folder, workers, **environment)
    try:
        web.start()
        yield web.url
    finally:
        web.stop()


def fetch_page(
    url: str, until: int | None = None, seconds: float = 30
) -> tuple[int, Mapping[str, str], str]:
    """Return status, headers and text of a page; with `until`, of the first answer that has this status."""
    deadline = time.monotonic() + seconds
    while True:
        status, headers, text = 0, {}, ""
        try:
            with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310
                status, headers, text = (
                    response.status,
                    dict(response.headers),
                    response.read().decode(),
                )
        except urllib.error.HTTPError as error:
            status, headers, text = error.code, dict(error.headers), error.read().decode()
        except OSError:
            pass  # not listening yet
        if until in (None, status):
            return status, headers, text
        if time.monotonic() > deadline:
            raise AssertionError(f"{url} answered {status}, not {until}: {text[:200]}")
        time.sleep(0.2)


class CassandraProxy:
    """A TCP line from a port of its own to Cassandra, which can be pulled out and plugged in."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.port = find_free_port()
        self._listening: socket.socket | None = None
        self._lines: list[socket.socket] = []

    def connect(self) -> None:
        """Listen, and carry what comes."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def disconnect(self) -> None:
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
