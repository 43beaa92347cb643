"""The worker's job for watched prices: it follows the changes of products."""

from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from catalogue.jobs import COMPLETE_AFTER, list_due_products
from catalogue.operations import retry_product
from jobs.leases import save_position
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count
from jobs.rows import guard_row
from price_alerts.operations import follow_product

NAME = "price alerts"
# The watchers of one run, after which the position is saved. A run rests most of its time, so it has a loop of its own.
MAX_AT_ONCE = 1000


def follow_prices(now: datetime) -> str:
    """Tell watchers of lower prices, product by product. After MAX_AT_ONCE watchers the next run goes on."""
    told, reached = 0, None
    for at, product_id in list_due_products(NAME, now):
        with guard_row(f"watchers of product {product_id}", partial(retry_product, product_id)):
            count, is_done = follow_product(product_id, now, MAX_AT_ONCE - told)
            told += count
            if not is_done:
                break
        reached = at
        if told >= MAX_AT_ONCE:
            break
    if reached:
        save_position(NAME, reached.isoformat())
    return describe_count(ngettext("%(count)s watcher", "%(count)s watchers", told), told)


JOBS = [
    Job(
        NAME,
        timedelta(seconds=30),
        follow_prices,
        normal_lag=COMPLETE_AFTER + MINUTE,
        idle_every=timedelta(minutes=5),
        has_own_loop=True,
    )
]
