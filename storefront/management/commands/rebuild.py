"""`manage.py rebuild`: rebuild derived data now, instead of waiting for the worker."""

from argparse import ArgumentParser
from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.operations.search_terms import rebuild_account_search
from cassandra_db import current_time
from catalogue import jobs
from catalogue.index_files import SearchIndexBusy
from catalogue.search_index import build_index
from orders.rebuild import rebuild_order_lists, rebuild_user_stats
from storefront.jobs import rebuild_feeds, rebuild_related_products, rebuild_sitemap

REBUILDS: dict[str, Callable[[datetime], str]] = {
    "index": lambda now: f"{build_index()} products",
    "suggestions": jobs.rebuild_suggestions,
    "front-page": jobs.rebuild_front_page,
    "related": rebuild_related_products,
    "sitemap": rebuild_sitemap,
    "feeds": rebuild_feeds,
    "order-lists": rebuild_order_lists,
    "customer-sums": rebuild_user_stats,
    "account-search": rebuild_account_search,
}


class Command(BaseCommand):
    help = "Make the search index, suggestions, front page, related products, the sitemap, the feeds, the lists of orders, the sums of customers or the search for customers anew; without a name, all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", nargs="*", choices=[*REBUILDS, []], metavar="|".join(REBUILDS))

    def handle(self, *args: Any, what: list[str], **options: Any) -> None:
        for name in what or REBUILDS:
            began = monotonic()
            try:
                done = REBUILDS[name](current_time())
            except SearchIndexBusy as error:
                raise CommandError(str(error)) from error
            self.stdout.write(f"{name}: {done} ({monotonic() - began:.1f} s)")
