"""`manage.py load_demo`: fill the demo shop with products, stock, logins and orders."""

from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from typing import IO, Any, cast

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from analytics.operations import roll_up_changed_days
from cassandra_db import current_time
from demo import loader, mark
from demo.catalogue_data import CATEGORIES, PRODUCTS, QUESTIONS, REVIEWS
from demo.conversations import load_conversations
from demo.logins import LOGINS
from demo.orders import ORDER_COUNT, OrderPlan, load_orders, plan_orders
from demo.search_rules import load_search_rules
from demo.sensors import load_readings
from demo.visits import VISIT_DAYS, load_popularity, load_visits
from product_reports.operations import count_products

# The number of orders that are loaded at once while the shop is open, so that it stays fast.
_BESIDE_THE_SHOP = 2


class Command(BaseCommand):
    help = "Fill the demo shop. Run again, it adds only what is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--renew",
            action="store_true",
            help="save the products anew, whatever the staff has changed",
        )
        parser.add_argument(
            "--orders",
            type=int,
            default=ORDER_COUNT,
            help="how many orders there shall be, over 14 months",
        )
        parser.add_argument("--posts", type=int, metavar="N", help="load only the newest N posts")
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--newest", type=int, metavar="N", help="load only the newest N orders")
        part.add_argument(
            "--older-than",
            type=int,
            metavar="N",
            help="load only orders, all but the newest N, slowly while the shop is open",
        )

    def handle(
        self,
        *args: Any,
        renew: bool,
        orders: int,
        posts: int | None,
        newest: int | None,
        older_than: int | None,
        **options: Any,
    ) -> None:
        if not settings.DEMO:
            raise CommandError("This is no demo shop: set STOA_DEMO=true if it shall become one.")
        began, now = monotonic(), current_time()
        plans = plan_orders(now, orders)
        if older_than is not None:
            self._load_older(now, orders, plans, older_than, posts)
            return
        plans = plans[:newest]
        columns = (
            TextColumn("{task.description:<12}"),
            BarColumn(30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(file=cast("IO[str]", self.stdout._out))) as bars:

            def bar(what: str, total: int) -> loader.Step:
                task = bars.add_task(what, total=total)
                return lambda: bars.advance(task)

            loader.load_settings(now, bar("Settings", 5))
            loader.load_categories(bar("Categories", len(CATEGORIES)))
            loader.load_products(now, bar("Products", len(PRODUCTS)), renew=renew)
            loader.load_stock(now, bar("Stock", len(PRODUCTS)))
            loader.load_transfers(now, bar("Transfers", len(loader.TRANSFERS)))
            loader.load_logins(now, bar("Logins", len(LOGINS)))
            load_search_rules(now)
            loader.load_promotions(now, bar("Promotions", len(loader.PROMOTIONS)))
            left_out = load_orders(now, plans, bar("Orders", len(plans))) if plans else 0
            loader.load_reviews(now, bar("Reviews", len({each.slug for each in REVIEWS})))
            loader.load_questions(now, bar("Questions", len({each.slug for each in QUESTIONS})))
            load_visits(now, bar("Visits", VISIT_DAYS))
            load_readings(now)
            load_popularity(now, bar("Popularity", 1))
            loader.rebuild_derived(now, bar("Lists", 5))
            loader.do_again_if_late(lambda: count_products(now))
        if newest is None:  # otherwise they come before the older orders, while the shop is open
            load_conversations(now, plans)
            _load_posts(now, posts)
            self._note(mark.OLDER, now, orders, posts)
        self._note(mark.FILLED, now, orders, posts)
        variants = sum(len(product.variants) for product in PRODUCTS)
        self.stdout.write(
            f"The demo shop has {len(PRODUCTS)} products in {variants} variants, {len(CATEGORIES)} categories"
            f" and {len(plans) - left_out} orders ({monotonic() - began:.0f} s)."
        )
        for login in LOGINS:
            self.stdout.write(f"  {login.label:<8} {login.email}   password  {login.password}")

    def _load_older(
        self, now: datetime, orders: int, plans: Sequence[OrderPlan], newest: int, posts: int | None
    ) -> None:
        """Load what comes after the newest orders, slowly while the shop is open."""
        began = monotonic()
        load_conversations(now, plans)
        _load_posts(now, posts)
        left_out = load_orders(now, plans[newest:], lambda: None, threads=_BESIDE_THE_SHOP)
        roll_up_changed_days(now)
        count_products(now)
        self._note(mark.OLDER, now, orders, posts)
        self.stdout.write(
            f"The demo shop has {len(plans[newest:]) - left_out} older orders ({monotonic() - began:.0f} s)."
        )

    def _note(self, part: str, now: datetime, orders: int, posts: int | None) -> None:
        if orders == ORDER_COUNT and posts is None:
            mark.note_filled(part, now)


def _load_posts(now: datetime, count: int | None) -> None:
    if apps.is_installed("posts"):
        from demo.posts import load_posts

        load_posts(now, count)
