"""What the worker does for stock: it finishes transfers, and lets the warehouses' lists follow the products."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from catalogue.jobs import COMPLETE_AFTER, MAX_AT_ONCE
from catalogue.operations import list_changed_products
from inventory.operations import advance_open_transfers, follow_product
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE
from jobs.registry import Job, describe_count

TRANSFERS, LISTS = "stock transfers", "stock lists"


def finish_transfers(now: datetime) -> str:
    """Finish what a crash has left of transfers between warehouses."""
    count = advance_open_transfers(now)
    return describe_count(
        ngettext("%(count)s transfer finished", "%(count)s transfers finished", count), count
    )


def update_stock_lists(now: datetime) -> str:
    """Bring the warehouses' lists up to date with the SKUs of products, and with what of them is sold."""
    position = get_position(LISTS)
    since = datetime.fromisoformat(position) if position else now - timedelta(hours=1)
    until = now - COMPLETE_AFTER
    changed = list_changed_products(since, until)
    due = sorted((at, product_id) for product_id, at in changed.items() if since < at <= until)[
        :MAX_AT_ONCE
    ]
    count = sum(follow_product(product_id) for _, product_id in due)
    if due:
        save_position(LISTS, due[-1][0].isoformat())
    elif not position or until - since > MINUTE:
        save_position(LISTS, until.isoformat())
    return describe_count(
        ngettext("%(count)s product listed", "%(count)s products listed", count), count
    )


JOBS = [
    Job(TRANSFERS, timedelta(minutes=1), finish_transfers, idle_every=timedelta(minutes=5)),
    Job(
        LISTS,
        timedelta(seconds=10),
        update_stock_lists,
        normal_lag=COMPLETE_AFTER + MINUTE,
        idle_every=timedelta(minutes=5),
    ),
]
