"""A keyspace that 0.1.0 has filled is upgraded while 0.1.0 serves, takes orders and works; then this version does."""

import asyncio
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.buyers import Buyer, run_buyers
from cassandra_db.session import get_session
from tests.environment import KEYSPACE, ROOT
from tests.journeys.stored_state import connect_node
from tests.proof import LONG, ProofReport
from tests.storefront.test_version import RELEASES
from tests.waiting import wait_until
from tests.web_server import WebServer, collect_static_files

OLD = "0.1.0"
BUYERS = 200 if LONG else 16
FORMER_ORDERS = 200 if LONG else 10
# Run in the old version: members with paid orders of the last days, and guests with full carts. Prints their cookies.
FILL = f"""
import json
from datetime import UTC, datetime, timedelta
import tests.journeys.set_up
from benchmarks.buyers import make_guest_cart
from tests.factories import make_order, make_product, make_user

now = datetime.now(UTC)
for number in range({FORMER_ORDERS}):
    user = make_user()
    make_order(paid=True, user_id=user.user_id, email=user.email, now=now - timedelta(days=number % 5, minutes=1))
product = make_product("Cup", stock={2 * BUYERS}, listed=True)
carts = []
for number in range({BUYERS}):
    email = f"buyer-{{number}}@example.com"
    wanted = [(product.product_id, product.variants[0].variant_id, 1)]
    carts.append((email, make_guest_cart(wanted, email)))
print(json.dumps(carts))
"""


class Release:
    """A version of the shop in a folder of its own, and its processes on one keyspace."""

    def __init__(self, folder: Path, environment: Mapping[str, str], home: Path) -> None:
        self.folder, self.home = folder, home
        self.environment = {**os.environ, **environment}

    def run(self, *command: str) -> str:
        """Run a command of manage.py to its end, and return what it printed."""
        return self.run_python("manage.py", *command)

    def run_python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command of manage.py; its output goes to the release's log."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "manage.py", *command],
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> Path:
        return self.home / f"{self.folder.name}.log"

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run a worker within the block; it ends its job first."""
        worker = self.start("worker")
        try:
            yield
        finally:
            worker.terminate()
            assert worker.wait(60) == 0


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Release]:
    """The shop of 0.1.0, which has filled a keyspace of its own."""
    folder, name = tmp_path / OLD, f"{KEYSPACE}_upgrade"
    archive = subprocess.run(
        ["git", "archive", "--format=tar", dict(RELEASES)[OLD]],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    environment = {
        "CASSANDRA_KEYSPACE": name,
        "MEDIA_ROOT": str(tmp_path / "media"),
        "SEARCH_INDEX_DIR": str(tmp_path / "search"),
        "STATIC_ROOT": str(tmp_path / "static"),
        # A killed process's lease is over after four seconds.
        "LEASE_SECONDS": "3",
        # Their tables would take a third of the time.
        "POSTS": "false",
    }
    release = Release(folder, environment, tmp_path)
    try:
        release.run("sync_cassandra")
        release.run("collectstatic", "--no-input", "-v0")
        yield release
    finally:
        get_session().execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=180)


def make_buyers(carts: list[Any], port: int) -> list[Buyer]:
    return [Buyer(port, cookies, email=email, patience=90) for email, cookies in carts]


async def buy_while(buyers: list[Buyer], *command: str, release: Release) -> str:
    """Let a buyer come each second while a command of a release runs, and then the others; return what it printed."""
    running = asyncio.create_task(asyncio.to_thread(release.run, *command))
    meanwhile = 0
    for buyer in buyers:
        await buyer.buy()
        meanwhile += not running.done()
        await asyncio.wait([running], timeout=1)
    assert meanwhile, "nobody bought meanwhile"
    return await running


def kill_in_backfill(release: Release) -> None:
    """Start the backfills, and end them by kill -9 when one is under way."""
    process = release.start("migrate", "--backfill", "--share", "10")
    wait_until(lambda: "parts" in release.log.read_text(), "no backfill is under way", seconds=60)
    assert process.poll() is None, release.log.read_text()[-3000:]
    process.kill()
    process.wait(20)


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_x565_a_shop_is_upgraded_while_the_version_before_serves(
    older: Release, tmp_path: Path, proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        f"A shop of {OLD} is upgraded while it sells",
        f"{BUYERS} guests buy at a web server of {OLD} and at one of this version while the tables are expanded and its workers work."
        " Each has one paid order, no process logs an error, a killed backfill goes on, and the consistency check finds nothing.",
    )
    carts = json.loads(older.run_python("-c", FILL))
    older.run("check_consistency", "--repair", "--rule", "I26")  # lists that factories leave out
    first, second = carts[: BUYERS // 2], carts[BUYERS // 2 :]
    environment = {**older.environment, "STATIC_ROOT": str(collect_static_files())}
    newer = Release(ROOT, environment, tmp_path)
    old_web, new_web = (WebServer(tmp_path, 1, **each.environment) for each in (older, newer))
    old_web.root = older.folder
    began = time.monotonic()
    try:
        old_web.start()
        at_old = make_buyers(first, old_web.port)
        with older.work():
            plan = newer.run("migrate", "--plan")
            expanded = asyncio.run(buy_while(at_old, "migrate", release=newer))
            new_web.start()
            # Both versions sell, and the new one's orders are worked on by the old one's worker.
            at_both = make_buyers(second, new_web.port)
            for each in at_both[::2]:
                each.port = old_web.port
            asyncio.run(run_buyers(at_both, within=2))
        old_web.stop()
        with newer.work():
            kill_in_backfill(newer)
            newer.run("migrate", "--backfill", "--share", "100")
        newer.run("worker", "--once")
        contracted = newer.run("migrate", "--contract")
    finally:
        old_web.stop()
        new_web.stop()
    proof_report.add_figure("took", f"{time.monotonic() - began:.0f} s")
    buyers = [*at_old, *at_both]
    for buyer in buyers:
        proof_report.add_row(
            f"{buyer.email} buys a cup",
            buyer.last_heading,
            buyer.paid_number or "no order",
            is_match=bool(buyer.paid_number),
        )
    assert len({buyer.paid_number for buyer in buyers}) == BUYERS
    assert "expand    make book_entries" in plan
    assert "contract  drop daily_sales" in expanded
    assert "Nothing is pending" in contracted
    for release in (older, newer):
        assert "Traceback" not in release.log.read_text()
    assert "Traceback" not in (tmp_path / "gunicorn.log").read_text()
    checked = newer.run("check_consistency")
    proof_report.add_row(
        "check_consistency", checked, checked, is_match=checked.startswith("0 violations")
    )
    with connect_node() as plain:
        keyspace = newer.environment["CASSANDRA_KEYSPACE"]
        facts = plain.execute(f"SELECT placed_at, country FROM {keyspace}.sales_facts")  # noqa: S608
        assert [row for row in facts if row.placed_at is None or not row.country] == []
        listed = plain.execute(f"SELECT user_id FROM {keyspace}.customers_by_last_order")  # noqa: S608
        assert len({row.user_id for row in listed}) == FORMER_ORDERS
