"""Runs Cassandra nodes on loopback that a benchmark may kill and pause. Their data is deleted at the end."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devtools.node import control, state


class Nodes:
    """A cluster of one or three nodes that belongs to a benchmark."""

    def __init__(self, home: Path, count: int) -> None:
        self.home, self.count = home, count
        self.start_missing()

    @property
    def names(self) -> list[str]:
        return [node.name for node in self.cluster.nodes]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a shop that uses these nodes, with a copy of each row on every node."""
        return {
            "CASSANDRA_HOSTS": ",".join(self.cluster.hosts),
            "CASSANDRA_PORT": str(self.cluster.cql_port),
            "CASSANDRA_REPLICATION": str(self.count),
        }

    def start_missing(self) -> None:
        """Start the nodes that do not run."""
        self.cluster = control.start_cluster(self.count, home=self.home, keep=False, heap_mb=512)

    def kill(self, name: str) -> None:
        """Kill a node."""
        control.kill_node(name, home=self.home)

    @contextmanager
    def pause(self, name: str) -> Iterator[None]:
        """Pause a node (SIGSTOP) within the block. Its connections stay open."""
        pid = next(node.pid for node in self.cluster.nodes if node.name == name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """Kill all nodes, and delete their data."""
        for node in control.list_running_nodes(state.load_cluster(self.home), self.home):
            control.kill_node(node.name, home=self.home)
        control.wipe_cluster(home=self.home)


@contextmanager
def run_nodes(count: int) -> Iterator[Nodes]:
    """Run nodes within the block. A SIGTERM to this process ends them, too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the nodes, too
    with tempfile.TemporaryDirectory() as folder:
        nodes = Nodes(Path(folder) / "cassandra", count)
        try:
            yield nodes
        finally:
            nodes.end()
