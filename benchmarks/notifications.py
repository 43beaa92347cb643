"""Measures what it costs to tell ten thousand watchers that a price has dropped, and whether the shop is slower meanwhile.

    python -m benchmarks.notifications
    python -m benchmarks.notifications --watchers 1000

In a keyspace of its own, a process tells the watchers of one product as the worker's job does, with a mail each, while a visitor who gets
no page from memory asks for another product's page 20 times a second. Every other second the process is stopped, so that a disturbance
of the machine meets both. Ends with status 1 if a watcher is left out or told twice, or if the p95 of that page is more than 1.2 times
what it is without.
"""

import json
import subprocess
import sys
from argparse import SUPPRESS
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from http.client import HTTPConnection
from time import perf_counter, sleep
from typing import Any
from uuid import UUID

import psutil

from benchmarks.load import HOST, percentile
from benchmarks.pages import ROOT, serve_shop, shop_environment
from benchmarks.setup import make_parser, own_keyspace, report_missed
from cassandra_db import count_statements, current_time

KEYSPACE = "stoa_notifications"
MOST_SLOWER = 1.2
RATE = 20  # requests a second
SLICE_SECONDS = 1
Latencies = list[float]


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("notifications", __doc__)
    parser.add_argument("--watchers", type=int, default=10_000)
    parser.add_argument("--warm", type=int, default=10, help="seconds of requests before")
    parser.add_argument("--probe", help=SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        import django

        django.setup()
        print("ready", flush=True)
        print(json.dumps(tell_all(UUID(args.probe))))
        return 0
    with own_keyspace(KEYSPACE):
        watched, other = load_shop(args.watchers)
        with serve_shop(KEYSPACE) as server:
            ask_for_page(server.port, other, args.warm)
            drop_price(watched)
            command = [sys.executable, "-m", "benchmarks.notifications", "--probe", str(watched)]
            return _report(args.watchers, *measure_beside(command, KEYSPACE, server.port, other))


def measure_beside(
    command: Sequence[str], keyspace: str, port: int, path: str
) -> tuple[dict[str, Any], Latencies, Latencies]:
    """Let a process work, and stop it every other second. Return its figures, and a page's latencies without and with it.

    The process says "ready" before it begins, and at last its figures as JSON; their "seconds" become those in which it ran.
    """
    without, meanwhile, paused = list[float](), list[float](), 0.0
    with subprocess.Popen(
        command, cwd=ROOT, env=shop_environment(keyspace), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        while process.stdout.readline() != "ready\n":
            pass
        worker = psutil.Process(process.pid)
        while process.poll() is None:
            meanwhile += ask_for_page(port, path, SLICE_SECONDS)
            if process.poll() is None:
                began = perf_counter()
                worker.suspend()
                without += ask_for_page(port, path, SLICE_SECONDS)
                worker.resume()
                paused += perf_counter() - began
        found: dict[str, Any] = json.loads(process.stdout.read().splitlines()[-1])
    found["seconds"] -= paused
    return found, without, meanwhile


def load_shop(watchers: int) -> tuple[UUID, str]:
    """Write a few products, and members who watch the first. Return its id, and the path of another product's page."""
    from benchmarks import scale
    from cassandra_db.bulk import BulkWriter, drop_condition
    from cassandra_db.session import get_session
    from catalogue.operations import add_former_prices
    from catalogue.prices import PricePoint
    from price_alerts.operations import INSERT_WATCH, INSERT_WATCHER, watcher_columns

    scale.load_categories()
    now = current_time()
    member = get_session().prepare(
        "INSERT INTO users (user_id, email, active, created_at) VALUES (?, ?, true, ?)"
    )
    watched, other = (scale.make_product(number, now - timedelta(days=9)) for number in (0, 1))
    since, watch = now - timedelta(hours=1), drop_condition(INSERT_WATCH)
    with BulkWriter() as bulk:
        for product in (watched, other):
            bulk.send(*scale.product_statements(product))
            bulk.send(scale.SLUG.bind(slug=product.slug, product_id=product.product_id))
            for each in product.variants:
                sku = {"sku": each.sku, "product_id": product.product_id}
                bulk.send(scale.SKU.bind(**sku, variant_id=each.variant_id))
        for number in range(watchers):
            user_id = scale.stable_id("member", number)
            key = watcher_columns(user_id, watched.product_id, since)
            bulk.send(member.bind((user_id, f"m{number}@example.com", now)))
            bulk.send(INSERT_WATCHER.bind(**key, since=since))
            row = {"user_id": user_id, "product_id": watched.product_id, "since": since}
            bulk.send(watch.bind(**row))
    for variant in watched.variants:
        add_former_prices(
            {variant.variant_id: [PricePoint(now - timedelta(days=9), variant.price)]}
        )
    return watched.product_id, f"/p/{other.slug}/"


def drop_price(product_id: UUID) -> None:
    """Let a product cost half of what it did."""
    from catalogue.operations import change_product

    def halve(product: Any) -> Any:
        variants = (
            replace(each, price=each.price / 2, compare_at=None) for each in product.variants
        )
        return replace(product, variants=tuple(variants))

    change_product(product_id, halve, current_time())


def tell_all(product_id: UUID) -> dict[str, float]:
    """Tell the watchers, run by run, as the worker's job does. Return the statements and the seconds."""
    from price_alerts.jobs import MAX_AT_ONCE
    from price_alerts.operations import follow_product

    began, told, is_done = perf_counter(), 0, False
    with count_statements() as meter:
        while not is_done:
            count, is_done = follow_product(product_id, current_time(), MAX_AT_ONCE)
            told += count
    seconds = perf_counter() - began
    again = follow_product(product_id, current_time(), MAX_AT_ONCE)[0]
    return {"told": told, "again": again, "seconds": seconds, "statements": meter.statement_count}


def ask_for_page(port: int, path: str, seconds: float) -> list[float]:
    """Ask for a page RATE times a second, as a visitor who gets no page from memory. Return the latencies in seconds."""
    connection, found = HTTPConnection(HOST, port, timeout=30), []
    headers = {"Cookie": "stoa_cart=x"}
    due = perf_counter()
    until = due + seconds
    while due < until:
        sleep(max(0.0, due - perf_counter()))
        began = perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answers {answer.status}")
        found.append(perf_counter() - began)
        due += 1 / RATE
    connection.close()
    return found


def _report(watchers: int, found: dict[str, Any], without: Latencies, meanwhile: Latencies) -> int:
    from benchmarks import scale
    from notifications.queries import LISTED

    rows = [
        len(LISTED.all(user_id=scale.stable_id("member", number), most=5))
        for number in range(0, watchers, max(1, watchers // 500))
    ]
    quiet, busy = percentile(without, 0.95), percentile(meanwhile, 0.95)
    print(f"watchers told       {found['told']:10,}")
    print(f"seconds             {found['seconds']:10.1f}")
    print(f"statements          {found['statements']:10,.0f}")
    print(f"statements a watcher{found['statements'] / watchers:10.1f}, with a mail each")
    print(f"product page, p95   {quiet:10.1f} ms without, {busy:.1f} ms meanwhile")
    missed = []
    if found["told"] != watchers or found["again"] or set(rows) != {1}:
        missed.append(f"told {found['told']}, again {found['again']}; rows {set(rows)}")
    if busy > MOST_SLOWER * quiet:
        missed.append(f"the page was {busy / quiet:.2f} times as slow")
    return report_missed(missed)


if __name__ == "__main__":
    raise SystemExit(main())
