"""The drill: back a shop up while 50 people buy, go on selling, lose all, restore, reconcile, and sell again.

    python -m tests.backups.drill FOLDER     # FOLDER takes the backup; prints what was found as JSON in its last line

The node is the drill's own. The bank is another company: its books outlive the shop's tables, so they are put back after the restore.
"""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any
from uuid import uuid4

from benchmarks.buyers import GOOD_CARD, Buyer, make_guest_cart, run_buyers
from benchmarks.flash_sale import make_stocked_product
from benchmarks.nodes import run_nodes
from benchmarks.pages import ROOT, serve_shop
from benchmarks.setup import own_keyspace
from cassandra_db import current_time

FIRST, SECOND = "stoa_drill", "stoa_drill_restored"
BUYERS, LATER = 50, 20
# The bank's tables, which stand in the shop's keyspace only because the test bank has no other place.
BANK = ("testbank_payments",)


@dataclass
class Drill:
    """What a drill has found. `problems` are sentences."""

    seconds: dict[str, float] = field(default_factory=dict)
    orders: int = 0  # before the loss
    lost_orders: int = 0
    unmatched: int = 0
    payments: int = 0  # that the bank has money of
    problems: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)  # by the reconciliation


def main() -> int:
    """Run the drill. Return its exit status: 1 if something is wrong."""
    drill = Drill()
    with run_nodes(1) as nodes:
        os.environ |= {
            **nodes.environment,
            "CASSANDRA_JMX": ",".join(f"127.0.0.1:{node.jmx_port}" for node in nodes.cluster.nodes),
            "BACKUP_FOLDER": sys.argv[1],
            "BACKUP_KEY": secrets.token_hex(32),
            "SECRET_KEY": secrets.token_hex(32),
            "STOA_DEMO": "1",
            "MEDIA_ROOT": f"{sys.argv[1]}/media",
        }
        with own_keyspace(FIRST):
            _run(drill)
    print(json.dumps(asdict(drill)))
    return 1 if drill.problems else 0


def _run(drill: Drill) -> None:
    from accounts.operations import erase_account, request_erasure
    from tests.factories import make_user

    erased, kept = make_user("Alice"), make_user("Bob")
    product = make_stocked_product("Drill", 500)
    wanted = [(product.product_id, product.variant_id, 1)]
    guests = [_make_guest(wanted) for _ in range(BUYERS + LATER)]
    with serve_shop(FIRST) as server:
        warm = [_buyer(server.port, guest) for guest in guests[:10]]
        asyncio.run(run_buyers(warm, 1.0))
        crowd = [_buyer(server.port, guest) for guest in guests[10:BUYERS]]
        selling = threading.Thread(target=lambda: asyncio.run(run_buyers(crowd, 8.0)))
        selling.start()
        _time(drill, "backup", lambda: _manage(FIRST, "backup"))
        selling.join()
        later = [_buyer(server.port, guest) for guest in guests[BUYERS:]]
        asyncio.run(run_buyers(later, 2.0))
        request_erasure(erased.pk, current_time())
        erase_account(erased.pk, current_time())
    before, bank = _read_orders(FIRST), {name: _read_json(FIRST, name) for name in BANK}
    _execute(f"DROP KEYSPACE {FIRST}")
    _time(drill, "restore", lambda: _manage(FIRST, "restore", "latest", SECOND))
    for name, rows in bank.items():
        for row in rows:
            _execute(f"INSERT INTO {SECOND}.{name} JSON %s", row)
    _time(drill, "reconcile", lambda: _reconcile(drill))
    drill.orders, after = len(before), _read_orders(SECOND)
    drill.lost_orders = len(before.keys() - after.keys())
    _check_people(drill, erased.pk, kept.pk)
    _check_payments(drill)
    with serve_shop(SECOND) as server:
        # People whose orders were lost have full carts again: they order once more.
        again = [_buyer(server.port, guest) for guest in guests]
        asyncio.run(run_buyers(again, 3.0))
    _check_numbers(drill, before, after, _read_orders(SECOND))
    _manage(SECOND, "check_consistency")


def _make_guest(wanted: Any) -> tuple[dict[str, str], str]:
    email = f"buyer-{uuid4().hex}@example.com"
    return make_guest_cart(wanted, email), email


def _buyer(port: int, guest: tuple[dict[str, str], str]) -> Buyer:
    return Buyer(port, guest[0], GOOD_CARD, email=guest[1])


def _time(drill: Drill, step: str, run: Any) -> None:
    began = monotonic()
    run()
    drill.seconds[step] = round(monotonic() - began, 1)
    print(f"{step}: {drill.seconds[step]} s", file=sys.stderr, flush=True)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def _manage(keyspace: str, *arguments: str) -> list[str]:
    """Run a command on a keyspace, and return the lines that it prints. Raises RuntimeError with its words if it fails."""
    environment = os.environ | {"CASSANDRA_KEYSPACE": keyspace}
    done = subprocess.run(
        _command(*arguments), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout.splitlines()


def _reconcile(drill: Drill) -> None:
    """Kill the reconciliation once in its middle, then run it to its end."""
    environment = os.environ | {"CASSANDRA_KEYSPACE": SECOND, "PYTHONUNBUFFERED": "1"}
    first = subprocess.Popen(
        _command("reconcile_restore"), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout
    for line in first.stdout:
        if "violations fixed" in line:  # from now on it gives payments to orders, and lists others
            break
    first.send_signal(signal.SIGKILL)
    first.wait()
    drill.said = _manage(SECOND, "reconcile_restore")


def _execute(cql: str, *values: Any) -> Any:
    from cassandra_db.session import get_session

    return get_session().execute(cql, values or None, timeout=180)


def _read_json(keyspace: str, table: str) -> list[str]:
    return [row[0] for row in _rows(f"SELECT JSON * FROM {keyspace}.{table}")]  # noqa: S608


def _rows(cql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in _execute(cql)]


def _read_orders(keyspace: str) -> dict[str, tuple[Any, Any]]:
    """Return the orders by their number: their id and when they were placed."""
    cql = f"SELECT DISTINCT order_id, number, placed_at FROM {keyspace}.orders"  # noqa: S608
    return {number: (order_id, placed) for order_id, number, placed in _rows(cql) if number}


def _check_people(drill: Drill, erased: Any, kept: Any) -> None:
    found = {row[0] for row in _rows(f"SELECT user_id FROM {SECOND}.users")}  # noqa: S608
    if erased in found:
        drill.problems.append("somebody who was erased is back")
    if kept not in found:
        drill.problems.append("somebody who was not erased is gone")
    if _rows(f"SELECT session_key FROM {SECOND}.sessions"):  # noqa: S608
        drill.problems.append("a session is open")


def _check_payments(drill: Drill) -> None:
    """Each payment of which the bank has money is an order's, or listed."""
    cql = f"SELECT payment_id, state, captured, refunded FROM {SECOND}.testbank_payments"  # noqa: S608
    with_money = {
        payment_id
        for payment_id, state, captured, refunded in _rows(cql)
        if state in ("authorized", "late", "away") or (captured or 0) > (refunded or 0)
    }
    paid = {row[0] for row in _rows(f"SELECT payment_id FROM {SECOND}.orders")}  # noqa: S608
    listed = {row[0] for row in _rows(f"SELECT payment_id FROM {SECOND}.unmatched_payments")}  # noqa: S608
    drill.payments, drill.unmatched = len(with_money), len(listed & with_money)
    drill.problems += [f"payment {each} is nowhere" for each in with_money - paid - listed]
    drill.problems += [f"payment {each} is twice" for each in paid & listed]


def _check_numbers(drill: Drill, before: Any, restored: Any, after: Any) -> None:
    """No number of a lost order is given again."""
    new = after.keys() - restored.keys()
    drill.problems += [f"number {each} was given twice" for each in new & before.keys()]
    drill.problems += [f"number {n} is another order's" for n in restored if n not in before]
    if len(new) < drill.lost_orders:
        drill.problems.append(f"{len(new)} people ordered again, {drill.lost_orders} orders lost")


if __name__ == "__main__":
    sys.exit(main())
