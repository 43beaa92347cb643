"""A flash sale: far more buyers than units come to the checkout over real HTTP, all within seconds.

    python -m benchmarks.flash_sale                                        # 2,000 buyers in 10 seconds for 100 units
    python -m benchmarks.flash_sale --sales "two servers" declined         # only these (see SALES)
    python -m benchmarks.flash_sale --buyers 300 --units 30 --within 2     # smaller

Each buyer has a full cart and has filled in the checkout, and arrives at a time of their own, whether the shop keeps up or not. Meanwhile somebody looks at the
pages of other products, as they did for a while before. Buyers, shop and database share this machine. Everything happens in a
keyspace of its own, over which `manage.py audit` goes at the end.

Prints one line a sale, and ends with status 1 if a unit too many or too few was sold, somebody was told nothing or an error,
other pages became slow, or the audit finds something.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from benchmarks.buyers import BAD_CARD, GOOD_CARD, Buyer, Looker, all_bought, cart_for
from benchmarks.pages import ROOT, environment, shop

KEYSPACE = "stoa_flash_sale"
# What 99 of 100 looks at other pages have to stay below, in ms, while buyers, shop and database share a small machine.
SLOW = 1000


@dataclass(frozen=True)
class Kind:
    """What is particular about a sale."""

    servers: int = 1
    quantities: Sequence[int] = (1,)  # of the one thing, by buyer in turn
    overlapping: bool = False  # two things in each cart, put in in one order or in the other
    declined: int = 0  # every so-manieth card; its owner gives the order up


SALES = {
    "plain": Kind(),
    "two servers": Kind(servers=2),
    "mixed quantities": Kind(quantities=(1, 2, 3)),
    "overlapping carts": Kind(overlapping=True),
    "declined": Kind(declined=3),
}


@dataclass
class Sale:
    """A sale, and what came of it."""

    name: str
    units: int
    buyers: list[Buyer]
    goods: list[tuple[UUID, UUID]]  # product and variant
    looking: Looker
    before: float = 0.0  # p99 of the other pages, in ms
    meanwhile: float = 0.0
    wrong: list[str] = field(default_factory=list)

    @property
    def answers(self) -> Counter[int]:
        """How often each status was answered."""
        return sum((buyer.answers for buyer in self.buyers), Counter())

    def line(self) -> str:
        """The figures, in one line."""
        paid = sum(bool(buyer.paid) for buyer in self.buyers)
        told = sorted(buyer.seconds for buyer in self.buyers)
        statuses = " ".join(f"{status}×{count}" for status, count in sorted(self.answers.items()))
        return (
            f"{self.name}: {len(self.buyers)} buyers, {self.units} units, {paid} orders paid, others told: "
            f"{len(self.buyers) - paid}; told after {told[len(told) // 2]:.1f} s (median), {told[-1]:.1f} s (the last); "
            f"in line {sum(buyer.waits for buyer in self.buyers)} times; other pages p99 {self.before:.0f} ms before, {self.meanwhile:.0f} ms meanwhile; answers {statuses}; "
            f"{'; '.join(self.wrong[:10]) or 'nothing sold twice or lost'}"
        )


def made(name: str, kind: Kind, ports: Sequence[int], buyers: int, units: int) -> Sale:
    """Make the goods of a sale, its buyers and their carts, and something else for others to look at."""
    goods = [product_with(f"Sale {place}", units) for place in range(2 if kind.overlapping else 1)]
    other = [product_with("Something else", 10)[2] for _ in range(4)]
    crowd = []
    for number in range(buyers):
        quantity = kind.quantities[number % len(kind.quantities)]
        wanted = [(product_id, variant_id, quantity) for product_id, variant_id, _ in goods]
        declined = bool(kind.declined) and number % kind.declined == 0
        email = f"buyer-{uuid4().hex}@example.com"
        crowd.append(
            Buyer(
                ports[number % len(ports)],
                cart_for(wanted if number % 2 else wanted[::-1], email),
                BAD_CARD if declined else GOOD_CARD,
                gives_up=declined,
                email=email,
            )
        )
    random.shuffle(crowd)
    sold = [(product_id, variant_id) for product_id, variant_id, _ in goods]
    return Sale(name, units, crowd, sold, Looker(ports[0], [f"/p/{slug}/" for slug in other]))


def product_with(name: str, units: int) -> tuple[UUID, UUID, str]:
    """Put a new product with so many units on the shelves; return its id, its variant's and its slug."""
    from datetime import UTC, datetime

    from moneyed import EUR, Money

    from catalogue import operations as catalogue
    from catalogue.entities import Product, Variant
    from inventory.operations import copy_stock, receive_stock

    now, product_id = datetime.now(UTC), uuid4()
    category_id = catalogue.save_category(
        category_id=UUID(int=1),
        slug="sale",
        name="Sale",
        parent_id=None,
        position=0,
        picture="mug/c8724c-efeae0",
    ).category_id
    sku = f"S-{product_id.hex[:12].upper()}"
    variant = Variant(
        uuid4(), sku, {}, Money("12.00", EUR), None, "mug/c8724c-efeae0", weight_grams=350
    )
    product = Product(
        product_id=product_id,
        slug=f"sale-{product_id.hex[:12]}",
        name=name,
        brand="Kilnbrook",
        description="While it lasts.",
        details={},
        category_id=category_id,
        option_names=(),
        tax_class="standard",
        variants=(variant,),
    )
    catalogue.save_product(product, now)
    # From two warehouses, the smaller part from the second.
    for place, there in (("berlin", units - units // 5), ("cork", units // 5)):
        if there:
            receive_stock(product_id, variant.variant_id, place, there, 3, uuid4(), now)
    copy_stock(product_id)
    return product_id, variant.variant_id, product.slug


def held(sale: Sale, within: float, *, looks_before: float = 5.0) -> None:
    """Hold the sale, and note in `sale.wrong` what is not as it has to be."""
    asyncio.run(_held(sale, within, looks_before))
    _look_at_buyers(sale)
    for _, variant_id in sale.goods:
        _look_at_stock(sale, variant_id)


async def _held(sale: Sale, within: float, looks_before: float) -> None:
    warm = Looker(sale.looking.port, sale.looking.paths, 0.1)
    for looker, seconds in ((warm, 2.0), (sale.looking, looks_before)):
        await asyncio.wait_for(_looked(looker, seconds), 120)
    sale.before = sale.looking.percentile(0.99)
    sale.looking.took.clear()
    enough = asyncio.Event()
    looking = asyncio.create_task(sale.looking.look(enough))
    await all_bought(sale.buyers, within)
    enough.set()
    await looking
    sale.meanwhile = sale.looking.percentile(0.99)
    # Whose card was declined has given the order up: who was told "sold out" before that may come again.
    for _ in range(10):
        again = [each for each in sale.buyers if not each.paid and each.card == GOOD_CARD]
        if not again or not _left(sale):
            break
        await all_bought(again[: 2 * _left(sale)], 0.5)


async def _looked(looker: Looker, seconds: float) -> None:
    enough = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, enough.set)
    await looker.look(enough)


def _left(sale: Sale) -> int:
    return min(numbers_of(variant_id)["available"] for _, variant_id in sale.goods)


def numbers_of(variant_id: UUID) -> Counter[str]:
    """Return a variant's numbers over all warehouses."""
    from inventory import queries as stock

    sums: Counter[str] = Counter()
    for place in stock.WAREHOUSES:
        found = stock.get_stock_numbers(variant_id, place)
        for name in ("received", "available", "held", "committed", "shipped"):
            sums[name] += getattr(found, name)
    return sums


def _look_at_buyers(sale: Sale) -> None:
    numbers = [buyer.paid for buyer in sale.buyers if buyer.paid]
    if len(set(numbers)) < len(numbers):
        sale.wrong.append("two buyers were told the same order")
    for buyer in sale.buyers:
        if not buyer.answered or not buyer.words:
            sale.wrong.append(f"{buyer.email} was told nothing")
    if errors := {
        status: count for status, count in sale.answers.items() if status >= 500 or not status
    }:
        sale.wrong.append(f"errors were answered: {errors}")
    if others := {status for status in sale.looking.answers if status != 200}:
        sale.wrong.append(f"other pages answered {others}")


def _look_at_stock(sale: Sale, variant_id: UUID) -> None:
    from orders import queries

    there = numbers_of(variant_id)
    sold = 0
    for buyer in sale.buyers:
        if buyer.paid and (order := queries.get_order_by_number(buyer.paid)):
            if (order.state, order.payment) != ("confirmed", "paid"):
                sale.wrong.append(f"order {order.number} is {order.state}, {order.payment}")
            sold += sum(
                item.quantity for item in queries.list_items(order) if item.variant_id == variant_id
            )
    if there["committed"] != sold or there["held"] or there["available"] + sold != sale.units:
        sale.wrong.append(f"{sold} units were paid for, and the stock says {dict(there)}")
    if there["available"]:
        sale.wrong.append(f"{there['available']} of {sale.units} units were not sold")


def main() -> int:
    """Hold the sales, print, and return the exit status."""
    args = _arguments()
    os.environ |= environment(KEYSPACE, STOA_DEMO="1", COUNT_STATEMENTS="0")
    import django

    django.setup()
    from django.core.management import call_command

    from cassandra_db.session import close_session, get_session

    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        call_command("sync_cassandra", stdout=nowhere)
    close_session()
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"], cwd=ROOT, check=True
    )
    wrong = False
    try:
        for name in args.sales:
            with ExitStack() as stack:
                ports = [
                    stack.enter_context(shop(KEYSPACE)).port for _ in range(SALES[name].servers)
                ]
                sale = made(name, SALES[name], ports, args.buyers, args.units)
                held(sale, args.within)
            if sale.meanwhile > SLOW:
                sale.wrong.append("other pages became slow")
            print(sale.line(), flush=True)
            wrong = wrong or bool(sale.wrong)
        audited = subprocess.run([sys.executable, "manage.py", "audit"], cwd=ROOT, check=False)
    finally:
        if not args.keep:
            get_session().execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}", timeout=180)
        close_session()
    return 1 if wrong or audited.returncode else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.flash_sale", description="A flash sale."
    )
    parser.add_argument("--buyers", type=int, default=2000)
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which they arrive")
    parser.add_argument("--sales", nargs="+", default=list(SALES), choices=SALES)
    parser.add_argument("--keep", action="store_true", help="leave the keyspace for a look")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
