"""Measures how long a change of a product takes until the search index has it, and what the index's own loop costs.

    python -m benchmarks.freshness                                       # 100,000 products, 20 changes a second for a minute
    python -m benchmarks.freshness --products 12000

In a keyspace of its own, a worker of two jobs follows three kinds of changes: a variant that is sold out, a new rating, and prices
that begin by themselves, as many as five seconds bring, all in one minute. The time is counted from the call that writes, or from the
minute, until this process's reader finds the new value. Ends with status 1 if a bound is missed.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from resource import RUSAGE_CHILDREN, getrusage
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

from benchmarks.setup import make_parser, own_keyspace, report_missed
from cassandra_db import current_microseconds, current_time

# The bounds, in seconds: in the index, and on a page that is kept whole.
MAX_IN_INDEX, MAX_ON_PAGE = 5.0, 10.0
MAX_PATIENCE = 120
UNITS = 40


@dataclass
class Change:
    """A change of a product, the field of its card that shows it, and after how many seconds the reader found it."""

    kind: str
    product: Any
    field: str
    value: Any
    began: datetime
    seconds: float = float("inf")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("freshness", __doc__)
    parser.add_argument("--products", type=int, default=100_000, help="6 are needed for a change")
    parser.add_argument("--rate", type=int, default=20, help="changes a second")
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        own_keyspace("stoa_freshness", SEARCH_INDEX_DIR=folder),
    ):
        from catalogue.jobs import SCHEDULE, host_job_name
        from jobs.leases import get_lease

        products = _load(args.products)
        names = (host_job_name("search index"), SCHEDULE)
        cpu, began = getrusage(RUSAGE_CHILDREN), monotonic()
        command = [sys.executable, "manage.py", "worker", *(f"--job={name}" for name in names)]
        with subprocess.Popen(command) as worker:
            while worker.poll() is None and not all(get_lease(name).last_run for name in names):
                sleep(0.2)
            planned = _plan_prices([products.pop() for _ in range(5 * args.rate)])
            changes = _change(products[: args.rate * args.seconds], planned, args.rate)
            worker.terminate()
        used = getrusage(RUSAGE_CHILDREN)
        seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
        print(
            f"The worker used {seconds / (monotonic() - began):.0%} of a core, its start included."
        )
        return _report(changes)


def _load(count: int) -> list[Any]:
    """Write products with their stock, and build their index. Return the products with one variant, which is in stock."""
    from benchmarks import scale
    from cassandra_db.bulk import BulkWriter
    from catalogue.search_index import build_index
    from inventory.entities import SENTINEL

    scale.load_categories()
    now, singles = current_time(), list[Any]()

    def load() -> Any:
        for number in range(count):
            product = scale.make_product(number, now)
            variant_id = product.variants[0].variant_id
            product = replace(product, availability="in", in_stock_ids=frozenset({variant_id}))
            bulk.send(*scale.product_statements(product))
            if len(product.variants) == 1:
                singles.append(product)
                key = {"variant_id": variant_id, "warehouse_id": "berlin", "units": UNITS}
                key["product_id"] = product.product_id
                bulk.send(scale.STOCK_BY_PRODUCT.bind(**key))
                bulk.send(scale.STOCK_ITEM.bind(reservation_id=SENTINEL, **key))
            yield product

    began = monotonic()
    with BulkWriter() as bulk:
        print(f"{build_index(load()):,} products loaded in {monotonic() - began:.0f} s", flush=True)
    return singles


def _plan_prices(products: list[Any]) -> list[Change]:
    """Let the prices of these products change in the next minute."""
    from benchmarks import scale
    from cassandra_db.bulk import BulkWriter
    from catalogue.operations.schedule import schedule_moments
    from catalogue.prices import PricePoint

    minute = current_time().replace(second=0, microsecond=0) + timedelta(minutes=1)
    changes = []
    with BulkWriter() as bulk:
        for product in products:
            price = product.variants[0].price * 2
            variant = replace(product.variants[0], planned=(PricePoint(minute, price),))
            bulk.send(*scale.product_statements(replace(product, variants=(variant,))))
            schedule_moments(product.product_id, [minute])
            changes.append(Change("price", product, "price", price, minute))
    return changes


def _change(products: list[Any], planned: list[Change], rate: int) -> list[Change]:
    """Make `rate` changes a second, and look ten times a second which ones the reader finds. Return all changes."""
    began, running = monotonic(), list[Future[Change]]()
    with ThreadPoolExecutor(8) as pool:
        while monotonic() < began + len(products) / rate + MAX_PATIENCE:
            due = products[: int((monotonic() - began) * rate)]
            for number in range(len(running), len(due)):
                running.append(pool.submit((_sell_out, _rate)[number % 2], due[number]))
            changes = planned + [each.result() for each in running if each.done()]
            missing = [each for each in changes if each.seconds == float("inf")]
            _look(missing)
            if not missing and len(changes) == len(planned) + len(products):
                break
            sleep(0.1)
    return changes


def _sell_out(product: Any) -> Change:
    from inventory.entities import WantedLine
    from inventory.operations import copy_allocated_stock, reserve_stock

    began, variant = current_time(), product.variants[0]
    wanted = WantedLine(1, product.product_id, variant.variant_id, UNITS)
    copy_allocated_stock(reserve_stock(uuid4(), [wanted], began))
    return Change("stock", product, "availability", "out", began)


def _rate(product: Any) -> Change:
    from catalogue.operations import set_rating

    began = current_time()
    set_rating(product.product_id, 4.0, 7, current_microseconds())
    return Change("rating", product, "rating_count", 7, began)


def _look(missing: list[Change]) -> None:
    import tantivy

    from catalogue.index_documents import unpack_card
    from catalogue.search_index import READER

    schema, searcher = READER.searcher()
    for change in missing:
        query = tantivy.Query.term_query(schema, "id", change.product.product_id.hex)
        ((_score, address),) = searcher.search(query, limit=1).hits
        card = unpack_card(searcher.doc(address)["card"][0])
        if getattr(card, change.field) == change.value:
            change.seconds = (current_time() - change.began).total_seconds()


def _report(changes: list[Change]) -> int:
    from django.conf import settings

    missed = []
    for kind in ("stock", "rating", "price"):
        found = sorted(each.seconds for each in changes if each.kind == kind)
        p50, p99 = (found[int(len(found) * part)] for part in (0.5, 0.99))
        page = found[-1] + settings.WHOLE_PAGE_SECONDS
        line = f"{kind:6} p50 {p50:.1f} s, p99 {p99:.1f} s, max {found[-1]:.1f} s, on a whole page {page:.1f} s"
        print(f"{line}, {len(found)} changes")
        if found[-1] > MAX_IN_INDEX or page > MAX_ON_PAGE:
            missed.append(line)
    return report_missed(missed)


if __name__ == "__main__":
    sys.exit(main())
