"""Keeps the record of this checkout's own Cassandra nodes: their ports and processes.

The record is a JSON file below `.cassandra/`. So each checkout knows its own nodes, and the settings find a node without Django,
Java or a connection.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Node:
    """A local node: its name, address and process id."""

    name: str
    address: str
    jmx_port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """The nodes that were started together. Their CQL ports are equal, as drivers expect, and so are their storage ports."""

    nodes: tuple[Node, ...]
    cql_port: int
    storage_port: int
    heap_mb: int
    # True after `cassandra start`. If False, the last process that borrows the nodes stops them.
    kept: bool

    @property
    def hosts(self) -> list[str]:
        return [node.address for node in self.nodes]

    @property
    def endpoint(self) -> str:
        """The value of CASSANDRA_LOCAL_NODE: "address,address:port"."""
        return f"{','.join(self.hosts)}:{self.cql_port}"


def default_home() -> Path:
    """Return the folder with the files of this checkout's nodes. Git ignores it."""
    return PROJECT_ROOT / ".cassandra"


def load_cluster(home: Path) -> Cluster | None:
    """Return the record of the last start, or None if there is no valid record."""
    try:
        record = json.loads((home / "state.json").read_text(encoding="utf-8"))
        nodes = tuple(Node(**node) for node in record.pop("nodes"))
        return Cluster(nodes=nodes, **record)
    except (FileNotFoundError, json.JSONDecodeError, KeyError, TypeError):
        return None


def save_cluster(home: Path, cluster: Cluster) -> None:
    """Record a start of nodes. Other processes read the old record or the new record, never a half-written one."""
    home.mkdir(parents=True, exist_ok=True)
    draft = home / f"state.json.{os.getpid()}"
    draft.write_text(json.dumps(asdict(cluster), indent=2) + "\n", encoding="utf-8")
    draft.replace(home / "state.json")


def forget_cluster(home: Path) -> None:
    """Delete the record of the last start."""
    (home / "state.json").unlink(missing_ok=True)


def announce_local_node(home: Path | None = None) -> None:
    """Set CASSANDRA_LOCAL_NODE and CASSANDRA_LOCAL_JMX, unless they are set, to the nodes that this checkout has started.

    It only reads the record, and does not check that the node answers.
    """
    if cluster := load_cluster(home or default_home()):
        os.environ.setdefault("CASSANDRA_LOCAL_NODE", cluster.endpoint)
        jmx = ",".join(f"127.0.0.1:{node.jmx_port}" for node in cluster.nodes)
        os.environ.setdefault("CASSANDRA_LOCAL_JMX", jmx)
