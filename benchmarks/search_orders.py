"""Measures the cost of the staff's order search, among 200 and a million orders: statements, rounds and CPU time.

    python -m benchmarks.search_orders                    # 1,000,000 orders; takes a while to fill
    python -m benchmarks.search_orders --orders 20000     # quicker

Both shops are keyspaces of the benchmark's own, which are dropped at the end. They have only the rows that the search reads, written
without conditions. The shops take turns, so that a disturbance meets both. The quickest pass of each counts.

Ends with status 1 if a search of the large shop needs other statements or rounds than in the small shop, or if all searches
together need over a quarter more CPU time.
"""

import json
import sys
from argparse import SUPPRESS
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from time import process_time
from uuid import UUID

from benchmarks.setup import make_parser, own_keyspace, run_probe, set_up_django

SMALL = 200
MAX_RATIO = 1.25
PASSES, SEARCHES = 3, 40
NEWEST = datetime(2026, 6, 1, tzinfo=UTC)
# Search terms that find one order in each shop, among its newest orders.
TYPED = {
    "number": "ZZZZ-Z0",
    "name": "zarathustra quen",
    "email": "quentin@example.com",
    "sku": "LAMP-RARE-1",
    "tracking": "JD014600009999999999",
}
# Search terms that find 20 orders in the small shop, and every 50th order in the large shop.
COMMON = {"a common name": "smith", "a common SKU": "MUG-1"}


def main() -> int:
    """Fill, measure, print, and return the exit status."""
    parser = make_parser("search_orders", __doc__)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--probe", choices=("fill", "measure"), help=SUPPRESS)
    parser.add_argument("--keyspace", default="", help=SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        set_up_django(args.keyspace)
        print(json.dumps(measure() if args.probe == "measure" else fill(args.orders)))
        return 0
    shops = {"stoa_search_small": SMALL, "stoa_search_large": args.orders}
    passes: dict[str, list[dict[str, list[float]]]] = {keyspace: [] for keyspace in shops}
    with ExitStack() as stack:
        for keyspace, orders in shops.items():
            stack.enter_context(own_keyspace(keyspace))
            _run_probe("fill", keyspace, orders)
        for _ in range(PASSES):
            for keyspace, orders in shops.items():
                passes[keyspace].append(_run_probe("measure", keyspace, orders))
    return _report(*passes.values())


def _run_probe(probe: str, keyspace: str, orders: int) -> dict[str, list[float]]:
    arguments = ("--probe", probe, "--keyspace", keyspace, "--orders", str(orders))
    found: dict[str, list[float]] = run_probe("search_orders", *arguments)
    return found


def fill(orders: int) -> dict[str, list[float]]:
    """Write the rows that the search reads for this many orders: a row for each order and kind of term."""
    from cassandra_db.bulk import BulkWriter
    from orders.numbers import derive_order_number
    from orders.operations.copies import BY_EMAIL, BY_TERM
    from orders.search_terms import NAME, NUMBER, SKU, TRACKING, find_head, fold_code, fold_number
    from shop_settings.restores import copy_timestamp_at

    with BulkWriter() as writer:
        for index in range(orders):
            is_rare, is_common = index == 0, 0 < index <= SMALL // 10 or index % 50 == 0
            order_id = UUID(int=index + 1)
            placed_at = NEWEST - timedelta(seconds=20 * index)
            number = TYPED["number"] + "00" if is_rare else derive_order_number(order_id)
            name = "Quentin Zarathustra" if is_rare else f"Ann {'Smith' if is_common else number}"
            sku = TYPED["sku"] if is_rare else "MUG-1" if is_common else f"SKU-{index % 5000}"
            tracking = TYPED["tracking"] if is_rare else f"JD{index:018}"
            at = copy_timestamp_at(placed_at, 1)
            place = {"placed_at": placed_at, "order_id": order_id, "number": number, "at": at}
            terms = [
                (NUMBER, fold_number(number), number),
                (SKU, fold_code(sku), sku),
                (TRACKING, fold_code(tracking), tracking),
                *((NAME, word.casefold(), name) for word in name.split()),
            ]
            for kind, term, label in terms:
                head, year = find_head(kind, term), placed_at.year
                writer.send(
                    BY_TERM.bind(kind=kind, head=head, year=year, term=term, label=label, **place)
                )
            email = TYPED["email"] if is_rare else f"ann{index}@example.com"
            writer.send(BY_EMAIL.bind(email=email, year=placed_at.year, **place))
    return {}


def measure() -> dict[str, list[float]]:
    """Return [statements, rounds, CPU milliseconds, orders found] of each kind of search."""
    from cassandra_db import count_statements
    from orders.search import found_orders, prefetch_order_search

    measured = {}
    for kind, typed in (TYPED | COMMON).items():
        email = typed if kind == "email" else ""
        years = (NEWEST.year, NEWEST.year - 1)
        with count_statements() as meter:
            found = found_orders(prefetch_order_search(typed, email, years))
        began = process_time()
        for _ in range(SEARCHES):
            found_orders(prefetch_order_search(typed, email, years))
        milliseconds = (process_time() - began) * 1000 / SEARCHES
        order_count = sum(len(each.orders) for each in found)
        measured[kind] = [meter.statement_count, meter.round_count, milliseconds, order_count]
    return measured


def _report(small: list[dict[str, list[float]]], large: list[dict[str, list[float]]]) -> int:
    is_wrong = False
    totals = [0.0, 0.0]
    print(f"{'':16}{'statements':>12}{'rounds':>8}{'CPU ms':>16}{'found':>12}")
    for kind in TYPED | COMMON:
        one, other = (
            min((each[kind] for each in shop), key=lambda row: row[2]) for shop in (small, large)
        )
        is_wrong |= one[:2] != other[:2] or not (one[3] and other[3])
        if kind in TYPED:  # the large shop finds more of the common terms, up to a bound
            totals[0] += one[2]
            totals[1] += other[2]
        print(
            f"{kind:16}{one[0]:>6.0f}{other[0]:>6.0f}{one[1]:>4.0f}{other[1]:>4.0f}"
            f"{one[2]:>8.2f}{other[2]:>8.2f}{one[3]:>6.0f}{other[3]:>6.0f}"
        )
    print(f"CPU of the large shop: {totals[1] / totals[0]:.2f} times that of the small one")
    return int(is_wrong or totals[1] > totals[0] * MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
