"""Measures the cost of counting visits: events a second by the event writer and through HTTP, bytes an event, a page's CPU time.

    python -m benchmarks.events                        # pages of the keyspace of the settings, which has to hold a shop
    python -m benchmarks.events --events 20000 --slices 3

The event writer is measured beside the driver alone (`execute_concurrent_with_args`, a row a statement, 100 at once), which writes
the same rows into the same table. Both take turns, and the quickest pass of each counts. The keyspace is the benchmark's own, and
dropped at the end. The database shares the machine and its processors.

Pages are requested with and without the header `DNT: 1` in turns; a visit with this header is not counted. "first" is a cached page,
so cheap that its event is a large share of its cost. The bound is for a member's page, which is rendered.

Ends with status 1 if the writer is slower than 0.7 of the driver, or a member's page takes more than 1.05 of its CPU without counting.
"""

import json
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from statistics import median
from time import monotonic, perf_counter, sleep
from typing import Any
from uuid import UUID

from benchmarks.load import Load, PageRequests
from benchmarks.pages import Server, serve_shop, shop_environment
from benchmarks.setup import make_parser, own_keyspace, run_probe

KEYSPACE = "stoa_events"
LEAST_SHARE, MOST_CPU = 0.7, 1.05
PASSES, AT_ONCE = 3, 100
BROWSER = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
COUNTED, UNCOUNTED = (BROWSER,), (BROWSER, "DNT: 1")
VISITORS = ("first", "member")


def main() -> int:
    """Measure, print, and return the exit status."""
    args = _arguments()
    if args.probe:
        import django

        django.setup()
        print(json.dumps(find_pages() if args.probe == "pages" else measure(args.events)))
        return 0
    with own_keyspace(KEYSPACE):
        written = _run_probe("writer", KEYSPACE, args.events)
    share = written["writer"] / written["driver"]
    print(f"writer alone   {written['writer']:9,.0f} events a second")
    print(
        f"driver alone   {written['driver']:9,.0f} rows a second; the writer's share is {share:.2f}"
    )
    print(f"on disk        {written['bytes']:9.0f} bytes an event")
    nodes = 1_000_000 / written["writer"]
    print(
        f"by that rate a million a second takes {nodes:,.0f} such nodes, {3 * nodes:,.0f} with three copies"
    )
    ratio = _measure_pages(args)
    return int(share < LEAST_SHARE or ratio > MOST_CPU)


def _arguments() -> Namespace:
    parser = make_parser("events", __doc__, slices=10)
    parser.add_argument("--events", type=int, default=100_000, help="in each pass")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--probe", choices=("pages", "writer"), help=SUPPRESS)
    return parser.parse_args()


def _run_probe(probe: str, keyspace: str, events: int) -> dict[str, Any]:
    arguments = ("--probe", probe, "--events", str(events))
    found: dict[str, Any] = run_probe("events", *arguments, environment=shop_environment(keyspace))
    return found


def measure(count: int) -> dict[str, float]:
    """Write `count` events by the driver and by the writer, in turns. Return the rows a second of each, and the bytes an event."""
    from cassandra_db.session import get_session

    # The memtable is flushed regularly, so that the size on disk can be read.
    get_session().execute("ALTER TABLE events WITH memtable_flush_period_in_ms = 2000")
    rates: dict[str, list[float]] = {"driver": [], "writer": []}
    for each in range(PASSES):
        events = make_events(count, each)
        rates["driver"].append(count / _write_by_driver(events))
        rates["writer"].append(count / _write_by_writer(events))
    total = _read_size()
    return {name: max(found) for name, found in rates.items()} | {
        # The table has the rows of both: the driver's rows have other ids.
        "bytes": total / (2 * PASSES * count)
    }


def make_events(count: int, seed: int) -> list[Any]:
    """Return events as in a busy shop: mostly views of products, with a few thousand products and as many visitors."""
    from analytics.event_writer import WaitingEvent
    from cassandra_db import current_time

    random, now = Random(seed), current_time()
    return [
        WaitingEvent(
            random.choice(("product", "product", "product", "category", "search", "add")),
            now + timedelta(milliseconds=n // 50),
            f"198.51.{random.randrange(20)}.{random.randrange(256)}",
            BROWSER,
            "own",
            product_id=UUID(int=random.randrange(3000)),
            category_id=UUID(int=random.randrange(50)),
        )
        for n in range(count)
    ]


def _write_by_driver(events: Sequence[Any]) -> float:
    from cassandra.concurrent import execute_concurrent_with_args
    from cassandra.query import UNSET_VALUE

    from analytics.event_writer import EVENT, make_batches
    from cassandra_db.configuration import WRITE
    from cassandra_db.session import get_session

    session = get_session()
    statement = session.prepare(EVENT.cql)
    statement.is_idempotent = True
    rows = [
        {
            "kind": batch.kind,
            "hour": batch.hour,
            "shard": batch.shard,
            "event_id": event_id,
            "source": event.source,
            "visitor": bytes(8),
            "product_id": event.product_id,
            "category_id": event.category_id,
            "words": UNSET_VALUE,
            "found": UNSET_VALUE,
            "at": round(event.at.timestamp() * 1000) * 1000,
        }
        for batch in make_batches(events)
        for event_id, event in batch.events
    ]
    started = perf_counter()
    execute_concurrent_with_args(
        session, statement, rows, concurrency=AT_ONCE, execution_profile=WRITE
    )
    return perf_counter() - started


def _write_by_writer(events: Sequence[Any]) -> float:
    """Queue events as fast as they are written. Return the seconds until all events are written."""
    from analytics.event_writer import EventBatch, EventWriter
    from cassandra_db.batch_writer import MAX_WAITING

    class CountingWriter(EventWriter):
        written = 0

        def write(self, batches: Sequence[EventBatch]) -> list[EventBatch]:
            failed = super().write(batches)
            self.written += sum(len(each.events) for each in batches)
            self.written -= sum(len(each.events) for each in failed)
            return failed

    writer = CountingWriter()
    started = perf_counter()
    for n, event in enumerate(events):
        while n - writer.written >= MAX_WAITING:
            sleep(0.001)
        writer.put(event)
    while writer.written < len(events):
        if writer.shed_count:
            raise SystemExit(f"{writer.shed_count} events were shed")
        sleep(0.001)
    seconds = perf_counter() - started
    writer.close()
    return seconds


def _read_size() -> float:
    """Wait until the table on disk has stopped growing. Return its size in bytes, to a whole MiB."""
    from cassandra_db.configuration import READ
    from cassandra_db.session import get_session

    size, until, since = 0, monotonic() + 60, monotonic()
    while monotonic() < until and (not size or monotonic() - since < 6):
        sleep(0.5)
        (row,) = get_session().execute(
            "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = %s AND table_name = 'events'",
            (KEYSPACE,),
            execution_profile=READ,
        )
        if row.mebibytes != size:
            size, since = row.mebibytes, monotonic()
    return float(size) * 2**20


def find_pages() -> dict[str, Any]:
    """Return the address of a product's page, and the cookies for each kind of visitor."""
    from django.conf import settings

    from benchmarks import visitors
    from cassandra_db import current_time
    from catalogue.search_index import refresh_index

    refresh_index(current_time())
    settings.ALLOWED_HOSTS.append("testserver")
    return {
        "url": visitors.page_urls()["product"],
        "cookies": {"first": {}, "member": visitors.make_member_cookies()},
    }


def _measure_pages(args: Namespace) -> float:
    """Print the figures for each kind of visitor. Return the ratio of CPU time with and without counting, for a member's page."""
    found = _run_probe("pages", args.keyspace, 0)
    ratio = 0.0
    with Load(args.connections) as load, serve_shop(args.keyspace) as server:
        for who in VISITORS:
            cookie = "; ".join(f"{name}={value}" for name, value in found["cookies"][who].items())
            rates: list[float] = []
            cpu: dict[tuple[str, ...], list[float]] = {COUNTED: [], UNCOUNTED: []}
            # The first round warms the processes.
            for n in range(args.slices + 1):
                for headers in (COUNTED, UNCOUNTED) if n % 2 else (UNCOUNTED, COUNTED):
                    page = PageRequests(found["url"], cookie, headers=headers)
                    rate, used = _run_slice(args, load, server, page)
                    if n:
                        cpu[headers].append(used)
                        rates += [rate] if headers == COUNTED else []
            ratio = median(cpu[COUNTED]) / median(cpu[UNCOUNTED])
            print(
                f"through HTTP   {median(rates):9,.0f} events a second ({who}): {median(cpu[COUNTED]):.2f} ms of CPU a page,"
                f" {median(cpu[UNCOUNTED]):.2f} uncounted, {ratio:.3f} of it"
            )
    return ratio


def _run_slice(
    args: Namespace, load: Load, server: Server, page: PageRequests
) -> tuple[float, float]:
    """Return the pages a second, and the CPU milliseconds of one page, with the writing of its event."""
    before = server.cpu_seconds()
    found = load.run_each(server.port, [page] * args.connections, args.seconds)
    # Within a second the queued events are written.
    sleep(1)
    return found.rate, 1000 * (server.cpu_seconds() - before) / len(found.latencies)


if __name__ == "__main__":
    sys.exit(main())
