"""Reads the virtual tables of `system_views`, in which each node reports only about itself.

The shop's role needs `GRANT SELECT ON KEYSPACE system_views`; a node that refuses counts as one that does not answer.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cassandra.cluster import ResponseFuture
from cassandra.pool import Host
from cassandra.query import SimpleStatement

from cassandra_db.configuration import READ, SilentNodesLastPolicy
from cassandra_db.session import DRIVER_ERRORS, get_session, keyspace_name

# How many seconds a node may take to answer. Staff read these figures when a node has problems.
PATIENCE = 2.0
PARTITIONS = (
    "SELECT keyspace_name, table_name, mebibytes AS figure FROM system_views.max_partition_size"
)
TOMBSTONES = (
    "SELECT keyspace_name, table_name, p99th AS figure FROM system_views.tombstones_per_read"
)
QUESTIONS = (PARTITIONS, TOMBSTONES)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Node:
    """A node as this process's driver knows it. `is_up` is None while the driver does not know it yet."""

    address: str
    data_center: str
    rack: str
    version: str
    is_up: bool | None
    is_silent: bool  # it has recently left a request of this process unanswered


@dataclass
class TableFigures:
    """The highest figures that any node reports for each table of the shop, and the nodes that did not answer."""

    mebibytes: dict[str, int] = field(default_factory=dict)  # the size of the largest partition
    tombstones: dict[str, float] = field(
        default_factory=dict
    )  # met by a read: 99 of 100 meet no more
    nodes_without_figures: list[str] = field(default_factory=list)


def list_nodes() -> list[Node]:
    """Return all nodes of the cluster, sorted by data centre and address. Raises CassandraUnavailable."""
    nodes = [
        Node(
            str(host.address),
            host.datacenter or "",
            host.rack or "",
            host.release_version or "",
            host.is_up,
            SilentNodesLastPolicy.is_silent(host),
        )
        for host in get_session().cluster.metadata.all_hosts()
    ]
    return sorted(nodes, key=lambda node: (node.data_center, node.address))


def list_data_centers() -> list[str]:
    """Return the data centres that keep rows of the shop, sorted by name. Raises CassandraUnavailable.

    All nodes count if the keyspace has the SimpleStrategy, or does not exist yet.
    """
    metadata = get_session().cluster.metadata
    keyspace = metadata.keyspaces.get(keyspace_name())
    factors = getattr(keyspace and keyspace.replication_strategy, "dc_replication_factors", None)
    if factors is None:
        return sorted({host.datacenter or "" for host in metadata.all_hosts()})
    return sorted(name for name, factor in factors.items() if int(factor))


class PendingFigures:
    """The figures of all nodes, while their answers are awaited. All are asked at the same time; each has PATIENCE seconds."""

    def __init__(self) -> None:
        session = get_session()
        hosts: list[Host] = session.cluster.metadata.all_hosts()
        self.figures = TableFigures(
            nodes_without_figures=[str(host.address) for host in hosts if host.is_up is False]
        )
        self._asked = [
            (str(host.address), [self._ask(session, host, cql) for cql in QUESTIONS])
            for host in hosts
            if host.is_up is not False
        ]

    @staticmethod
    def _ask(session: Any, host: Host, cql: str) -> ResponseFuture:
        # One page holds all rows: sixty tables of Cassandra's own, and the tables of each keyspace.
        statement = SimpleStatement(cql, fetch_size=50_000)
        return session.execute_async(statement, execution_profile=READ, timeout=PATIENCE, host=host)

    def get(self) -> TableFigures:
        """Wait for the answers of the nodes, and return the figures. A node that does not answer, or refuses, counts as silent."""
        for address, futures in self._asked:
            try:
                answers = [_by_table(list(future.result())) for future in futures]
            except DRIVER_ERRORS as error:
                log.info("%s does not say how its tables are: %s", address, error)
                self.figures.nodes_without_figures.append(address)
                continue
            known: tuple[dict[str, Any], ...] = (self.figures.mebibytes, self.figures.tombstones)
            for kept, found in zip(known, answers, strict=True):
                _keep_highest(kept, found)
        self._asked = []
        return self.figures


def _by_table(rows: Sequence[Any]) -> dict[str, Any]:
    mine = keyspace_name()
    return {row.table_name: row.figure for row in rows if row.keyspace_name == mine}


def _keep_highest(kept: dict[str, Any], found: Mapping[str, Any]) -> None:
    for table, figure in found.items():
        kept[table] = max(kept.get(table, 0), figure)
