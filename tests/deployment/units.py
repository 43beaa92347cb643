"""Runs what deploy/ has as plain processes: the commands of the systemd units, and the proxy with its Caddyfile."""

import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.environment import ROOT
from tests.tools import CADDY, build_tool
from tests.waiting import wait_until
from tests.web_server import collect_static_files, find_free_port

UNITS = ROOT / "deploy" / "systemd"
HOST = "127.0.0.1"


class Unit:
    """A service of systemd: its commands run with its environment, in the repository instead of /srv/stoa."""

    def __init__(
        self, name: str, folder: Path, environment: Mapping[str, str], instance: str = ""
    ) -> None:
        text = (UNITS / name).read_text()
        for written, meant in (("%i", instance), ("%t", str(folder)), ("/srv/stoa", str(ROOT))):
            text = text.replace(written, meant)
        self.settings: dict[str, list[str]] = {}
        for key, value in re.findall(r"^(\w+)=(.+)$", text, re.MULTILINE):
            self.settings.setdefault(key, []).append(value)
        self.own = dict(each.split("=", 1) for each in self.settings.get("Environment", []))
        # EnvironmentFile, which the test stands for, comes after the unit's own lines.
        self.environment = {**self.own, **environment}
        self.log = folder / f"{name.partition('.')[0]}{instance}.log"
        self._runtime = [folder / each for each in self.settings.get("RuntimeDirectory", [])]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the service, and return when its ExecStartPost has ended."""
        for each in self._runtime:
            each.mkdir()
        (command,) = self._commands("ExecStart")
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log
            )
        self._run("ExecStartPost")

    def stop(self) -> int:
        """Stop the service as systemd does, and return its exit status."""
        assert self._process
        self._run("ExecStop")
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(float(self.settings["TimeoutStopSec"][0]))
        for each in self._runtime:
            shutil.rmtree(each)
        return status

    def restart(self) -> None:
        """Stop the service and start it again."""
        self.stop()
        self.start()

    @property
    def pid(self) -> int:
        """The main process."""
        assert self._process
        return self._process.pid

    def end(self) -> None:
        """Kill what still runs."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait(20)

    def _run(self, key: str) -> None:
        for command in self._commands(key):
            subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def _commands(self, key: str) -> list[list[str]]:
        def value(found: re.Match[str]) -> str:
            return self.environment[found[1]]

        lines = self.settings.get(key, [])
        return [shlex.split(re.sub(r"\$\{(\w+)\}", value, line)) for line in lines]


class Deployment:
    """A shop behind its proxy: web servers, each as on a host of its own, and a worker."""

    def __init__(self, folder: Path, web_count: int, environment: Mapping[str, str]) -> None:
        self.port, self.plain_port = find_free_port(), find_free_port()
        self.url = f"https://{HOST}:{self.port}"
        self.web_ports = [find_free_port() for _ in range(web_count)]
        shop = {
            **environment,
            "STOA_HTTPS": "1",
            "BEHIND_PROXY": "1",
            "PUBLIC_URL": self.url,
            "ALLOWED_HOSTS": HOST,
            "SHOP_HOST": HOST,
        }
        self.web = [Unit("stoa-web@.service", folder, shop, str(port)) for port in self.web_ports]
        self.worker = Unit("stoa-worker.service", folder, shop)
        self._folder = folder
        self._proxy: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the web servers and the proxy; return when they answer. The worker is started by who has a shop of their own."""
        for unit in self.web:
            unit.start()
        settings = {
            "XDG_DATA_HOME": str(self._folder),
            "XDG_CONFIG_HOME": str(self._folder),
            "CADDY_ADMIN": f"{HOST}:{find_free_port()}",
            "HTTP_PORT": str(self.plain_port),
            "HTTPS_PORT": str(self.port),
            "SHOP_ADDRESS": f"https://{HOST}",
            "SHOP_HOST": HOST,
            "SHOP_UPSTREAMS": " ".join(f"{HOST}:{port}" for port in self.web_ports),
        }
        command = [str(build_tool(CADDY)), "run", "--config", str(ROOT / "deploy" / "Caddyfile")]
        with (self._folder / "caddy.log").open("wb") as log:
            self._proxy = subprocess.Popen(
                command, env=os.environ | settings, stdout=log, stderr=log
            )
        wait_until(self._has_certificate, "the proxy has no certificate", seconds=60)

    def make_tls_context(self) -> ssl.SSLContext:
        """Return what trusts the proxy's own authority, and no other. Raises OSError until it has one."""
        authority = self._folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        return ssl.create_default_context(cafile=str(authority))

    def _has_certificate(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=5) as plain:
                self.make_tls_context().wrap_socket(plain, server_hostname=HOST).close()
        except OSError:
            return False
        return True

    def end(self) -> None:
        """Kill all that still runs."""
        for unit in [*self.web, self.worker]:
            unit.end()
        if self._proxy:
            self._proxy.kill()
            self._proxy.wait(20)


def served_environment(**more: str) -> dict[str, str]:
    """Return the suite's environment with static files, for a `Deployment`."""
    return os.environ | {"STATIC_ROOT": str(collect_static_files()), **more}
