"""Measures a web process's first checkout beside its later ones, with and without a warm-up before (storefront/warm_up.py).

    python -m benchmarks.first_checkout              # five processes of each kind
    python -m benchmarks.first_checkout --rounds 2   # quicker and rougher

Both kinds of processes take turns, so that a disturbance meets both. The keyspace is the benchmark's own, and dropped at the end. The
requests go through the whole shop inside the process, from the product's page to the paid order's page: no network blurs the times.

Ends with status 1 if the first checkout of a warm process takes more than three times as long as a later one.
"""

import json
import sys
from argparse import SUPPRESS
from statistics import median
from threading import Event
from time import perf_counter
from uuid import UUID

from benchmarks.flash_sale import make_stocked_product
from benchmarks.setup import make_parser, own_keyspace, run_probe, set_up_django

KEYSPACE, HOSTS = "stoa_first_checkout", "testserver,127.0.0.1"
MAX_RATIO = 3.0
LATER_CHECKOUTS = 5
KINDS = {"cold": "not warm", "warm": "warm before it serves"}


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("first_checkout", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--probe", choices=KINDS, help=SUPPRESS)
    parser.add_argument("--product", nargs=3, help=SUPPRESS)
    args = parser.parse_args()
    if args.probe:
        set_up_django(KEYSPACE, STOA_DEMO="1", ALLOWED_HOSTS=HOSTS)
        print(json.dumps(time_checkouts(*args.product, is_warm=args.probe == "warm")))
        return 0
    return _report(_measure(args.rounds))


def _measure(rounds: int) -> dict[str, list[list[float]]]:
    """Return the seconds that each process has measured, by the kind of process."""
    measured: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    with own_keyspace(KEYSPACE, STOA_DEMO="1", ALLOWED_HOSTS=HOSTS):
        product = make_stocked_product("Lamp", rounds * len(KINDS) * 10)
        wanted = "--product", str(product.product_id), product.sku, product.slug
        for _ in range(rounds):
            for kind, found in measured.items():
                found.append(run_probe("first_checkout", "--probe", kind, *wanted))
    return measured


def time_checkouts(product_id: str, sku: str, slug: str, *, is_warm: bool) -> list[float]:
    """Check out several times. Return the seconds that each checkout of this process takes, in order."""
    from benchmarks.guest_checkout import GuestCheckout
    from cassandra_db import compare_clocks
    from storefront.warm_up import warm_up
    from storefront.wsgi import application

    if is_warm:
        warm_up(application, Event())
    else:
        compare_clocks()  # a web process opens its database session before it serves
    seconds = []
    for _ in range(1 + LATER_CHECKOUTS):
        guest = GuestCheckout()
        guest.client.handler.load_middleware()  # a web process loads it once at its start
        began = perf_counter()
        guest.view_product(slug)
        guest.add(UUID(product_id), sku)
        for _ in guest.buy():
            pass
        seconds.append(perf_counter() - began)
    return seconds


def _report(measured: dict[str, list[list[float]]]) -> int:
    """Print the figures, and return the exit status."""
    rounds = len(measured["warm"])
    print(f"{'':22}{'first ms':>10}{'later ms':>10}{'ratio':>8}   medians of {rounds} processes")
    ratios = {}
    for kind, name in KINDS.items():
        first = median(seconds[0] for seconds in measured[kind])
        later = median(median(seconds[1:]) for seconds in measured[kind])
        ratios[kind] = first / later
        print(f"{name:22}{first * 1000:>10.0f}{later * 1000:>10.0f}{ratios[kind]:>8.1f}")
    return int(ratios["warm"] > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
