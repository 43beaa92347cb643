"""The big proofs of backups: the whole shop, killed by kill -9; clusters of other sizes."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cassandra.query import SimpleStatement

from backups.queries import MARK, execute
from backups.store import BackupStore
from cassandra_db import LOCAL_ONE
from cassandra_db.session import get_session
from devtools.node import control, state
from devtools.node.state import Cluster
from tests.backups.small_shop import KEY, open_small_shop, read_rows
from tests.environment import KEYSPACE, ROOT
from tests.journeys.stored_state import connect_node
from tests.proof import ProofReport
from tests.waiting import wait_until

# Run in a keyspace of its own: another proof of this run may have left thousands of orders in the keyspace of all.
FILL = """
import tests.journeys.set_up
from consistency.runner import check_consistency
from tests.factories import make_order, make_stocked_product

for _ in range(3):
    make_stocked_product()
    make_order(paid=True)
# What the factories leave out.
assert check_consistency(repair=True, recheck_after=()).is_clean
"""


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, beside the shop's code."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"BACKUP_KEY": KEY} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


run_command = partial(run_python, "manage.py")


def kill_command(*arguments: str, when: Callable[[], bool], **environment: str) -> None:
    """Start a command of the shop, and kill it by kill -9 as soon as `when` says so."""
    command = [sys.executable, "manage.py", *arguments]
    variables = os.environ | {"BACKUP_KEY": KEY} | environment
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL) as killed:
        try:
            wait_until(lambda: when() or killed.poll() is not None, "it does not begin", seconds=60)
        finally:
            killed.kill()
    assert killed.returncode == -9


def count_tables(keyspace: str) -> int:
    """Return how many tables a keyspace has; 0 if there is none. The driver would hear of them later."""
    cql = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = %s"
    return len(execute(cql, keyspace))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shop that no other test uses, with a folder for its backups."""
    name = f"{KEYSPACE}_whole"
    try:
        yield {
            "CASSANDRA_KEYSPACE": name,
            "BACKUP_FOLDER": str(tmp_path),
            "LEASE_SECONDS": "1",
            "MEDIA_ROOT": str(tmp_path / "media"),
        }
    finally:
        get_session().execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=180)


@pytest.mark.proof
@pytest.mark.timeout(600)
def test_x554_a_backup_of_the_whole_shop_that_was_killed_goes_on_and_is_verified(
    place: dict[str, str], tmp_path: Path, proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        "A backup of the whole shop and its restore are killed by kill -9",
        "The backup goes on when it is run again and stores nothing twice. The restore into a scratch keyspace is run again, too, and the"
        " consistency check finds nothing there.",
    )
    for done in (run_command("migrate", **place), run_python("-c", FILL, **place)):
        assert done.returncode == 0, done.stdout
    chunks = tmp_path / "chunks"
    kill_command(
        *("backup", "--rate", "0.2"),
        when=lambda: chunks.exists() and len(list(chunks.iterdir())) > 50,
        **place,
    )
    before = {path.name: path.stat().st_mtime_ns for path in chunks.iterdir()}
    wait_until(
        lambda: (
            "Another backup" not in (done := run_command("backup", **place)).stdout
            or done.returncode == 0
        ),
        "the lease of the killed backup does not end",
        seconds=60,
    )
    after = {path.name: path.stat().st_mtime_ns for path in chunks.iterdir()}
    kept = [name for name in before if after.get(name) == before[name]]
    scratch = f"{place['CASSANDRA_KEYSPACE']}_verify"
    kill_command("verify_backup", when=lambda: count_tables(scratch) > 1, **place)
    proof_report.add_figure(
        "restored tables when the verification was killed", count_tables(scratch)
    )
    verified = run_command("verify_backup", **place)
    assert count_tables(scratch) == 0
    proof_report.add_figure("chunks when it was killed", len(before))
    proof_report.add_figure("of them not stored again", len(kept))
    proof_report.add_figure("chunks", len(after))
    proof_report.add_row(
        "manage.py verify_backup",
        f"status {verified.returncode}",
        verified.stdout,
        is_match=verified.returncode == 0,
    )
    assert verified.returncode == 0, verified.stdout
    assert len(kept) > len(before) / 2


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes."""
    if sys.platform == "darwin":
        pytest.skip("macOS has only 127.0.0.1 on its loopback, so there is no room for three nodes")
    home = tmp_path / "cassandra"
    try:
        yield control.start_cluster(3, home=home, keep=False, heap_mb=512, hasty=True)
    finally:
        for node in control.list_running_nodes(state.load_cluster(home), home):
            control.kill_node(node.name, home=home)
        control.wipe_cluster(home=home)


def rows_at(cluster: Cluster, host: str, keyspace: str) -> list[list[dict[str, Any]]]:
    """Return the rows of a small shop that one node has by itself."""
    with connect_node(host, cluster.cql_port) as session:
        return read_rows(
            keyspace,
            lambda cql: [
                row._asdict()
                for row in session.execute(SimpleStatement(cql, consistency_level=LOCAL_ONE))
            ],
        )


def knows_others(cluster: Cluster, host: str) -> bool:
    """Return whether a node knows all others, as the driver asks it. Nodes that have just started tell each other by gossip."""
    with connect_node(host, cluster.cql_port) as session:
        rows = session.execute("SELECT tokens FROM system.peers_v2").all()
    return sum(bool(row.tokens) for row in rows) == len(cluster.hosts) - 1


@pytest.mark.proof
@pytest.mark.alone
@pytest.mark.timeout(600)
def test_x555_a_backup_is_restored_on_another_number_of_nodes(
    cluster: Cluster, tmp_path: Path, proof_report: ProofReport
) -> None:
    proof_report.state_claim(
        "A backup is restored on another number of nodes",
        "From one node to three, from three to three and from three to one: each replica has all rows afterwards.",
    )
    for host in cluster.hosts:
        wait_until(partial(knows_others, cluster, host), f"{host} knows no other node")
    with open_small_shop(tmp_path) as shop:
        rows = read_rows(shop.keyspace)
        there = {
            "BACKUP_FOLDER": str(shop.folder),
            "MEDIA_ROOT": str(tmp_path / "media of three"),
            "CASSANDRA_HOSTS": ",".join(cluster.hosts),
            "CASSANDRA_PORT": str(cluster.cql_port),
            "CASSANDRA_JMX": ",".join(f"127.0.0.1:{node.jmx_port}" for node in cluster.nodes),
            "CASSANDRA_REPLICATION": "3",
        }

        def restore_there(name: str, keyspace: str, replication: str) -> None:
            done = run_command(
                *("restore", name, keyspace), **there | {"CASSANDRA_REPLICATION": replication}
            )
            assert done.returncode == 0, done.stdout
            for host in cluster.hosts:
                found = rows_at(cluster, host, keyspace)
                proof_report.add_row(
                    f"restore {name} into {keyspace}, replication {replication}",
                    done.stdout,
                    f"{host} has {len(found[0])} things",
                    is_match=found == rows,
                )

        first = shop.back_up()
        restore_there(first.name, "stoa_three", "3")
        restore_there(first.name, "stoa_one_of_three", "1")
        with connect_node(cluster.hosts[0], cluster.cql_port) as session:
            session.execute(f"DROP TABLE stoa_three.{MARK}")
        done = run_command("backup", **there | {"CASSANDRA_KEYSPACE": "stoa_three"})
        assert done.returncode == 0, done.stdout
        (name,) = BackupStore().list_backups("stoa_three")
        tokens = BackupStore().read_manifest(name).tokens
        assert len({tuple(each) for each in tokens.values()}) == 3
        restore_there(name, "stoa_three_again", "3")
        back = shop.restore(name)
        proof_report.add_row(
            "restore on one node",
            "",
            f"{len(read_rows(back)[0])} things",
            is_match=read_rows(back) == rows,
        )
        one = BackupStore().read_manifest(first.name)
        assert one.tokens != tokens
