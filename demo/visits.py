"""Makes up the demo shop's visits: about a hundred visitors a day, who view products, search and buy."""

from datetime import date, datetime, timedelta
from random import Random
from uuid import UUID

from analytics.clicks import FURTHER_DOWN
from analytics.days import shop_day
from analytics.kinds import CLICK, KINDS
from analytics.operations import roll_up_changed_days
from analytics.popularity import update_popularity
from analytics.queries import prefetch_visits
from analytics.roll_up import ALL_SUBJECTS, Tally, write_visits_of_day
from cassandra_db import current_microseconds
from catalogue import queries
from catalogue.entities import Product
from demo.loader import Step, do_again_if_late, run_in_parallel

VISIT_DAYS = 29

# Search words with results, and words without results.
SEARCHED = ("mug", "lamp", "notebook", "wool", "jumper", "towel", "candle", "desk")
SEARCHED_IN_VAIN = ("yoga mat", "umbrella")


def load_visits(now: datetime, step: Step) -> None:
    """Add visits to each of the last VISIT_DAYS days that has no visits."""
    on_sale = [product for product in queries.iterate_products() if product.is_on_sale(now)]
    on_sale.sort(key=lambda each: each.product_id)
    today = shop_day(now)
    days = [today - timedelta(days=number) for number in range(1, VISIT_DAYS + 1)]
    reading = prefetch_visits(days[-1], days[0])
    known = {row.day.date() for pending in reading for row in pending.rows()}

    def load(day: date) -> None:
        if on_sale and day not in known:
            write_visits_of_day(day, _count_visits(day, on_sale), current_microseconds())

    run_in_parallel(load, days, step)


def _count_visits(day: date, on_sale: list[Product]) -> dict[str, dict[str, Tally]]:
    """Return the tallies of a day's visits, keyed by kind and subject. They are the same at each load."""
    chance = Random(f"visits {day}")  # noqa: S311 nothing secret
    # Some products are viewed much more often than others.
    liked = [Random(f"{each.product_id}").paretovariate(1.6) for each in on_sale]  # noqa: S311
    by_kind: dict[str, dict[str, Tally]] = {kind: {} for kind in KINDS}

    def count(kind: str, subject: str, visitor: bytes, category_id: UUID | None = None) -> None:
        for each in {subject, ALL_SUBJECTS} - {""}:
            tally = by_kind[kind].setdefault(each, Tally())
            tally.events += 1
            tally.empty += subject in SEARCHED_IN_VAIN
            tally.category_id = category_id if each == subject else None
            tally.visitors.add(visitor)

    for _ in range(chance.randint(90, 170)):
        visitor = chance.randbytes(8)
        seen = chance.choices(on_sale, liked, k=min(1 + int(chance.expovariate(0.5)), 9))
        for product in seen:
            count("product", str(product.product_id), visitor, product.category_id)
        if chance.random() < 0.6:
            count("category", str(seen[0].category_id), visitor)
        if chance.random() < 0.3:
            words = chance.choice((*SEARCHED, *SEARCHED_IN_VAIN))
            count("search", words, visitor)
            if words in SEARCHED and chance.random() < 0.7:
                place = 1 + int(chance.expovariate(0.3))
                count(CLICK, str(min(place, FURTHER_DOWN)), visitor)
        if chance.random() < 0.16:
            count("add", str(seen[-1].product_id), visitor, seen[-1].category_id)
            if chance.random() < 0.6:
                count("checkout", "", visitor)
                if chance.random() < 0.7:
                    count("order", "", visitor)
    return by_kind


def load_popularity(now: datetime, step: Step) -> None:
    """Compute the products' popularity from the loaded visits and orders."""
    do_again_if_late(lambda: roll_up_changed_days(now))
    products = do_again_if_late(lambda: list(queries.iterate_products()))
    do_again_if_late(lambda: update_popularity(products, now, len(products)))
    step()
