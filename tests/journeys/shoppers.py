"""A process of the shop in which shoppers check out side by side, and which may be killed at any moment; what they ask is noted."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import parent_process
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

import tests.journeys.set_up  # noqa: F401 first, for what the others import
from catalogue.entities import Product
from demo.testbank import cards
from demo.testbank.operations import submit_card
from inventory.entities import make_reservation_id
from inventory.errors import OutOfStock
from inventory.operations import RESERVATION_DURATION, copy_stock, receive_stock
from inventory.queries import get_stock_numbers, prefetch_stock_numbers
from jobs.minutes import MINUTE, minutes_between
from orders import jobs, operations, queries
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CheckoutBusy
from orders.lifecycle.states import CONFIRMED
from orders.lifecycle.transitions import Transition
from orders.operations import OrderDraft
from tests.factories import FEW, make_draft
from tests.journeys.notebook import Note, Notebook
from tests.orders.crashes import expire_claim
from tests.orders.sweeps import apply_pending_effects
from tests.reads import existing
from tests.shards import ItemsShard

# Enough that some of them reserve in one batch: two writes to a stock item are under way, and the others wait together.
SHOPPERS = 6
ON_SALE = 2  # articles, the latest ones
MAX_UNITS = 3  # of one article
STOP = "stop"  # the name of a file: once it is there, nobody begins anything
ORIGIN = "http://testserver"
# How often units arrive after a checkout, so that what is sold out is for sale again.
DELIVERIES = 0.2
JOURNEYS = {"paid": 50, "given up": 15, "left alone": 15, "cancelled and refunded": 20}


class Article(NamedTuple):
    """What is sold, in one variant, and the warehouse in which all of it lies."""

    product: Product
    warehouse_id: str

    @property
    def sku(self) -> str:
        return self.product.variants[0].sku

    @property
    def variant_id(self) -> UUID:
        return self.product.variants[0].variant_id


# ---- what shoppers do, and those who look after what was left behind


@dataclass(frozen=True)
class Shop:
    """What a client's process has: its notebook, and what is sold."""

    notebook: Notebook
    articles: Sequence[Article]

    def check_out(self, chance: random.Random) -> None:
        """Place an order of one article or two of those on sale, and go on as shoppers do."""
        chosen = chance.sample(self.articles[-ON_SALE:], k=chance.choice((1, 1, ON_SALE)))
        quantities = [(each, chance.randint(1, MAX_UNITS)) for each in chosen]
        draft = make_draft(*((each.product, units) for each, units in quantities))
        units = {each.sku: units for each, units in quantities}
        if self._reserve(draft, units) != "reserved":
            return
        journey = chance.choices([*JOURNEYS], [*JOURNEYS.values()])[0]
        if journey in ("paid", "cancelled and refunded"):
            self.notebook.note("commit", draft.order_id, units, lambda: self._pay(draft.order_id))
        if journey in ("given up", "cancelled and refunded"):
            self.notebook.note(
                "release", draft.order_id, units, lambda: self._cancel(draft.order_id, units)
            )
        if journey == "left alone":
            self.end(draft.order_id, units, time.monotonic())

    def _reserve(self, draft: OrderDraft, units: Mapping[str, int]) -> object:
        skus = {each.variant_id: each.sku for each in self.articles}

        def place() -> object:
            try:
                operations.place_order(draft, datetime.now(UTC))
            except OutOfStock as refused:
                return {skus[variant]: left for variant, left in refused.shortages.items()}
            return "reserved"

        return self.notebook.note("reserve", draft.order_id, units, place)

    @staticmethod
    def _pay(order_id: UUID) -> str:
        now = datetime.now(UTC)
        started = operations.start_payment(_get_order(order_id), ORIGIN, now)
        submit_card(started.payment_id, cards.APPROVED, now)
        order = existing(operations.settle_payment(order_id, started.payment_id, now))
        return order.payment

    def _cancel(self, order_id: UUID, units: Mapping[str, int]) -> str:
        order = operations.transition_order(
            _get_order(order_id), Transition("cancelled", actor="staff", at=datetime.now(UTC))
        )
        # If an effect fails, it is left to the worker: the units are free some time later.
        return f"{order.state}, with units" if any(self._held(order_id, units)) else order.state

    def _held(self, order_id: UUID, units: Mapping[str, int]) -> list[bool]:
        """Return of each of an order's lines whether units are reserved or committed for it."""
        articles = {each.sku: each for each in self.articles}
        held = []
        for line, sku in enumerate(units, 1):
            variant_id, warehouse_id = articles[sku].variant_id, articles[sku].warehouse_id
            id_ = make_reservation_id(order_id, line, variant_id, warehouse_id)
            rows = prefetch_stock_numbers(variant_id, warehouse_id, id_).rows()
            held.append(any(row.reservation_id == id_ and row.quantity for row in rows))
        return held

    def look_after(self, left: Iterable[Note]) -> None:
        """Do what is done about things that nobody looks after any more: orders end, receipts are sent again."""
        for note in left:
            if note.kind == "receive":
                self.receive(UUID(note.thing), note.units)
            else:
                self.end(UUID(note.thing), note.units, note.called)

    def end(self, order_id: UUID, units: Mapping[str, int], reserved_at: float) -> None:
        """Do what the worker does when the time is over of an order that was placed at `reserved_at`, if it was placed."""

        def expire() -> object:
            held = self._held(order_id, units)
            expire_claim(order_id)
            now = datetime.now(UTC)
            began = now - timedelta(seconds=time.monotonic() - reserved_at)
            due = now + RESERVATION_DURATION + MINUTE
            shard = ItemsShard("orders", item_ids=frozenset({order_id}))
            # A cancellation of a paid order that a kill has cut is finished by its effects.
            apply_pending_effects(minutes_between(began - MINUTE, now), due, shard)
            minutes = minutes_between(began + RESERVATION_DURATION, due)
            jobs.expire_reservations(minutes, now + 2 * RESERVATION_DURATION, shard)
            order = queries.get_order(order_id)
            is_paid = order is not None and order.state == CONFIRMED
            if self._held(order_id, units) != [is_paid] * len(units):
                raise CheckoutBusy  # not yet
            return "paid" if is_paid else dict(zip(units, held, strict=True))

        self.notebook.note("end", order_id, units, expire)

    def receive(self, receipt_id: UUID, units: Mapping[str, int]) -> None:
        """Receive units of an article; a receipt without an answer is sent again, and counts once."""
        ((sku, count),) = units.items()
        (each,) = (each for each in self.articles if each.sku == sku)
        self.notebook.note(
            "receive", receipt_id, units, lambda: self._book(each, count, receipt_id)
        )

    @staticmethod
    def _book(each: Article, units: int, receipt_id: UUID) -> str:
        product_id, now = each.product.product_id, datetime.now(UTC)
        receive_stock(product_id, each.variant_id, each.warehouse_id, units, FEW, receipt_id, now)
        copy_stock(product_id)
        return "received"

    def count(self) -> None:
        """Note the numbers of each article."""
        for each in self.articles:
            self.notebook.note(
                "count",
                each.variant_id,
                {each.sku: 0},
                lambda each=each: _read_numbers(each),  # type: ignore[misc]
            )


def _read_numbers(article: Article) -> dict[str, int]:
    found = get_stock_numbers(article.variant_id, article.warehouse_id)
    return {"available": found.available, "reserved": found.reserved, "committed": found.committed}


def _get_order(order_id: UUID) -> Order:
    return existing(queries.get_order(order_id))


def run_client(folder: Path, name: str, articles: Sequence[Article], left: Sequence[Note]) -> None:
    """Look after what dead clients have left behind, then check out until the file `stop` is there, or nobody to write it."""
    parent = parent_process()
    assert parent
    shop = Shop(Notebook(folder / f"{name}.jsonl"), articles)
    shop.look_after(left)

    def go_shopping(number: int) -> None:
        chance = random.Random(f"{name} {number}")
        while parent.is_alive() and not (folder / STOP).exists():
            shop.check_out(chance)
            if chance.random() < DELIVERIES:
                sku = chance.choice(articles[-ON_SALE:]).sku
                shop.receive(uuid4(), {sku: chance.randint(1, 2 * MAX_UNITS)})

    with ThreadPoolExecutor(SHOPPERS) as pool:
        for each in [pool.submit(go_shopping, number) for number in range(SHOPPERS)]:
            each.result()
