"""The record of this checkout's own Cassandra: ports and processes.

It is JSON below `.cassandra/`. So checkouts do not mix up their nodes, and the settings find the node without Django, Java or a
connection.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Node:
    """One local node: where it listens and which process it is."""

    name: str
    address: str
    jmx_port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """The nodes of one start. CQL and storage ports are the same on every address, as drivers expect."""

    nodes: tuple[Node, ...]
    cql_port: int
    storage_port: int
    heap_mb: int
    # True after `cassandra start`; else the last process that borrows the nodes stops them.
    kept: bool

    @property
    def hosts(self) -> list[str]:
        return [node.address for node in self.nodes]

    @property
    def endpoint(self) -> str:
        """The value of CASSANDRA_LOCAL_NODE: "address,address:port"."""
        return f"{','.join(self.hosts)}:{self.cql_port}"


def default_home() -> Path:
    """Return the ignored folder in which this checkout's nodes live."""
    return PROJECT_ROOT / ".cassandra"


def load_cluster(home: Path) -> Cluster | None:
    """Return the record of the last start, or None if there is none or it is damaged."""
    try:
        record = json.loads((home / "state.json").read_text(encoding="utf-8"))
        nodes = tuple(Node(**node) for node in record.pop("nodes"))
        return Cluster(nodes=nodes, **record)
    except (FileNotFoundError, json.JSONDecodeError, KeyError, TypeError):
        return None


def save_cluster(home: Path, cluster: Cluster) -> None:
    """Record a start. Readers see the old record or the new one, never half."""
    home.mkdir(parents=True, exist_ok=True)
    draft = home / f"state.json.{os.getpid()}"
    draft.write_text(json.dumps(asdict(cluster), indent=2) + "\n", encoding="utf-8")
    draft.replace(home / "state.json")


def forget_cluster(home: Path) -> None:
    """Drop the record of a start."""
    (home / "state.json").unlink(missing_ok=True)


def announce_local_node(home: Path | None = None) -> None:
    """Set CASSANDRA_LOCAL_NODE, unless it is set, to the node that this checkout has started.

    It reads one small file, and does not check that the node answers.
    """
    if cluster := load_cluster(home or default_home()):
        os.environ.setdefault("CASSANDRA_LOCAL_NODE", cluster.endpoint)
