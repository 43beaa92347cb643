"""What a cart costs: adds a second, beside a bare conditional write on the same node in the same run.

    python -m benchmarks.carts                                   # the keyspace of the settings
    python -m benchmarks.carts --slices 3 --seconds 0.5          # quicker and rougher

One shopper and 64, each with a cart of their own, with ten lines and with a thousand; first the operation itself
(`add_line`, in threads of this process), then the whole submit over HTTP (gunicorn with the shop's configuration, the
load in a process of its own). All are closed loops: a shopper submits again when the answer is there. The bare write is
one conditional update of one row, by the same driver and in as many threads; slices of all are interleaved, so that a
disturbance meets all of them. Then the header's badge, beside two bare reads of one row, one after the other.

Bounds are ratios, for a second differs between two machines. Ends with status 1 if one is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from statistics import median
from time import perf_counter, sleep
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from benchmarks.load import CartSubmits, Load, Slice
from benchmarks.pages import ROOT, PageFigures, serve_shop, shop_environment
from cassandra_db import RAISE_UNKNOWN, current_time

if TYPE_CHECKING:
    from catalogue.entities import Product, Variant

FEW, MANY = 10, 1000  # lines
CROWD = 64  # shoppers
DEAD = 10_000  # operations of former days, in one cart
CSRF = "b" * 32
# An add reads the list of carts, writes up to twice, and reads the line that came of it; a submit reads the products as well.
LEAST_RATIO = {"operation": 0.12, "HTTP": 0.02}
LARGE_KEEPS = 0.6  # of the adds a second into a small cart
BADGE_MAY_TAKE = 3.0  # times two bare reads, one after the other
BADGE_MAY_GROW = 1.6  # with a thousand lines, or with ten thousand dead rows behind it


@dataclass(frozen=True)
class Shopper:
    """A guest with a cart, and what is put into it: variants that have a line there already."""

    person_id: UUID
    cart_id: UUID
    cookie: str
    variants: tuple[tuple[Product, Variant], ...]


@dataclass
class Case:
    """One row of the table."""

    name: str
    run: Callable[[float], Slice]
    yardstick: str = ""
    figures: PageFigures = field(default_factory=PageFigures)


def main() -> int:
    """Measure, print, and return the exit status."""
    args = _arguments()
    os.environ |= shop_environment(args.keyspace)
    import django

    django.setup()
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"]
    subprocess.run(collect, cwd=ROOT, check=True)
    with (
        _bare_rows(CROWD) as bare,
        _shoppers(CROWD) as shoppers,
        serve_shop(args.keyspace) as server,
        Load(CROWD) as load,
    ):
        adds = _adds(shoppers, bare, server.port, load)
        _measure(args, adds)
        badges = _badges(shoppers, bare)
        _measure(args, badges)
    return _report(args, {case.name: case for case in (*adds, *badges)})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.carts", description="What a cart costs."
    )
    parser.add_argument("--keyspace", default=os.environ.get("CASSANDRA_KEYSPACE", "stoa"))
    parser.add_argument("--slices", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice")
    return parser.parse_args()


# ---- the yardstick: one row, one condition


@dataclass(frozen=True)
class Bare:
    """Rows of a table of the benchmark's own."""

    ids: Sequence[UUID]
    write: Callable[[UUID], None]
    read: Callable[[UUID], None]


@contextmanager
def _bare_rows(count: int) -> Iterator[Bare]:
    from cassandra_db import conditional_write, read
    from cassandra_db.session import get_session

    get_session().execute(
        "CREATE TABLE IF NOT EXISTS benchmark_of_carts (id uuid PRIMARY KEY, units int)"
    )
    more = conditional_write(
        "benchmark", "UPDATE benchmark_of_carts SET units = units + 1 WHERE id = :id IF units >= 0"
    )
    first = conditional_write(
        "benchmark", "INSERT INTO benchmark_of_carts (id, units) VALUES (:id, 0) IF NOT EXISTS"
    )
    one = read("benchmark", "SELECT units FROM benchmark_of_carts WHERE id = :id")
    ids = [uuid4() for _ in range(count)]
    for each in ids:
        first.apply(if_lost=RAISE_UNKNOWN, id=each)

    def written(row: UUID) -> None:
        if not more.apply(if_lost=RAISE_UNKNOWN, id=row):
            raise RuntimeError("a bare write was refused")

    def looked_at(row: UUID) -> None:
        one.one(id=row)

    try:
        yield Bare(ids, written, looked_at)
    finally:
        get_session().execute("DROP TABLE benchmark_of_carts", timeout=60)


# ---- the shoppers


@contextmanager
def _shoppers(count: int) -> Iterator[dict[int, list[Shopper]]]:
    """Make shoppers with few lines and with many, and take their carts away at the end."""
    variants = _find_variants()
    made = {lines: [_shopper(variants, lines) for _ in range(count)] for lines in (FEW, MANY)}
    try:
        yield made
    finally:
        from cassandra_db.session import get_session

        for shopper in (*made[FEW], *made[MANY]):
            get_session().execute(
                "DELETE FROM items_by_cart WHERE cart_id = %s", (shopper.cart_id,)
            )
            get_session().execute(
                "DELETE FROM carts_by_user WHERE owner_id = %s", (shopper.person_id,)
            )


def _find_variants() -> tuple[tuple[Product, Variant], ...]:
    """Return variants of the keyspace that are in stock."""
    from catalogue.queries import get_category_page, get_product, list_root_categories
    from inventory.entities import Stock
    from inventory.queries import get_stock

    none = Stock()
    found: list[tuple[Product, Variant]] = []
    for category in list_root_categories():
        for card in get_category_page(category.category_id).cards:
            product = get_product(card.product_id)
            stock = get_stock(card.product_id) if product else {}
            if product:
                sold = (
                    each
                    for each in product.variants
                    if each.sold and stock.get(each.variant_id, none).available
                )
                found.extend((product, each) for each in sold)
            if len(found) >= FEW:
                return tuple(found[:FEW])
    raise SystemExit(f"the keyspace has no {FEW} variants in stock: manage.py load_demo")


def _shopper(variants: tuple[tuple[Product, Variant], ...], lines: int) -> Shopper:
    from django.conf import settings
    from django.core import signing

    from cart import operations
    from cart.operations.contents import CartChange, change_contents

    person_id, now = uuid4(), current_time()
    for each in variants:
        cart_id = operations.add_line(person_id, *each, 1, uuid4(), now, guest=True).cart_id

    def put(change: CartChange) -> str:
        like = next(iter(change.contents.lines.values()))
        for _ in range(lines - len(variants)):
            variant_id = uuid4()
            change.put(like._replace(key=str(variant_id), variant_id=variant_id), 1)
        return "{}"

    if lines > len(variants):
        change_contents(cart_id, uuid4(), now, put)
    signed = signing.dumps([person_id.hex, cart_id.hex], salt="cart.owner")
    cookie = f"{settings.CART_COOKIE_NAME}={signed}; {settings.CSRF_COOKIE_NAME}={CSRF}"
    return Shopper(person_id, cart_id, cookie, variants)


# ---- what is measured


def _adds(shoppers: dict[int, list[Shopper]], bare: Bare, port: int, load: Load) -> list[Case]:
    cases = []
    for count in (1, CROWD):
        yardstick = f"bare conditional write, {count} at once"
        cases.append(
            Case(yardstick, in_threads([_repeated(bare.write, row) for row in bare.ids[:count]]))
        )
        for lines, made in shoppers.items():
            who = f"{count} shopper{'s' if count > 1 else ''}, {lines:,} lines"
            cases.append(
                Case(
                    f"operation, {who}",
                    in_threads([_adding(each) for each in made[:count]]),
                    yardstick,
                )
            )
            submits = [_submit(each) for each in made[:count]]
            cases.append(Case(f"HTTP, {who}", _over_http(load, port, submits), yardstick))
    return cases


def _repeated(act: Callable[[UUID], None], row: UUID) -> Callable[[], None]:
    return lambda: act(row)


def _adding(shopper: Shopper) -> Callable[[], None]:
    from cart import operations

    variants = cycle(shopper.variants)

    def add() -> None:
        operations.add_line(
            shopper.person_id, *next(variants), 1, uuid4(), current_time(), guest=True
        )

    return add


def _submit(shopper: Shopper) -> CartSubmits:
    return CartSubmits(
        "/cart/add/", shopper.cookie, CSRF, [variant.sku for _, variant in shopper.variants]
    )


def _over_http(load: Load, port: int, submits: Sequence[CartSubmits]) -> Callable[[float], Slice]:
    return lambda seconds: load.run_each(port, submits, seconds)


def in_threads(acts: Sequence[Callable[[], None]]) -> Callable[[float], Slice]:
    """Return what runs each of these in a thread of its own, again and again."""

    def run(seconds: float) -> Slice:
        latencies: list[float] = []
        failures: list[Exception] = []
        until = perf_counter() + seconds

        def repeat(act: Callable[[], None]) -> None:
            try:
                while (started := perf_counter()) < until:
                    act()
                    latencies.append(perf_counter() - started)
            except Exception as error:  # noqa: BLE001 raised again below, in the thread that measures
                failures.append(error)

        threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
        started = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return Slice(perf_counter() - started, latencies)

    return run


def _badges(shoppers: dict[int, list[Shopper]], bare: Bare) -> list[Case]:
    from cart.queries import collect_badge, prefetch_badge

    def looking(shopper: Shopper) -> Callable[[], None]:
        def look() -> None:
            collect_badge(prefetch_badge(shopper.person_id))

        return look

    def read_twice() -> None:
        bare.read(bare.ids[0])
        bare.read(bare.ids[1])

    few, many = shoppers[FEW][0], shoppers[MANY][0]
    buried = shoppers[FEW][1]
    _bury(buried)
    yardstick = "two bare reads, one after the other"
    return [
        Case(yardstick, in_threads([read_twice])),
        Case(f"badge, {FEW} lines", in_threads([looking(few)]), yardstick),
        Case(f"badge, {MANY:,} lines", in_threads([looking(many)]), yardstick),
        Case(f"badge, no line, {DEAD:,} dead rows", in_threads([looking(buried)]), yardstick),
    ]


def _bury(shopper: Shopper) -> None:
    """Empty a cart, and leave behind in it the operations of many days, which have expired."""
    from cart import operations
    from cassandra_db.session import get_session

    operations.empty_cart(shopper.person_id, shopper.cart_id, uuid4(), current_time())
    dead = get_session().prepare(
        "INSERT INTO items_by_cart (cart_id, kind, key) VALUES (?, 'op', ?) USING TTL 1"
    )
    for _ in range(DEAD // 100):
        for pending in [
            get_session().execute_async(dead, (shopper.cart_id, str(uuid4()))) for _ in range(100)
        ]:
            pending.result()
    sleep(2)


def _measure(args: argparse.Namespace, cases: Sequence[Case]) -> None:
    for case in cases:
        case.run(1.0)  # warm
    for _ in range(args.slices):
        for case in cases:
            case.figures.slices.append(case.run(args.seconds))


# ---- what is printed


def _report(args: argparse.Namespace, cases: dict[str, Case]) -> int:
    print(
        f"\n{args.slices} slices of {args.seconds} s, closed loops, medians; "
        f"{os.cpu_count()} processors for database, servers and load together.\n"
    )
    print(f"{'':44}{'a second':>10}{'p50 ms':>8}{'p99 ms':>8}{'ratio':>7}")
    for case in cases.values():
        ratio = f"{_ratio(case, cases):>7.2f}" if case.yardstick else ""
        figures = case.figures
        print(
            f"{case.name:44}{figures.rate:>10.0f}{figures.percentile(0.5):>8.1f}{figures.percentile(0.99):>8.1f}{ratio}"
        )
    print(f"\n{_line(cases)}\n")
    missed = _missed(cases)
    print("\n".join(f"MISSED: {line}" for line in missed) or "All bounds are kept.")
    return 1 if missed else 0


def _ratio(case: Case, cases: dict[str, Case]) -> float:
    """The share of the yardstick's rate, slice by slice: both stood side by side then."""
    beside = cases[case.yardstick].figures.slices
    return median(
        mine.rate / bare.rate for mine, bare in zip(case.figures.slices, beside, strict=True)
    )


def _line(cases: dict[str, Case]) -> str:
    """All of it in one line: adds a second, p99 in ms and the ratio to the bare write; then the badges' p50 in ms."""
    parts = []
    for name, case in cases.items():
        figures = case.figures
        if name.startswith("badge"):
            parts.append(f"{name} {figures.percentile(0.5):.1f} ms")
        elif case.yardstick:
            parts.append(
                f"{name} {figures.rate:.0f}/s {figures.percentile(0.99):.0f} ms {_ratio(case, cases):.2f}"
            )
    return "; ".join(parts)


def _missed(cases: dict[str, Case]) -> list[str]:
    missed = []
    for name, case in cases.items():
        least = LEAST_RATIO.get(name.split(",")[0])
        if least and _ratio(case, cases) < least:
            missed.append(
                f"{name}: {_ratio(case, cases):.2f} of a bare conditional write's rate, not {least}"
            )
        small = cases.get(name.replace(f"{MANY:,} lines", f"{FEW} lines"), case)
        if (
            case.yardstick
            and small is not case
            and case.figures.rate < small.figures.rate * LARGE_KEEPS
        ):
            missed.append(
                f"{name}: {case.figures.rate:.0f} a second, {small.figures.rate:.0f} with {FEW} lines"
            )
    badges = {
        name: 1 / _ratio(case, cases) for name, case in cases.items() if name.startswith("badge")
    }
    least_time = badges[f"badge, {FEW} lines"]
    for name, times in badges.items():
        if times > BADGE_MAY_TAKE:
            missed.append(f"{name}: {times:.2f} times two bare reads, not {BADGE_MAY_TAKE}")
        if times > least_time * BADGE_MAY_GROW:
            missed.append(f"{name}: {times / least_time:.2f} times what it takes with {FEW} lines")
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
