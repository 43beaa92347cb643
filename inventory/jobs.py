"""What the worker does for stock: it finishes transfers, and lets the warehouses' lists follow the products."""

from datetime import datetime, timedelta
from functools import partial

from django.utils.translation import ngettext

from catalogue.jobs import COMPLETE_AFTER, MAX_AT_ONCE
from catalogue.operations import list_changed_products, retry_product
from inventory.operations import advance_open_transfers, follow_product
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

NAME = "stock"


def look_after_stock(now: datetime) -> str:
    """Finish what a crash has left of transfers, and let the warehouses' lists follow the products' SKUs and what is sold.

    One job for both: each further one costs an idle worker as much as what it does.
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
    """Return of how many products the lists were out of date."""
    position = get_position(NAME)
    since = datetime.fromisoformat(position) if position else now - timedelta(hours=1)
    until = now - COMPLETE_AFTER
    changed = list_changed_products(since, until)
    due = sorted((at, product_id) for product_id, at in changed.items() if since < at <= until)[
        :MAX_AT_ONCE
    ]
    count = 0
    for _at, product_id in due:
        with guard_row(f"stock lists of product {product_id}", partial(retry_product, product_id)):
            count += follow_product(product_id)
    if due:
        save_position(NAME, due[-1][0].isoformat())
    elif not position or until - since > MINUTE:
        save_position(NAME, until.isoformat())
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
