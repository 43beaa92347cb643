"""Measures the cost of a guest's checkout, step by step: CQL statements, milliseconds, and checkouts a second.

    python -m benchmarks.checkout                            # on the node of the settings
    python -m benchmarks.checkout --nodes 3                  # on three nodes of its own, with a copy of everything on each
    python -m benchmarks.checkout --quick                    # one short slice each: rough

First the statements of each step are counted, from the product's page to the page of the paid order. The test bank's statements are
counted apart, and so are the limits for orders without payment in advance. Then 1, 8 and 32 shoppers take the same steps over real HTTP
in closed loops, each with a browser, a thread and a product. The queue before the checkout lets all of them in: benchmarks.flash_sale
measures the queue. Slices of bare conditional writes, in as many threads, are interleaved, so that a disturbance meets both.
Shoppers, shop and database share this machine; the keyspace is the benchmark's own.

Prints ratios and goals. The bounds for the numbers of statements are in a test (tests/checkout/test_costs.py).
"""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter, process_time
from uuid import uuid4

from benchmarks.buyers import Answer, Browser
from benchmarks.flash_sale import Stocked, make_stocked_product
from benchmarks.guest_checkout import BANK, Cost, GuestCheckout
from benchmarks.load import Slice, in_threads, percentile
from benchmarks.nodes import run_nodes
from benchmarks.pages import Server, serve_shop
from benchmarks.setup import make_bare_rows, make_parser, own_keyspace

KEYSPACE = "stoa_checkout"
CROWDS = (1, 8, 32)
PLENTY = 1_000_000
# The median times to reach on a quiet machine, in ms.
GOALS = {"whole checkout": 200, "add": 15, "place order": 80}
ELSEWHERE = """\
For scale: django-oscar 4.2 on PostgreSQL, such a machine: a guest's checkout 445 ms (p50, all requests), an add 37 ms."""


def walk(
    guest: GuestCheckout, product: Stocked, payment: str = "card"
) -> Iterator[tuple[str, Cost]]:
    """Yield the name and the cost of each step of a checkout, from the product's page on."""
    yield "product", guest.view_product(product.slug)
    yield "add", guest.add(product.product_id, product.sku)
    yield from guest.buy(payment)


def print_costs() -> None:
    """Count the statements of each step, in this process, and print them."""
    from django.conf import settings
    from django.test import override_settings

    settings.ALLOWED_HOSTS.append("testserver")
    one, other = (make_stocked_product("Thing", PLENTY) for _ in range(2))
    paths: dict[str, dict[str, Cost]] = {}
    unlimited = {
        "UNPAID_UNITS": [0, 0],
        "RATE_LIMITS": dict.fromkeys(settings.RATE_LIMITS, (0, 0, 0, 60)),
    }
    for name, payment, changed in (
        ("warm", "card", {}),
        ("card", "card", {}),
        ("warm", "transfer", {}),
        ("transfer", "transfer", {}),
        ("transfer without limits", "transfer", unlimited),
    ):
        guest = GuestCheckout()
        with override_settings(**changed):
            costs: dict[str, Cost] = {}
            for step, cost in walk(guest, one, payment):
                costs[step] = costs.get(step, Cost()) + cost
        if name == "card":
            guest.add(one.product_id, one.sku)
            costs["(a later add)"] = guest.add(other.product_id, other.sku)
        paths[name] = costs
    card = paths["card"]
    bank, later = card.pop(BANK), card.pop("(a later add)")
    print(
        f"{'':34}{'statements':>11}{'reads':>7}{'writes':>7}{'conditional':>12}{'rounds':>7}{'rows':>6}"
    )
    for step, cost in card.items():
        print(_cost_row(step, cost))
    print(_cost_row("whole checkout", sum(card.values(), Cost())))
    print(_cost_row("the test bank's own, not in it", bank))
    print(_cost_row("an add to a cart that is there", later))
    with_limits, without = paths["transfer"], paths["transfer without limits"]
    placing = without["place order"]
    print(_cost_row("place order, by bank transfer", placing))
    print(_cost_row("its limits, not in it", with_limits["place order"] - placing))


def _cost_row(name: str, cost: Cost) -> str:
    return f"{name:34}{cost.statements:>11}{cost.reads:>7}{cost.writes:>7}{cost.conditional:>12}{cost.rounds:>7}{cost.rows:>6}"


class HttpClient:
    """A browser for one thread, with the interface of Django's test client."""

    def __init__(self, port: int, runner: asyncio.Runner) -> None:
        # Each client needs its own CSRF token: with equal tokens the shop takes the first adds for one add that is sent twice.
        self._browser = Browser(port, {"stoa_csrf": uuid4().hex}, 60)
        self._runner = runner

    def get(self, path: str) -> HttpAnswer:
        return HttpAnswer(self._runner.run(self._browser.request("GET", path)))

    def post(self, path: str, form: dict[str, str]) -> HttpAnswer:
        return HttpAnswer(self._runner.run(self._browser.request("POST", path, form)))

    def close(self) -> None:
        self._browser.close()


@dataclass(frozen=True)
class HttpAnswer:
    """An answer, with the interface of Django's responses."""

    answer: Answer

    @property
    def status_code(self) -> int:
        return self.answer.status

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.answer.headers)

    @property
    def content(self) -> bytes:
        return self.answer.text.encode()

    def __getitem__(self, name: str) -> str:
        assert name == "Location"
        return self.answer.redirect_target


@dataclass
class CrowdFigures:
    """The figures of a crowd: the seconds of each step, and the slices of its checkouts and of the bare writes."""

    steps: dict[str, list[float]] = field(default_factory=dict)
    checkouts: list[Slice] = field(default_factory=list)
    writes: list[Slice] = field(default_factory=list)
    own_cpu: float = 0.0  # seconds of processor time that the shoppers took themselves

    @property
    def rate(self) -> float:
        return median(each.rate for each in self.checkouts)

    @property
    def write_rate(self) -> float:
        return median(each.rate for each in self.writes)


class Shopper:
    """A shopper who orders the same product repeatedly, each time as a new guest."""

    def __init__(self, port: int, product: Stocked) -> None:
        self.port, self.product, self.runner = port, product, asyncio.Runner()

    def order(self, steps: dict[str, list[float]]) -> None:
        """Check out once, and add the seconds of each step to `steps`, except steps at the bank."""
        client = HttpClient(self.port, self.runner)
        whole, began = 0.0, perf_counter()
        for step, _ in walk(GuestCheckout(client), self.product):
            took = perf_counter() - began
            if step != BANK:
                steps.setdefault(step, []).append(took)
                whole += took
            began = perf_counter()
        steps.setdefault("whole checkout", []).append(whole)
        client.close()


def measure_crowds(server: Server, slices: int, seconds: float) -> dict[int, CrowdFigures]:
    """Measure crowds of shoppers who order, in turns with as many threads that write. Return the figures by size of crowd."""
    found, largest = {crowd: CrowdFigures() for crowd in CROWDS}, max(CROWDS)
    shoppers = [Shopper(server.port, make_stocked_product("Thing", PLENTY)) for _ in range(largest)]
    with make_bare_rows(largest, PLENTY) as bare:
        writes = [partial(bare.write, row_id) for row_id in bare.ids]
        for shopper in shoppers[:8]:  # warms every process and thread of the shop
            shopper.order({})
            shopper.order({})
        in_threads(writes)(1.0)
        for _ in range(slices):
            for crowd, figures in found.items():
                acts = [partial(shopper.order, figures.steps) for shopper in shoppers[:crowd]]
                before = process_time()
                figures.checkouts.append(in_threads(acts)(seconds))
                figures.own_cpu += process_time() - before
                figures.writes.append(in_threads(writes[:crowd])(min(seconds, 2.0)))
    for shopper in shoppers:
        shopper.runner.close()
    return found


def print_times(found: dict[int, CrowdFigures], node_count: int) -> None:
    """Print milliseconds by step, and rates beside those of the bare writes."""
    nodes = "one node" if node_count == 1 else f"{node_count} nodes"
    print(f"\n{nodes}; ms, p50 and p95:\n")
    print(f"{'shoppers':34}" + "".join(f"{crowd:>20}" for crowd in found))
    for step in next(iter(found.values())).steps:
        cells = (
            f"{percentile(each.steps[step], 0.5):,.0f} {percentile(each.steps[step], 0.95):>6,.0f}"
            for each in found.values()
        )
        goal = f"   goal {GOALS[step]}" if step in GOALS else ""
        print(f"{step:34}" + "".join(f"{each:>20}" for each in cells) + goal)
    rows: dict[str, Callable[[CrowdFigures], str]] = {
        "checkouts a second": lambda each: f"{each.rate:.1f}",
        "bare conditional writes a second": lambda each: f"{each.write_rate:,.0f}",
        "  bare, p50 and p95 in ms": lambda each: (
            f"{median(part.percentile(0.5) for part in each.writes):.1f} "
            f"{median(part.percentile(0.95) for part in each.writes):>6.1f}"
        ),
        "bare writes for one checkout": lambda each: f"{each.write_rate / each.rate:.0f}",
        "shoppers' own CPU, ms a checkout": lambda each: (
            f"{each.own_cpu * 1000 / len(each.steps['whole checkout']):.0f}"
        ),
    }
    print()
    for name, cell in rows.items():
        print(f"{name:34}" + "".join(f"{cell(each):>20}" for each in found.values()))
    print(f"\n{ELSEWHERE}")


def main() -> int:
    """Count, measure and print; return the exit status."""
    args = _arguments()
    with ExitStack() as stack:
        if args.nodes > 1:
            os.environ |= stack.enter_context(run_nodes(args.nodes)).environment
        stack.enter_context(own_keyspace(KEYSPACE, STOA_DEMO="1"))
        # The queue lets everybody into the checkout at once, in each thread of the server.
        os.environ |= {"CHECKOUTS_AT_ONCE": "1000"}
        print_costs()
        slices, seconds = (1, 3.0) if args.quick else (args.slices, args.seconds)
        with serve_shop(KEYSPACE) as server:
            print(
                f"\n{slices} slices of {seconds:g} s, closed loops; {os.cpu_count()} processors for database, servers and "
                f"shoppers together; load before: {os.getloadavg()[0]:.1f}"
            )
            print_times(measure_crowds(server, slices, seconds), args.nodes)
    return 0


def _arguments() -> Namespace:
    parser = make_parser("checkout", __doc__)
    parser.add_argument("--nodes", type=int, default=1, choices=(1, 3))
    parser.add_argument("--slices", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a slice")
    parser.add_argument("--quick", action="store_true", help="one slice of three seconds")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
