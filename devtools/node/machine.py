"""Finds out the memory and the free ports of this machine."""

import contextlib
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from devtools.node.errors import NodeError

MEBIBYTE = 1024 * 1024


def available_memory_mb() -> int:
    """Return the available memory in mebibytes, within the limit of the container if there is one."""
    system = psutil.virtual_memory().available // MEBIBYTE
    container = _cgroup_memory_mb()
    return system if container is None else min(system, container)


def _cgroup_memory_mb() -> int | None:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        with contextlib.suppress(OSError, ValueError):
            allowed = int(Path(limit).read_text(encoding="ascii"))
            return max(0, allowed - int(Path(used).read_text(encoding="ascii"))) // MEBIBYTE
    return None


def is_port_free(address: str, port: int) -> bool:
    """Return whether a server could listen on the port now."""
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


def is_listening_on(pid: int, port: int) -> bool:
    """Return whether the process listens on the port. Return False if the process has ended."""
    try:
        connections = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(
        each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in connections
    )


def find_free_port(
    wanted: int, addresses: Sequence[str], avoid: Iterable[int] = (), tries: int = 200
) -> int:
    """Return the first port from `wanted` on that is free on all addresses, and is not in `avoid`.

    Raises NodeError if `tries` ports in a row are taken.
    """
    taken = set(avoid)
    for port in range(wanted, wanted + tries):
        if port not in taken and all(is_port_free(address, port) for address in addresses):
            return port
    raise NodeError(
        f"No free port between {wanted} and {wanted + tries - 1} on {', '.join(addresses)}."
    )


def process_command_line(pid: int) -> list[str]:
    """Return a process's command line; an empty list if there is no such process."""
    try:
        return list(psutil.Process(pid).cmdline())
    except psutil.Error:
        return []


def process_memory_mb(pid: int) -> int | None:
    """Return a process's memory in mebibytes, or None if the process has ended."""
    try:
        return int(psutil.Process(pid).memory_info().rss) // MEBIBYTE
    except psutil.Error:
        return None
