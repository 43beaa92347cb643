"""Programs that the suite runs beside the shop: built by Go from pinned modules, once, into `.run/tools`.

    python -m tests.tools        # builds what is missing, and Go itself where there is none; needs the standard library only

Go is the one on the PATH if it is new enough, else a pinned release of it, which the Go module proxy serves as a module
and which is trusted only by its checksum. What the programs are made of is held to Go's own checksum database.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".run" / "tools"
OLDEST_GO = (1, 26, 7)  # what promtool asks for
GO = "1.26.8"
# As a go.sum has them: SHA-256 over the names and sums of a module's files.
GO_SUMS = {
    "linux-amd64": "h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=",
    "linux-arm64": "h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=",
    "darwin-arm64": "h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=",
}
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
MAX_ATTEMPTS = 3


class ToolMissing(Exception):
    """A program that the suite needs cannot be had; says what would fix it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program: the name under which it is kept, its package, the version, and the build tags."""

    name: str
    package: str
    version: str
    tags: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}-{self.version}"


TOXIPROXY = Tool("toxiproxy", "github.com/Shopify/toxiproxy/v2/cmd/server", "v2.5.0")
STRIPE_MOCK = Tool("stripe-mock", "github.com/stripe/stripe-mock", "v0.203.0")
CADDY = Tool("caddy", "github.com/caddyserver/caddy/v2/cmd/caddy", "v2.11.9")
# Prometheus 3.16. Without the clouds' interfaces it builds in a third of the time.
PROMTOOL = Tool(
    "promtool", "github.com/prometheus/prometheus/cmd/promtool", "v0.316.0", "remove_all_sd"
)


def build_tool(tool: Tool, say: Callable[[str], None] = print) -> Path:
    """Return the program's path, building it if need be. Raises ToolMissing, and says what would fix it."""
    if tool.path.exists():
        return tool.path
    with only_one():
        if not tool.path.exists():  # by another suite, meanwhile
            _build(tool, _go(say), say)
    return tool.path


@contextmanager
def only_one() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(tool: Tool, go: Path, say: Callable[[str], None]) -> None:
    say(f"Building {tool.name} {tool.version}")
    with tempfile.TemporaryDirectory(dir=FOLDER) as made:
        # No compiler of C, no other Go than this one, and a cache that `rm -r` can remove.
        given = {
            "GOBIN": made,
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-modcacherw",
        }
        command = [str(go), "install", f"-tags={tool.tags}", f"{tool.package}@{tool.version}"]
        for _ in range(MAX_ATTEMPTS):
            ran = subprocess.run(
                command, env=os.environ | given, capture_output=True, text=True, check=False
            )
            if ran.returncode == 0:
                break
        else:
            raise ToolMissing(
                f"`{' '.join(command[1:])}` failed; it needs the Go module proxy. It said:\n{ran.stderr}"
            )
        (program,) = Path(made).iterdir()
        program.replace(tool.path)


# ---- Go itself


def _go(say: Callable[[str], None]) -> Path:
    found = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if found and _version(found) >= OLDEST_GO:
        return Path(found)
    return _go_installed(say)


def _version(go: str) -> tuple[int, ...]:
    output = subprocess.run(
        [go, "env", "GOVERSION"],
        env=os.environ | {"GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    numbers = re.match(r"go(\d+)\.(\d+)(?:\.(\d+))?", output.stdout)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else ()


def _go_installed(say: Callable[[str], None]) -> Path:
    """Return the pinned Go, fetching it if need be."""
    home = FOLDER / f"go-{GO}"
    if (home / "bin" / "go").exists():
        return home / "bin" / "go"
    here = f"{platform.system().lower()}-{_MACHINES.get(platform.machine().lower(), platform.machine())}"
    wanted = GO_SUMS.get(here)
    oldest = ".".join(map(str, OLDEST_GO))
    if wanted is None:
        raise ToolMissing(f"Go {oldest} or newer is needed on the PATH; we know of none for {here}")
    module = f"golang.org/toolchain@v0.0.1-go{GO}.{here}"
    say(f"There is no Go {oldest} or newer here: fetching Go {GO} (about 80 MB), kept in {home}")
    with tempfile.TemporaryDirectory(dir=FOLDER) as made:
        archive = Path(made) / "go.zip"
        _fetch(module, archive)
        with zipfile.ZipFile(archive) as files:
            if (is_sum := _sum(files)) != wanted:
                raise ToolMissing(
                    f"the Go module proxy's {module} has the sum {is_sum}, and should have {wanted}"
                )
            files.extractall(made)
        unpacked = Path(made) / module
        _put_right(unpacked)
        unpacked.replace(home)
    return home / "bin" / "go"


def _fetch(module: str, archive: Path) -> None:
    proxies = re.split(r"[,|]", os.environ.get("GOPROXY", ""))
    proxy = next(
        (each for each in proxies if each.startswith("https://")), "https://proxy.golang.org"
    )
    name, version = module.split("@")
    for attempt in range(MAX_ATTEMPTS):
        try:
            address = f"{proxy.rstrip('/')}/{name}/@v/{version}.zip"
            with urllib.request.urlopen(address, timeout=60) as answer, archive.open("wb") as file:  # noqa: S310
                shutil.copyfileobj(answer, file)
        except OSError as error:
            if attempt + 1 == MAX_ATTEMPTS:
                raise ToolMissing(
                    f"Go is needed to build what the suite runs beside the shop, and {module} cannot be had from the Go"
                    f" module proxy: {error}. Install Go {'.'.join(map(str, OLDEST_GO))} or newer, or set GOPROXY."
                ) from error
            time.sleep(2)
        else:
            return


def _sum(files: zipfile.ZipFile) -> str:
    """Return what Go's checksum database says of a module with these files."""
    lines = hashlib.sha256()
    for name in sorted(files.namelist()):
        with files.open(name) as file:
            lines.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode())  # type: ignore[arg-type]
    return "h1:" + base64.b64encode(lines.digest()).decode()


def _put_right(home: Path) -> None:
    """Make of the module what it was made of: a module has no programs, and no modules within."""
    for program in [*home.glob("bin/*"), *home.glob("pkg/tool/*/*")]:
        program.chmod(0o755)
    for file in home.rglob("_go.mod"):
        file.rename(file.with_name("go.mod"))


if __name__ == "__main__":
    try:
        for each in (TOXIPROXY, STRIPE_MOCK, CADDY, PROMTOOL):
            build_tool(each)
    except ToolMissing as missing:
        sys.exit(str(missing))
