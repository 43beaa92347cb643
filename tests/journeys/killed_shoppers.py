"""Checkouts whose processes are killed: `python -m tests.journeys.killed_shoppers FOLDER 150 15`, in the environment of a shop.

Some processes run (see `tests.journeys.shoppers`); every few checkouts one of them is killed by kill -9, and another one takes its
place, and looks after what dead ones have left behind. What is on sale changes. In the end the worker looks after the rest, the numbers
are read, and the consistency check runs. FOLDER has all that was asked and answered then, and `summary.json`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from uuid import UUID, uuid4

import tests.journeys.set_up  # noqa: F401 first, for what the others import
from catalogue.operations import refresh_cards
from consistency.findings import Scope
from consistency.runner import check_consistency
from inventory.warehouses import list_warehouses
from orders import queries
from tests.factories import make_product
from tests.journeys.notebook import Note, Notebook, count_checkouts, read_notes
from tests.journeys.shoppers import ON_SALE, STOP, Article, Shop, run_client
from tests.orders.crashes import run_worker

PROCESSES = 2
FIRST_UNITS = 24
# So many checkouts begin before one of the articles on sale is replaced by a new one.
CHECKOUTS_EACH = 60
# After so many seconds nothing of a killed process arrives at Cassandra any more.
SETTLED_AFTER = 3.0
# How often the last one tries to end what was left behind.
ROUNDS = 10


@dataclass
class Client:
    """A process of the shop, its file of notes, and what it was given to look after."""

    process: ForkServerProcess
    path: Path
    given: list[Note]


@dataclass
class Run:
    """All clients, living and dead, and what the dead ones have left behind."""

    folder: Path
    articles: list[Article] = field(default_factory=list)
    living: list[Client] = field(default_factory=list)
    count: int = 0
    finished_checkouts: int = 0  # of dead clients
    # When it was left behind, and what, by the id of the order or receipt.
    left: dict[str, tuple[float, Note]] = field(default_factory=dict)
    orders: set[UUID] = field(default_factory=set)
    cut_orders: set[UUID] = field(default_factory=set)

    def __post_init__(self) -> None:
        # A process that has imported the shop, and speaks to no node: its forks connect on their own.
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(["tests.journeys.shoppers"])
        self.began = datetime.now(UTC)
        self.office = Notebook(self.folder / "office.jsonl")

    def put_on_sale(self) -> None:
        """Make an article, and receive some units."""
        number = len(self.articles)
        each = Article(
            make_product(f"Article {number + 1}", listed=True),
            list_warehouses()[number % len(list_warehouses())],
        )
        self.articles.append(each)
        Shop(self.office, [each]).receive(uuid4(), {each.sku: FIRST_UNITS})

    def start_client(self) -> None:
        """Start a process, and have it look after what was left behind, and has settled since."""
        settled = time.monotonic() - SETTLED_AFTER
        given = [note for since, note in self.left.values() if since < settled]
        for note in given:
            del self.left[note.thing]
        skus = {sku for note in given for sku in note.units}
        articles = [each for each in self.articles[:-ON_SALE] if each.sku in skus]
        articles += self.articles[-ON_SALE:]
        self.count += 1
        name = f"client-{self.count}"
        process = self.processes.Process(
            target=run_client, args=(self.folder, name, articles, given), daemon=True
        )
        process.start()
        self.living.append(Client(process, self.folder / f"{name}.jsonl", given))

    def kill_client(self) -> None:
        """Kill one of the processes."""
        client = random.choice(self.living)
        client.process.kill()
        self.bury(client)

    def bury(self, client: Client) -> None:
        """Wait for a process's end, and note what it has left behind. Raises RuntimeError for one that has failed."""
        client.process.join(120)
        if client.process.exitcode not in (0, -signal.SIGKILL):
            raise RuntimeError(f"{client.path.name} ended with {client.process.exitcode}")
        self.living.remove(client)
        self.finished_checkouts += count_checkouts(client.path)
        notes = read_notes(client.path) if client.path.exists() else []
        left = list_left(notes, client.given)
        self.left |= {each.thing: (time.monotonic(), each) for each in left}
        self.orders |= {UUID(each.thing) for each in notes if each.kind == "reserve"}
        self.cut_orders |= {UUID(each.thing) for each in left if each.kind == "reserve"}

    def count_begun(self) -> int:
        """Return how many checkouts have begun."""
        return self.finished_checkouts + sum(count_checkouts(each.path) for each in self.living)

    def settle(self) -> None:
        """Look after the rest, as the worker does, and read the numbers. Raises RuntimeError if something does not end."""
        shop = Shop(self.office, self.articles)
        time.sleep(SETTLED_AFTER)
        left = [note for _, note in self.left.values()]
        for _ in range(ROUNDS):
            shop.look_after(left)
            left = list_left(read_notes(self.folder / "office.jsonl"), left)
        if left:
            raise RuntimeError(f"does not end: {left}")
        run_worker(self.began, datetime.now(UTC) + timedelta(minutes=30), *self.cut_orders)
        for each in self.articles:
            refresh_cards(each.product.product_id)  # as the worker's job does after each change
        shop.count()


def list_left(notes: Iterable[Note], given: Iterable[Note] = ()) -> list[Note]:
    """Return of the orders and receipts that a client was given, or has begun, those of which it has not noted an end."""
    first = {note.thing: note for note in given}
    last = dict(first)
    for note in notes:
        first.setdefault(note.thing, note)
        last[note.thing] = note
    return [first[thing] for thing, note in last.items() if not is_over(note)]


def is_over(note: Note) -> bool:
    """Return whether nothing is left to do for an order or a receipt; one that was placed, and no more, is left alone."""
    if note.kind == "reserve":
        return note.answer not in (None, "reserved")
    return note.answer in ("paid", "cancelled", "received") or isinstance(note.answer, dict)


def main() -> int:
    """Run it, and return the exit status: 1 if the consistency check finds something."""
    parser = argparse.ArgumentParser(prog="python -m tests.journeys.killed_shoppers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("checkouts", type=int)
    parser.add_argument("kills", type=int)
    args = parser.parse_args()
    run, began, kills = Run(args.folder), time.monotonic(), 0
    for _ in range(ON_SALE):
        run.put_on_sale()
    for _ in range(PROCESSES):
        run.start_client()
    while (begun := run.count_begun()) < args.checkouts or kills < args.kills:
        if begun >= (len(run.articles) - ON_SALE + 1) * CHECKOUTS_EACH:
            run.put_on_sale()
        if begun >= (kills + 1) * args.checkouts / (args.kills + 1):
            run.kill_client()
            run.start_client()
            kills += 1
        time.sleep(random.uniform(0.0, 0.1))
    (args.folder / STOP).touch()
    for client in tuple(run.living):
        run.bury(client)
    took = time.monotonic() - began
    run.settle()
    report = check_consistency(_scope(run), recheck_after=(0.2, 0.5), grace_period=timedelta(0))
    summary = {
        "checkouts": run.finished_checkouts,
        "kills": kills,
        "left behind by killed processes": len(run.cut_orders),
        "took": f"{took:.0f} s",
        "until all was settled and checked": f"{time.monotonic() - began:.0f} s",
        "looked at by the consistency check": sum(report.checked_counts.values()),
    }
    (args.folder / "summary.json").write_text(json.dumps(summary))
    print(*report.violations, json.dumps(summary, indent=2), sep="\n")
    return 0 if report.is_clean else 1


def _scope(run: Run) -> Scope:
    return Scope(
        orders=frozenset(each for each in run.orders if queries.get_order(each)),
        variants=frozenset(each.variant_id for each in run.articles),
        products=frozenset(each.product.product_id for each in run.articles),
    )


if __name__ == "__main__":
    raise SystemExit(main())
