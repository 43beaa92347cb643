"""What the machine has to offer a node: memory and free ports."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from cassandra_db.node.errors import NodeError

MEBIBYTE = 1024 * 1024


def available_memory_mb() -> int | None:
    """This function will return the mebibytes that can still be taken here, or None where nobody tells.

    Inside a container its limit counts, not the machine's memory.
    """
    figures = [figure for figure in (_system_memory_mb(), _cgroup_memory_mb()) if figure is not None]
    return min(figures, default=None)


def _system_memory_mb() -> int | None:
    if sys.platform == "darwin":
        # macOS gives away cached memory on demand, so half of what is built in is a fair guess of what is free.
        with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
            answer = subprocess.run(
                ["sysctl", "-n", "hw.memsize"], capture_output=True, text=True, timeout=10, check=True
            )
            return int(answer.stdout) // MEBIBYTE // 2
        return None
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return None


def _cgroup_memory_mb() -> int | None:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            allowed = int(Path(limit).read_text(encoding="ascii"))
            return max(0, allowed - int(Path(used).read_text(encoding="ascii"))) // MEBIBYTE
    return None


def is_free(address: str, port: int) -> bool:
    """This function will tell whether nobody listens on the port and a server of ours could."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        if probe.connect_ex((address, port)) == 0:
            return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((address, port))
        except OSError:
            return False
    return True


def free_port(wanted: int, addresses: Sequence[str], avoid: Iterable[int] = (), tries: int = 200) -> int:
    """This function will return the wanted port, or the next one after it, that is free on all the addresses.

    Raises NodeError when `tries` ports in a row are taken.
    """
    taken = set(avoid)
    for port in range(wanted, wanted + tries):
        if port not in taken and all(is_free(address, port) for address in addresses):
            return port
    raise NodeError(f"No free port between {wanted} and {wanted + tries - 1} on {', '.join(addresses)}.")


def command_line(pid: int) -> str:
    """This function will return how a process was started, or "" when there is no such process (any more)."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return ""
    except OSError:
        return ""
    answer = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout


def memory_of_mb(pid: int) -> int | None:
    """This function will return the mebibytes of memory a process holds, or None where nobody tells."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // MEBIBYTE
    return None
