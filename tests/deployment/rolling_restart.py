"""A rolling restart under load: each web server, the worker and each of three nodes in turn, behind Caddy with TLS.

    python -m tests.deployment.rolling_restart FOLDER      # prints a line for each restart; status 1 if a visitor noticed

Buyers order, one after the other, and a visitor looks at pages. It runs in a process of its own, because the shop is on nodes of
its own.
"""

import asyncio
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from uuid import uuid4

import psutil

from benchmarks.buyers import Buyer, PageViewer, make_guest_cart
from benchmarks.flash_sale import Stocked, get_stock_numbers, make_stocked_product
from benchmarks.nodes_away import FATAL, find_order_problem
from benchmarks.pages import shop_environment
from benchmarks.setup import is_shop_consistent, own_keyspace
from devtools.node import control, state
from tests.deployment.units import Deployment, Unit
from tests.waiting import wait_until

KEYSPACE = "stoa_rolling"
BUYERS_A_SECOND = 1.0
PATHS = ("/", "/help/delivery/", "/search?q=thing", "/cart/")
# How long a node may take to end and to come back, on a busy machine.
NODE_SECONDS = 180


class Load:
    """Buyers, who come until `enough` is set, and a visitor of pages."""

    def __init__(self, deployment: Deployment, product: Stocked) -> None:
        self.tls = deployment.make_tls_context()
        self.port, self.product = deployment.port, product
        self.buyers: list[Buyer] = []
        self.viewer = PageViewer(self.port, PATHS, 0.2, tls=self.tls)
        self.enough = threading.Event()

    def run(self) -> None:
        """Let them come, and return when the last one has their answer."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        over = asyncio.Event()
        looking = asyncio.create_task(self.viewer.view_pages(over))
        buying = []
        while not self.enough.is_set():
            buyer = await asyncio.to_thread(self._make_buyer)
            self.buyers.append(buyer)
            buying.append(asyncio.create_task(buyer.buy()))
            await asyncio.sleep(1 / BUYERS_A_SECOND)
        await asyncio.gather(*buying)
        over.set()
        await looking

    def _make_buyer(self) -> Buyer:
        email = f"buyer-{uuid4().hex}@example.com"
        cookies = make_guest_cart([(self.product.product_id, self.product.variant_id, 1)], email)
        return Buyer(self.port, cookies, email=email, max_submits=20, patience=60, tls=self.tls)

    @property
    def paid_count(self) -> int:
        return sum(bool(buyer.paid_number) for buyer in self.buyers)

    def wait_for_orders(self) -> None:
        """Wait until two more buyers have paid."""
        enough = self.paid_count + 2
        wait_until(lambda: self.paid_count >= enough, "nobody buys", seconds=120)

    def count_errors(self) -> Counter[int]:
        """Return how often an error page, or no answer (0), was answered."""
        answers = sum((buyer.answers for buyer in self.buyers), Counter(self.viewer.answers))
        return Counter({status: answers[status] for status in FATAL if answers[status]})


def restart_node(name: str, home: Path, web: list[Unit]) -> None:
    """Stop a node as `systemctl stop` does, start it, and return when each web process uses it again."""
    node = next(
        each
        for each in control.list_running_nodes(state.load_cluster(home), home)
        if each.name == name
    )
    process = psutil.Process(node.pid)
    process.send_signal(signal.SIGTERM)
    process.wait(NODE_SECONDS)
    control.start_cluster(3, home=home, keep=False, heap_mb=512, hasty=True)

    def is_used() -> bool:
        processes = [each for unit in web for each in psutil.Process(unit.pid).children()]
        return all(
            any(line.raddr and line.raddr.ip == node.address for line in each.net_connections())
            for each in processes
        )

    wait_until(is_used, f"{name} is not used again", seconds=NODE_SECONDS)


def restart_all(load: Load, deployment: Deployment, home: Path) -> None:
    """Restart everything in turn, each time when further buyers have paid, and print a line for each."""
    names = [node.name for node in control.list_running_nodes(state.load_cluster(home), home)]
    restarts: list[tuple[str, Callable[[], None]]] = [
        *((f"web server {number}", unit.restart) for number, unit in enumerate(deployment.web, 1)),
        ("worker", deployment.worker.restart),
        *((name, partial(restart_node, name, home, deployment.web)) for name in names),
    ]
    for what, restart in restarts:
        load.wait_for_orders()
        began, before, errors = perf_counter(), load.paid_count, load.count_errors()
        restart()
        load.wait_for_orders()
        took, orders = perf_counter() - began, load.paid_count - before
        noticed = dict(load.count_errors() - errors) or "no error page"
        print(f"{what}: {took:.0f} s, {orders} orders meanwhile; {noticed}", flush=True)


def main(folder: Path) -> int:
    """Run the restarts, print, and return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    home = folder / "cassandra"
    try:
        cluster = control.start_cluster(3, home=home, keep=False, heap_mb=512, hasty=True)
        os.environ |= {
            "CASSANDRA_HOSTS": ",".join(cluster.hosts),
            "CASSANDRA_PORT": str(cluster.cql_port),
            "CASSANDRA_REPLICATION": "3",
        }
        with own_keyspace(KEYSPACE, keep=True, STOA_DEMO="1", STOA_HTTPS="1", COUNT_STATEMENTS="0"):
            return _run(folder, home)
    finally:
        for node in control.list_running_nodes(state.load_cluster(home), home):
            control.kill_node(node.name, home=home)


def _run(folder: Path, home: Path) -> int:
    environment = shop_environment(
        KEYSPACE, STOA_DEMO="1", COUNT_STATEMENTS="0", WEB_CONCURRENCY="1"
    )
    deployment = Deployment(folder, 2, environment)
    try:
        deployment.worker.start()
        deployment.start()
        product = make_stocked_product("Thing", 2000)
        load = Load(deployment, product)
        coming = threading.Thread(target=load.run)
        coming.start()
        try:
            restart_all(load, deployment, home)
        finally:
            load.enough.set()
            coming.join()
    finally:
        deployment.end()
    return _judge(load)


def _judge(load: Load) -> int:
    errors = load.count_errors()
    problems = [text for buyer in load.buyers if (text := find_order_problem(buyer))]
    numbers = get_stock_numbers(load.product.variant_id)
    if (numbers["committed"], numbers["reserved"]) != (len(load.buyers), 0):
        problems.append(f"the stock says {dict(numbers)}")
    seconds = sorted(load.viewer.seconds)
    print(
        f"in all: {len(load.buyers)} orders, {len(seconds)} pages, the slowest after {seconds[-1]:.1f} s;"
        f" {dict(errors) or 'no error page'}, {'; '.join(problems) or 'none lost, none doubled'}",
        flush=True,
    )
    return int(bool(errors or problems) or not is_shop_consistent())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        raise SystemExit(main(Path(sys.argv[1] if len(sys.argv) > 1 else made)))
