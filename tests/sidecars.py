"""What runs beside the shop in a test: a line to Cassandra that can be damaged on purpose, and a Stripe without customers."""

import contextlib
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.tools import STRIPE_MOCK, TOXIPROXY, Tool, build_tool
from tests.waiting import wait_until
from tests.web_server import find_free_port


@contextlib.contextmanager
def run_tool(
    tool: Tool, arguments: Sequence[str], answers: str, seconds: float = 30
) -> Iterator[None]:
    """Run a program within the block; it is ready when the address `answers`, whatever it says. Raises ToolMissing."""
    with subprocess.Popen(
        [build_tool(tool), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_until(
                lambda: process.poll() is not None or _answers(answers),
                f"{tool.name} does not answer at {answers}",
                seconds=seconds,
            )
            assert process.poll() is None, f"{tool.name} ended with status {process.returncode}"
            yield
        finally:
            process.kill()


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()  # noqa: S310
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Proxy:
    """A line from a port of its own to somewhere else."""

    toxiproxy: "Toxiproxy"
    name: str
    host: str
    port: int

    def add_toxic(self, kind: str, share: float = 1.0, **attributes: int) -> str:
        """Do harm to this part of what the connections bring back from now on; return the harm's name.

        Toxiproxy's documentation names the kinds: `reset_peer`, `limit_data`, `timeout`, `latency`, and their attributes.
        """
        toxic = {"type": kind, "stream": "downstream", "toxicity": share, "attributes": attributes}
        return str(self.toxiproxy.request("POST", f"/proxies/{self.name}/toxics", toxic)["name"])

    def remove_toxic(self, toxic: str) -> None:
        """Take a harm away."""
        self.toxiproxy.request("DELETE", f"/proxies/{self.name}/toxics/{toxic}")

    def disable(self) -> None:
        """Cut every connection, and take no new ones until `enable`."""
        self.toxiproxy.request("POST", f"/proxies/{self.name}", {"enabled": False})

    def enable(self) -> None:
        """Take connections again."""
        self.toxiproxy.request("POST", f"/proxies/{self.name}", {"enabled": True})


@dataclass(frozen=True)
class Toxiproxy:
    """A toxiproxy server that runs, used over its HTTP interface."""

    url: str

    @contextlib.contextmanager
    def make_proxy(
        self, upstream: str, *, host: str = "127.0.0.1", port: int | None = None
    ) -> Iterator[Proxy]:
        """Carry what comes to `host` to `upstream` ("host:port") within the block."""
        port = port or find_free_port()
        name = f"{host}-{port}"
        self.request(
            "POST", "/proxies", {"name": name, "listen": f"{host}:{port}", "upstream": upstream}
        )
        try:
            yield Proxy(self, name, host, port)
        finally:
            self.request("DELETE", f"/proxies/{name}")

    def request(self, method: str, path: str, sent: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a request to the interface and return its answer. Raises urllib.error.HTTPError."""
        body = json.dumps(sent).encode() if sent is not None else None
        request = urllib.request.Request(self.url + path, body, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
            return dict(json.loads(response.read() or b"{}"))


@contextlib.contextmanager
def run_toxiproxy() -> Iterator[Toxiproxy]:
    """Run a toxiproxy within the block."""
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    with run_tool(TOXIPROXY, ["-host", "127.0.0.1", "-port", str(port)], f"{url}/version"):
        yield Toxiproxy(url)


@contextlib.contextmanager
def run_stripe_mock() -> Iterator[str]:
    """Run a stripe-mock within the block and yield its address: Stripe's interface, whose answers are all made up."""
    port = find_free_port()
    url = f"http://127.0.0.1:{port}"
    # It serves HTTPS as well, and everywhere on the same port unless it is given a port: two of them could not run.
    addresses = ["-http-addr", f"127.0.0.1:{port}", "-https-addr", "127.0.0.1:"]
    with run_tool(STRIPE_MOCK, addresses, f"{url}/v1/charges"):
        yield url
