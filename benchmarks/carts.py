"""Measures the speed of carts: adds a second, beside bare conditional writes on the same node in the same run.

    python -m benchmarks.carts
    python -m benchmarks.carts --slices 3 --seconds 0.5          # quicker and rougher

In a keyspace of its own, a crowd is one shopper or 64, each with a cart of ten or of a thousand lines. They add lines by the operation itself (`add_line`, in
threads of this process), then by the whole submit over HTTP (gunicorn with the shop's configuration, the load in another process).
Each shopper submits again after the answer (a closed loop). The bare write is a conditional update of one row, by the same driver in
as many threads. Slices of all cases are interleaved, so that a disturbance meets all of them. Then the cart badge in the page header
is measured beside two bare reads of one row, one after the other.

Bounds are ratios, because machines differ. Ends with status 1 if a bound is missed.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from statistics import median
from time import sleep
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from benchmarks.flash_sale import make_stocked_product
from benchmarks.load import CartSubmits, Load, Slice, in_threads
from benchmarks.pages import PageFigures, serve_shop
from benchmarks.setup import BareRows, make_bare_rows, make_parser, own_keyspace, report_missed
from cassandra_db import current_time
from cassandra_db.session import get_session

if TYPE_CHECKING:
    from catalogue.entities import Product, Variant

KEYSPACE = "stoa_carts"
PLENTY = 1_000_000  # units
FEW, MANY = 10, 1000  # lines
CROWD = 64  # shoppers
DEAD = 10_000  # expired operations in one cart
CSRF = "b" * 32
# The lowest ratios to bare writes. An add reads the list of carts, writes up to twice, and reads the new line.
LEAST_RATIO = {"operation": 0.12, "HTTP": 0.02}
LARGE_KEEPS = 0.6  # the lowest share of the small cart's rate of adds
BADGE_MAY_TAKE = 3.0  # the most, as a multiple of two bare reads, one after the other
BADGE_MAY_GROW = 1.6  # the most, with a thousand lines or with ten thousand expired operations


@dataclass(frozen=True)
class Shopper:
    """A guest with a cart, and the variants that the guest adds. The cart has a line for each of them already."""

    person_id: UUID
    cart_id: UUID
    cookie: str
    variants: tuple[tuple[Product, Variant], ...]


@dataclass
class Case:
    """A measured case: one row of the printed table."""

    name: str
    run: Callable[[float], Slice]
    yardstick: str = ""
    figures: PageFigures = field(default_factory=PageFigures)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("carts", __doc__, slices=10, in_shop=False)
    parser.add_argument("--crowd", type=int, default=CROWD, help="shoppers")
    args = parser.parse_args()
    with (
        own_keyspace(KEYSPACE),
        make_bare_rows(args.crowd) as bare,
        serve_shop(KEYSPACE) as server,
        Load(args.crowd) as load,
    ):
        shoppers = _make_shoppers(args.crowd)
        adds = _adds(shoppers, bare, server.port, load, args.crowd)
        _measure(args, adds)
        badges = _badges(shoppers, bare)
        _measure(args, badges)
    return _report(args, {case.name: case for case in (*adds, *badges)})


def _make_shoppers(count: int) -> dict[int, list[Shopper]]:
    """Make shoppers with few and with many lines, who add variants that do not run out."""
    variants = tuple(_make_variant(number) for number in range(FEW))
    return {lines: [_shopper(variants, lines) for _ in range(count)] for lines in (FEW, MANY)}


def _make_variant(number: int) -> tuple[Product, Variant]:
    from catalogue.queries import get_product

    made = make_stocked_product(f"Product {number}", PLENTY)
    product = get_product(made.product_id)
    if product is None:
        raise SystemExit("a product that was just made is not there")
    return product, product.variants[0]


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


def _adds(
    shoppers: dict[int, list[Shopper]], bare: BareRows, port: int, load: Load, crowd: int
) -> list[Case]:
    cases = []
    for count in (1, crowd):
        yardstick = f"bare conditional write, {count} at once"
        writes = in_threads([partial(bare.write, row_id) for row_id in bare.ids[:count]])
        cases.append(Case(yardstick, writes))
        for lines, made in shoppers.items():
            who = f"{count} shopper{'s' if count > 1 else ''}, {lines:,} lines"
            adds = in_threads([_adding(shopper) for shopper in made[:count]])
            submits = partial(load.run_each, port, [_submit(shopper) for shopper in made[:count]])
            cases.append(Case(f"operation, {who}", adds, yardstick))
            cases.append(Case(f"HTTP, {who}", submits, yardstick))
    return cases


def _adding(shopper: Shopper) -> Callable[[], None]:
    from cart.operations import add_line

    variants = cycle(shopper.variants)

    def add() -> None:
        add_line(shopper.person_id, *next(variants), 1, uuid4(), current_time(), guest=True)

    return add


def _submit(shopper: Shopper) -> CartSubmits:
    return CartSubmits(
        "/cart/add/", shopper.cookie, CSRF, [variant.sku for _, variant in shopper.variants]
    )


def _badges(shoppers: dict[int, list[Shopper]], bare: BareRows) -> list[Case]:
    from cart.queries import collect_badge, prefetch_badge

    def look(shopper: Shopper) -> None:
        collect_badge(prefetch_badge(shopper.person_id))

    def read_twice() -> None:
        bare.read(bare.ids[0])
        bare.read(bare.ids[1])

    few, many = shoppers[FEW][0], shoppers[MANY][0]
    buried = shoppers[FEW][1]
    _bury(buried)
    yardstick = "two bare reads, one after the other"
    return [
        Case(yardstick, in_threads([read_twice])),
        Case(f"badge, {FEW} lines", in_threads([partial(look, few)]), yardstick),
        Case(f"badge, {MANY:,} lines", in_threads([partial(look, many)]), yardstick),
        Case(f"badge, no line, {DEAD:,} dead rows", in_threads([partial(look, buried)]), yardstick),
    ]


def _bury(shopper: Shopper) -> None:
    """Empty a cart, and leave many expired operations in its partition."""
    from cart import operations

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


def _measure(args: Namespace, cases: Sequence[Case]) -> None:
    for case in cases:
        case.run(args.seconds)  # warm
    for _ in range(args.slices):
        for case in cases:
            case.figures.slices.append(case.run(args.seconds))


def _report(args: Namespace, cases: dict[str, Case]) -> int:
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
    return report_missed(_missed(cases))


def _ratio(case: Case, cases: dict[str, Case]) -> float:
    """Return the median ratio of a case's rate to the bare writes' rate in the same slice."""
    beside = cases[case.yardstick].figures.slices
    return median(
        mine.rate / bare.rate for mine, bare in zip(case.figures.slices, beside, strict=True)
    )


def _line(cases: dict[str, Case]) -> str:
    """Return all figures in one line: adds a second, p99 in ms and the ratio to bare writes, then the badges' p50 in ms."""
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
