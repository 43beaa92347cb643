"""Cassandra nodes of a benchmark's own, on loopback, which it may kill and pause; they are gone afterwards."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devtools.node import control, state


class Nodes:
    """Some nodes of our own."""

    def __init__(self, home: Path, count: int) -> None:
        self.home, self.count = home, count
        self.start_missing()

    @property
    def names(self) -> list[str]:
        return [node.name for node in self.cluster.nodes]

    @property
    def environment(self) -> dict[str, str]:
        """What a shop has to be told to use them, with a copy of everything on each of them."""
        return {
            "CASSANDRA_HOSTS": ",".join(self.cluster.hosts),
            "CASSANDRA_PORT": str(self.cluster.cql_port),
            "CASSANDRA_REPLICATION": str(self.count),
        }

    def start_missing(self) -> None:
        """Start those that do not run."""
        self.cluster = control.start_cluster(self.count, home=self.home, keep=False, heap_mb=512)

    def kill(self, name: str) -> None:
        """End a node at once."""
        control.kill_node(name, home=self.home)

    @contextmanager
    def pause(self, name: str) -> Iterator[None]:
        """Let a node hang within the block, with all its connections open."""
        pid = next(node.pid for node in self.cluster.nodes if node.name == name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """Leave nothing of them."""
        for node in control.list_running_nodes(state.load_cluster(self.home), self.home):
            control.kill_node(node.name, home=self.home)
        control.wipe_cluster(home=self.home)


@contextmanager
def run_nodes(count: int) -> Iterator[Nodes]:
    """Run so many nodes within the block, also when it is ended by SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the nodes end with us
    with tempfile.TemporaryDirectory() as folder:
        nodes = Nodes(Path(folder) / "cassandra", count)
        try:
            yield nodes
        finally:
            nodes.end()
