"""The jobs of stock: finish transfers, and adapt the warehouses' lists to changed products."""

from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from catalogue.jobs import COMPLETE_AFTER, list_due_products
from catalogue.operations import retry_product
from inventory.operations import advance_open_transfers, follow_product
from jobs.leases import save_position
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

NAME = "stock"


def look_after_stock(now: datetime) -> str:
    """Finish interrupted transfers, and adapt the warehouses' lists to changed SKUs and statuses of products.

    Both share one job, because each job costs an idle worker as much as this work.
    """
    finished = advance_open_transfers(now)
    listed = _update_lists(now)
    said = [
        describe_count(
            ngettext("%(count)s transfer finished", "%(count)s transfers finished", finished),
            finished,
        ),
        describe_count(
            ngettext("%(count)s product listed", "%(count)s products listed", listed), listed
        ),
    ]
    return ", ".join(filter(None, said))


def _update_lists(now: datetime) -> int:
    """Update the warehouses' lists; return the number of products whose rows were outdated."""
    due, count = list_due_products(NAME, now), 0
    for _at, product_id in due:
        with guard_row(f"stock lists of product {product_id}", partial(retry_product, product_id)):
            count += follow_product(product_id)
    if due:
        save_position(NAME, due[-1][0].isoformat())
    return count


JOBS = [
    Job(
        NAME,
        timedelta(seconds=30),
        look_after_stock,
        normal_lag=COMPLETE_AFTER + MINUTE,
        idle_every=timedelta(minutes=5),
    )
]
