"""An answer of "added" survives a kill -9: of the web server's processes, and of one node of three.

Eight connections of one guest put things into one cart. Each submit has its own idempotency key; one without a good answer
is sent again with the same key, as a browser would send a form again, until it is acknowledged.
"""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from cassandra.cluster import Session

from cassandra_db.session import get_session
from devtools.node import control, state
from tests.environment import KEYSPACE, ROOT
from tests.factories import make_order, make_products_in_stock
from tests.journeys.connection import CSRF, NO_ANSWER, ShopConnection
from tests.journeys.stored_state import connect_node
from tests.proof import LONG, ProofReport
from tests.waiting import wait_until
from tests.web_server import WebServer

CONNECTIONS = 8
SUBMITS = 100 if LONG else 25  # by each connection
PATIENCE = 45.0  # seconds after which a submit without an acknowledgement has failed


@dataclass
class Stream:
    """The submits of eight connections, and what came of each."""

    shop: str
    skus: list[str]
    cookies: dict[str, str] = field(default_factory=lambda: {"stoa_csrf": CSRF})
    acknowledged: list[UUID] = field(default_factory=list)
    # and the status, NO_ANSWER if there was none
    unanswered: list[tuple[UUID, int]] = field(default_factory=list)

    def begin(self) -> None:
        """Put in the first product: from now on the guest has a cookie and a cart."""
        first = uuid4()
        line = ShopConnection(self.shop, self.cookies)
        assert line.add_to_cart(self.skus[0], first), line.status
        self.acknowledged.append(first)

    def run(self) -> None:
        """Submit until every submit is acknowledged."""
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            for done in [pool.submit(self._submit, number) for number in range(CONNECTIONS)]:
                done.result()

    def wait_for(self, count: int) -> None:
        """Wait until so many submits are acknowledged."""
        wait_until(
            lambda: len(self.acknowledged) >= count,
            f"fewer than {count} submits are acknowledged",
            seconds=PATIENCE,
        )

    def _submit(self, number: int) -> None:
        line = ShopConnection(self.shop, dict(self.cookies))
        for turn in range(SUBMITS):
            key, deadline = uuid4(), time.monotonic() + PATIENCE
            while not line.add_to_cart(self.skus[(number + turn) % len(self.skus)], key):
                self.unanswered.append((key, line.status))
                assert line.status in (NO_ANSWER, HTTPStatus.SERVICE_UNAVAILABLE), line.status
                assert time.monotonic() < deadline, (
                    f"no answer for {PATIENCE} s, the last was {line.status}"
                )
                time.sleep(0.2)
            self.acknowledged.append(key)
        line.close()

    @property
    def all_of_them(self) -> int:
        return CONNECTIONS * SUBMITS + 1


@contextmanager
def meanwhile(stream: Stream) -> Iterator[None]:
    """Run the stream beside the block, and wait for its end."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(stream.run)
        yield
        running.result()


@dataclass
class Found:
    """A cart's partition."""

    cart_id: UUID
    line_count: int
    item_count: int
    subtotal: int
    version: int
    lines: list[tuple[int, int]]  # quantity, price
    operations: set[UUID]

    def sums_equal_lines(self) -> bool:
        return (self.line_count, self.item_count, self.subtotal) == (
            len(self.lines),
            sum(quantity for quantity, _ in self.lines),
            sum(quantity * price for quantity, price in self.lines),
        )


def found(connected: Session, keyspace: str, key: UUID) -> Found:
    """Read the cart that has this idempotency key's row."""
    columns = "cart_id, kind, key, quantity, price, line_count, item_count, subtotal, version"
    rows = list(connected.execute(f"SELECT {columns} FROM {keyspace}.items_by_cart"))  # noqa: S608
    cart_id = next(row[0] for row in rows if row[2] == str(key))
    mine = [row for row in rows if row[0] == cart_id]
    _, _, _, _, _, line_count, item_count, subtotal, version = mine[0]
    return Found(
        cart_id,
        line_count,
        item_count,
        subtotal,
        version,
        [(row[3], row[4]) for row in mine if row[1] == "line"],
        {UUID(row[2]) for row in mine if row[1] == "op"},
    )


def assert_complete(stream: Stream, cart: Found) -> None:
    """Everything was acknowledged in the end, and each submit counts once."""
    assert len(stream.acknowledged) == stream.all_of_them
    assert cart.operations == set(stream.acknowledged)
    assert (cart.item_count, cart.version) == (stream.all_of_them, stream.all_of_them)
    assert cart.sums_equal_lines()


def test_what_was_acknowledged_survives_a_kill_of_the_web_server(tmp_path: Path) -> None:
    """I5 and I10."""
    web = WebServer(tmp_path, workers=2)
    stream = Stream(web.url, make_products_in_stock())
    with connect_node() as plain:
        try:
            web.start()
            stream.begin()
            with meanwhile(stream):
                stream.wait_for(stream.all_of_them // 3)
                web.kill()
                by_then = list(stream.acknowledged)
                cart = found(plain, KEYSPACE, by_then[0])
                web.start()
        finally:
            web.stop()
        afterwards = found(plain, KEYSPACE, by_then[0])
    assert set(by_then) <= cart.operations, "acknowledged, and lost"
    assert cart.item_count == len(cart.operations) <= len(by_then) + CONNECTIONS
    assert cart.sums_equal_lines()
    assert len({key for key, _ in stream.unanswered}) >= CONNECTIONS, (
        "nothing was under way at the kill"
    )
    assert_complete(stream, afterwards)


# ---- three nodes, replication 3

KEYSPACE_OF_THREE = "stoa_three"
THREE_COPIES = "replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"
# While one of three nodes dies, a submit may be answered 503 ("try again"): those under way, and each once more.
MAX_REFUSED = 2 * CONNECTIONS
# What a page could not read from the dead node is read from another, before its visitor notices.
MAX_PAGES_REFUSED = 2
WRITE_COPIES = """
import pickle, sys
from orders.operations import write_copies
order = pickle.loads(bytes.fromhex(sys.stdin.readline()))
write_copies(order)
print("ready", flush=True)
sys.stdin.readline()
write_copies(order)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[state.Cluster]:
    if sys.platform == "darwin":
        pytest.skip("macOS has only 127.0.0.1 on its loopback, so there is no room for three nodes")
    home = tmp_path / "cassandra"
    try:
        yield control.start_cluster(3, home=home, keep=False, heap_mb=512)
    finally:
        for node in control.list_running_nodes(state.load_cluster(home), home):
            control.kill_node(node.name, home=home)
        control.wipe_cluster(home=home)


def wait_until_agreed(connected: Session) -> None:
    """Wait until all nodes know the same tables."""
    questions = [f"SELECT schema_version FROM system.{table}" for table in ("local", "peers")]  # noqa: S608

    def are_agreed() -> bool:
        rows = [row for question in questions for row in connected.execute(question)]
        return len({row.schema_version for row in rows}) == 1

    # three nodes, fifty tables and two cores
    wait_until(are_agreed, "the nodes do not agree on the tables", seconds=4 * PATIENCE)


def filled(cluster: state.Cluster) -> tuple[dict[str, str], list[str]]:
    """Give the three nodes the suite's tables, and products; return the shop's environment there, and the SKUs."""
    tables = get_session().cluster.metadata.keyspaces[KEYSPACE].tables
    with connect_node(cluster.hosts[0], cluster.cql_port) as first:
        first.execute(f"CREATE KEYSPACE {KEYSPACE_OF_THREE} WITH {THREE_COPIES}")
        for table in tables.values():
            first.execute(table.as_cql_query().replace(KEYSPACE, KEYSPACE_OF_THREE))
        wait_until_agreed(first)
    environment = {
        "CASSANDRA_HOSTS": ",".join(cluster.hosts),
        "CASSANDRA_PORT": str(cluster.cql_port),
        "CASSANDRA_KEYSPACE": KEYSPACE_OF_THREE,
    }
    stock = "from tests.factories import make_products_in_stock; print(*make_products_in_stock())"
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", stock]
    made = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return environment, made.stdout.split()


def nearest(connected: Session, cart_id: UUID) -> str:
    """Return the address of the node that coordinates what is written to this cart."""
    replicas = connected.cluster.metadata.get_replicas(KEYSPACE_OF_THREE, cart_id.bytes)
    assert len(replicas) == 3
    return str(replicas[0].address)


@contextmanager
def copy_writer(environment: dict[str, str]) -> Iterator[Callable[[], int]]:
    """Connect another process to the nodes, that writes an order's copies on a signal; yields what sends the signal and returns the exit status."""
    order = make_order(paid=True, user_id=uuid4())
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", WRITE_COPIES]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        print(pickle.dumps(order).hex(), file=process.stdin, flush=True)
        assert process.stdout.readline() == "ready\n"

        def write() -> int:
            process.communicate("now\n", timeout=PATIENCE)
            return process.returncode

        try:
            yield write
        finally:
            process.kill()


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.timeout(600)  # four starts of a node, on a machine that may be busy
def test_what_was_acknowledged_survives_a_kill_of_one_node_of_three(
    cluster: state.Cluster, tmp_path: Path, proof_report: ProofReport
) -> None:
    """I5 and I10."""
    proof_report.state_claim(
        "One of three database nodes is killed",
        "Eight connections put things into one cart while one of three nodes is killed by kill -9, the one that coordinates that"
        " cart: each submit that was acknowledged is in the cart once, at the nodes that are left and at the one that comes back.",
    )
    environment, skus = filled(cluster)
    web = WebServer(tmp_path, workers=1, **environment)
    stream = Stream(web.url, skus)
    try:
        web.start()
        stream.begin()
        with connect_node(cluster.hosts[0], cluster.cql_port) as first:
            victim = nearest(first, found(first, KEYSPACE_OF_THREE, stream.acknowledged[0]).cart_id)
        name = next(node.name for node in cluster.nodes if node.address == victim)
        with (
            copy_writer(environment) as copies_written,
            pages_read(stream) as pages,
            meanwhile(stream),
        ):
            stream.wait_for(stream.all_of_them // 3)
            control.kill_node(name, home=tmp_path / "cassandra")
            by_then = list(stream.acknowledged)
            # The others still count on the dead one: what waits for just that one is refused.
            assert copies_written() == 0
        # A visitor who comes later, to a server that starts with one node dead.
        web.stop()
        web.start()
        assert ShopConnection(web.url, stream.cookies).get("/cart/") == HTTPStatus.OK
    finally:
        web.stop()
    survivor = next(host for host in cluster.hosts if host != victim)
    with connect_node(survivor, cluster.cql_port) as second:
        at_survivor = found(second, KEYSPACE_OF_THREE, by_then[0])
    control.start_cluster(3, home=tmp_path / "cassandra", keep=False, heap_mb=512)
    with connect_node(victim, cluster.cql_port) as back:
        again = found(back, KEYSPACE_OF_THREE, by_then[0])
    refused = [(path, status) for path, status in pages if status != HTTPStatus.OK]
    report_submits(proof_report, stream, at_survivor, again)
    proof_report.add_figure("submits acknowledged", len(stream.acknowledged))
    proof_report.add_figure("of them before the kill", len(by_then))
    proof_report.add_figure("refused meanwhile, and sent again", len(stream.unanswered))
    proof_report.add_figure("pages read meanwhile", f"{len(pages)}, refused {len(refused)}")
    assert again == at_survivor, "the node that comes back has the same"
    assert len(by_then) < stream.all_of_them, "the node died after the last submit"
    assert_complete(stream, at_survivor)
    assert len(stream.unanswered) <= MAX_REFUSED, stream.unanswered
    assert len(pages) > len(refused)
    assert len(refused) <= MAX_PAGES_REFUSED, refused


def report_submits(report: ProofReport, stream: Stream, survivor: Found, back: Found) -> None:
    """Add a row for each submit, and one for the cart."""
    refused = Counter(key for key, _ in stream.unanswered)
    for key in stream.acknowledged:
        at = [
            name
            for name, cart in (("at a survivor", survivor), ("at the node that came back", back))
            if key in cart.operations
        ]
        report.add_row(
            f"submit {key.hex[:8]}: put one into the cart",
            "added" + (f", after {refused[key]}× no good answer" if refused[key] else ""),
            f"in the cart, read {' and '.join(at)}" if at else "not in the cart",
            is_match=len(at) == 2,
            table="Submits",
        )
    for name, cart in (("the nodes that were left", survivor), ("the node that came back", back)):
        report.add_row(
            f"the cart, read at {name}",
            f"{len(stream.acknowledged)} added",
            f"{cart.item_count} units in {cart.line_count} lines, version {cart.version}; the sums are{'' if cart.sums_equal_lines() else ' not'} those of the lines",
            is_match=cart.item_count == len(stream.acknowledged) and cart.sums_equal_lines(),
            table="The cart",
        )


@contextmanager
def pages_read(stream: Stream) -> Iterator[list[tuple[str, int]]]:
    """Have another visitor look at pages within the block; yields what was answered."""
    answers: list[tuple[str, int]] = []
    enough = threading.Event()

    def look() -> None:
        line = ShopConnection(stream.shop, dict(stream.cookies))
        while not enough.wait(0.1):
            answers.extend((path, line.get(path)) for path in ("/", "/cart/"))
        line.close()

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            yield answers
        finally:
            enough.set()
            looking.result()
