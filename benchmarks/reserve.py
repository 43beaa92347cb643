"""Measures reservations a second on one SKU, beside other algorithms and bare conditional writes.

    python -m benchmarks.reserve
    python -m benchmarks.reserve --slices 3 --seconds 0.5        # quicker and rougher

In a keyspace of its own, 1 to 64 buyers in threads of this process reserve the same variant in the same warehouse, in closed loops, in four ways:

    combined             the shop's way: one batch serves all buyers who wait for the stock item
    plain                a batch for each buyer
    read, then compare   read the number, write one less if it is unchanged, else repeat
    bare                 a conditional update of one row, which the buyers share as they share the SKU

Slices of all four are interleaved, so that a disturbance meets all of them. After all slices the stock numbers must equal the buyers'
reservations. At the end 64 buyers want more units than there are, and must get exactly the units in stock. "with its expiry" adds the
write of the reservation expiry, in another partition.

Bounds are ratios, because machines differ. Ends with status 1 if a bound is missed.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from benchmarks.load import Slice, in_threads
from benchmarks.pages import PageFigures
from benchmarks.setup import BareRows, make_bare_rows, make_parser, own_keyspace, report_missed
from cassandra_db import RAISE_UNKNOWN, conditional_write, current_time

if TYPE_CHECKING:
    from inventory.entities import StockNumbers

KEYSPACE = "stoa_reserve"
CROWDS = (1, 4, 16, 64)
PLACE = "berlin"
PLENTY = 2_000_000
RUSH_UNITS, RUSH_BUYERS = 500, 1000
# The lowest ratio to the rate of "read, then compare", with the largest crowd.
TIMES_COMPARED = 15.0
# The lowest ratios to the rate of bare conditional writes.
ALONE_OF_BARE = 0.8
CROWD_OF_BARE = 1.0


@dataclass
class Way:
    """A way to reserve, and the number of units that it has reserved."""

    name: str
    act: Callable[[], None]
    reserved: count[int] = field(default_factory=count)
    figures: dict[int, PageFigures] = field(
        default_factory=lambda: {crowd: PageFigures() for crowd in CROWDS}
    )

    def run(self, crowd: int, seconds: float) -> Slice:
        """Let a crowd of buyers reserve in closed loops for some seconds."""
        return in_threads([self._reserve] * crowd)(seconds)

    def _reserve(self) -> None:
        self.act()
        next(self.reserved)


def main() -> int:
    """Measure, print, and return the exit status."""
    args = make_parser("reserve", __doc__, slices=7, in_shop=False).parse_args()
    with own_keyspace(KEYSPACE), make_bare_rows(2, PLENTY) as bare:
        variants = {name: _stocked(PLENTY) for name in ("combined", "plain", "with its expiry")}
        ways = [*_ours(variants), *_yardsticks(bare)]
        _measure(args, ways)
        wrong = [
            line for way in ways if way.name in variants for line in _wrong(way, variants[way.name])
        ]
        return _report(args, {way.name: way for way in ways}, wrong + _rushed())


def _stocked(units: int) -> UUID:
    from inventory.operations import receive_stock

    variant_id = uuid4()
    receive_stock(uuid4(), variant_id, PLACE, units, 3, uuid4(), current_time())
    return variant_id


def _ours(variants: dict[str, UUID]) -> list[Way]:
    from inventory import operations
    from inventory.entities import WantedLine
    from inventory.operations.group_commit import ReservationRequest, reserve_all, reserve_batched

    def make_way(name: str, reserve: Callable[[UUID, str, ReservationRequest], None]) -> Way:
        def act() -> None:
            request = ReservationRequest(
                reservation_id=uuid4(), order_id=uuid4(), line_number=1, units=1, now=current_time()
            )
            reserve(variants[name], PLACE, request)
            if not request.is_reserved:
                raise RuntimeError("a reservation was refused, with plenty there")

        return Way(name, act)

    def whole() -> None:
        want = WantedLine(1, variants["with its expiry"], variants["with its expiry"], 1)
        operations.FirstReservation(uuid4(), [want], current_time()).reserve()

    def reserve_alone(variant_id: UUID, place: str, request: ReservationRequest) -> None:
        reserve_all((variant_id, place), [request])

    ways = [make_way("combined", reserve_batched), make_way("plain", reserve_alone)]
    return [*ways, Way("with its expiry", whole)]


def _yardsticks(bare: BareRows) -> list[Way]:
    compared = conditional_write(
        "benchmark",
        "UPDATE benchmark_rows SET units = :units, taken = :taken WHERE id = :id IF units = :seen",
    )

    def read_and_compare() -> None:
        is_written = False
        while not is_written:
            row = bare.read(bare.ids[1])
            new = {"units": row.units - 1, "taken": row.taken + 1, "seen": row.units}
            is_written = bool(compared.apply(if_lost=RAISE_UNKNOWN, id=bare.ids[1], **new))

    return [
        Way("read, then compare", read_and_compare),
        Way("bare", partial(bare.write, bare.ids[0])),
    ]


def _measure(args: Namespace, ways: Sequence[Way]) -> None:
    for way in ways:
        way.run(CROWDS[-1], 1.0)  # warm
    for _ in range(args.slices):
        for crowd in CROWDS:
            for way in ways:
                way.figures[crowd].slices.append(way.run(crowd, args.seconds))


def _numbers(variant_id: UUID) -> StockNumbers:
    from inventory.queries import get_stock_numbers

    return get_stock_numbers(variant_id, PLACE)


def _wrong(way: Way, variant_id: UUID) -> list[str]:
    numbers, promised = _numbers(variant_id), next(way.reserved)
    if (numbers.reserved, numbers.available) == (promised, PLENTY - promised):
        return []
    return [f"{way.name}: {promised} units were promised, and {numbers.reserved} are reserved"]


def _rushed() -> list[str]:
    """Let more buyers reserve than there are units. Return the problems."""
    from inventory.entities import WantedLine
    from inventory.errors import OutOfStock
    from inventory.operations import FirstReservation

    variant_id = _stocked(RUSH_UNITS)

    def buy(_: int) -> int:
        wanted = [WantedLine(1, variant_id, variant_id, 1)]
        try:
            return len(FirstReservation(uuid4(), wanted, current_time()).reserve())
        except OutOfStock:
            return 0

    with ThreadPoolExecutor(CROWDS[-1]) as pool:
        sold = sum(pool.map(buy, range(RUSH_BUYERS)))
    numbers = _numbers(variant_id)
    text = f"{RUSH_BUYERS:,} buyers for {RUSH_UNITS} units: {sold} sold, {numbers.available} left."
    print(f"\n{text}")
    is_right = sold == numbers.reserved == RUSH_UNITS
    return [] if is_right else [f"{sold} of {RUSH_UNITS} units were sold"]


def _report(args: Namespace, ways: dict[str, Way], wrong: list[str]) -> int:
    print(
        f"\n{args.slices} slices of {args.seconds} s, closed loops, medians; "
        f"{os.cpu_count()} processors for database and buyers together. Reservations a second (p99 in ms):\n"
    )
    print(f"{'buyers':20}" + "".join(f"{crowd:>16}" for crowd in CROWDS))
    for way in ways.values():
        cells = (f"{each.rate:,.0f} ({each.percentile(0.99):.0f})" for each in way.figures.values())
        print(f"{way.name:20}" + "".join(f"{each:>16}" for each in cells))
    most = CROWDS[-1]
    print()
    for name, beside, crowd, least in (
        (f"combined, {most} buyers", "read, then compare", most, TIMES_COMPARED),
        ("combined, one buyer", "bare", 1, ALONE_OF_BARE),
        (f"combined, {most} buyers", "bare", most, CROWD_OF_BARE),
    ):
        ratio = round(_ratio(ways, beside, crowd), 2)
        print(f"{name}, of {beside}: {ratio:.2f} (at least {least:g})")
        if ratio < least:
            wrong.append(f"{name}, of {beside}: {ratio:.2f}, not {least:g}")
    print()
    return report_missed(wrong)


def _ratio(ways: dict[str, Way], beside: str, crowd: int) -> float:
    """Return the median ratio of the rate of "combined" to the rate of `beside` in the same slice."""
    pairs = zip(
        ways["combined"].figures[crowd].slices, ways[beside].figures[crowd].slices, strict=True
    )
    return median(mine.rate / other.rate for mine, other in pairs)


if __name__ == "__main__":
    raise SystemExit(main())
