"""Measures filters and searches among few and among a million products: CPU time by kind of request, and memory.

    python -m benchmarks.search                              # 64, 100,000 and 1,000,000 products; takes some ten minutes
    python -m benchmarks.search --products 64 20000          # quicker

Each size has an index of its own, filled by the shop's own code. Beyond MADE products their documents repeat. The
categories are in a keyspace of the benchmark's own, which is dropped at the end. "first" is the first request after a change of the
index, which finds the values of all filters; the others find them kept.

Ends with status 1 if a bound is missed at a million products.
"""

import json
import sys
import tempfile
from argparse import SUPPRESS
from collections.abc import Callable
from dataclasses import replace
from math import inf
from random import Random
from time import process_time
from typing import Any

import psutil
import tantivy

from benchmarks.setup import make_parser, own_keyspace, run_probe, set_up_django

KEYSPACE = "stoa_search"
MADE = 20_000
REPEATS = 20
# At a million products, in milliseconds of CPU time.
MOST = {"all, two chosen": 25.0, "category, two chosen": 5.0, "two words, a typo": 15.0}


def main() -> int:
    """Fill, measure, print, and return the exit status."""
    parser = make_parser("search", __doc__)
    parser.add_argument("--products", type=int, nargs="+", default=[64, 100_000, 1_000_000])
    parser.add_argument("--probe", type=int, default=0, help=SUPPRESS)
    parser.add_argument("--folder", default="", help=SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        set_up_django(KEYSPACE, SEARCH_INDEX_DIR=args.folder)
        print(json.dumps(measure(args.probe)))
        return 0
    measured = {}
    with own_keyspace(KEYSPACE):
        from benchmarks.scale import load_categories

        load_categories()
        for count in args.products:
            with tempfile.TemporaryDirectory() as folder:
                arguments = ("--probe", str(count), "--folder", folder)
                measured[count] = run_probe("search", *arguments)
    return _report(measured)


def measure(count: int) -> dict[str, float]:
    """Fill an index with this many products, and return CPU milliseconds by kind of request."""
    from catalogue import queries, search
    from catalogue.facets import Scope, find_facets
    from catalogue.filter_settings import list_filter_names
    from catalogue.filtered_lists import category_scope, list_selected
    from catalogue.filters import NOTHING_CHOSEN, Selection
    from catalogue.search_index import READER

    took = _cpu(lambda: _fill(count))
    names = list_filter_names()
    everything = Scope(("all",), tantivy.Query.all_query())
    leaf = category_scope(queries.get_category_tree().by_slug["house-basics-small"])
    two = NOTHING_CHOSEN.with_values("colour", ["blue"]).with_values("size", ["small"])

    def show(scope: Scope, selection: Selection) -> None:
        find_facets(scope, selection, names)
        list_selected(scope, selection, ("by_popularity", True), 16, 0)

    READER.searcher()
    found = {"fill, s": took / 1000, "all, first": _cpu(lambda: show(everything, NOTHING_CHOSEN))}
    requests: dict[str, Callable[[], Any]] = {
        "all": lambda: show(everything, NOTHING_CHOSEN),
        "all, two chosen": lambda: show(everything, two),
        "category": lambda: show(leaf, NOTHING_CHOSEN),
        "category, two chosen": lambda: show(leaf, two),
        "two words, a typo": lambda: search.search_products("linnen cushion"),
    }
    for name, request in requests.items():
        times = []
        for _ in range(REPEATS):
            READER.looked_at = -inf  # the results of a search are kept for a second
            times.append(_cpu(request))
        found[name] = sorted(times)[REPEATS // 2]
    return found | {"memory, MB": psutil.Process().memory_info().rss / 1e6}


def _cpu(run: Callable[[], Any]) -> float:
    began = process_time()
    run()
    return (process_time() - began) * 1000


def _fill(count: int) -> None:
    from benchmarks.scale import make_product
    from cassandra_db import current_time
    from catalogue.index_documents import make_document
    from catalogue.search_index import build_index, index_home

    dice, now = Random(1), current_time()
    products = []
    for number in range(min(count, MADE)):
        made = make_product(number, now)
        in_stock = frozenset(each.variant_id for each in made.variants if dice.random() < 0.9)
        products.append(replace(made, in_stock_ids=in_stock))
    build_index(products)
    if count <= MADE:
        return
    (current,) = index_home().glob("current-*")
    index = tantivy.Index.open(str(index_home() / current.read_text()))
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    documents = [make_document(each) for each in products]
    for number in range(MADE, count):
        writer.add_document(documents[number % MADE])
    writer.commit()
    writer.wait_merging_threads()


def _report(measured: dict[int, dict[str, float]]) -> int:
    names = list(next(iter(measured.values())))
    print("\nCPU milliseconds of a request, medians.\n")
    print(f"{'products':24}" + "".join(f"{count:>14,}" for count in measured))
    for name in names:
        print(f"{name:24}" + "".join(f"{found[name]:>14.2f}" for found in measured.values()))
    large = measured.get(1_000_000, {})
    missed = [name for name, most in MOST.items() if large and large[name] > most]
    print("\n" + ("\n".join(f"MISSED: {each}" for each in missed) or "All bounds are kept."))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
