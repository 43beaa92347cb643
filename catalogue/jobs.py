"""The catalogue's jobs, which update everything that is derived from products."""

import hashlib
import logging
import socket
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext, ngettext

from catalogue import bulk_changes, operations, queries
from catalogue.models import UPLOAD_TTL
from catalogue.search_index import must_update_index, update_index
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.months import list_recent_months
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

log = logging.getLogger(__name__)
LISTS = "catalogue lists"
# A change is recorded before it is written. After this time the write has succeeded or failed; jobs follow the change either way.
COMPLETE_AFTER = timedelta(seconds=10)
MAX_AT_ONCE = 500
SCHEDULE = "catalogue schedule"
CATEGORIES = "categories"
# After this time every process has dropped its older copy of the tree, so new saves put cards where the present tree says.
TREE_SETTLED = timedelta(seconds=2 * queries.CURRENT_TREE.max_seconds)
# Rows can be written late into a minute, so each run reads the last minutes anew.
LATE = 2 * MINUTE
MAX_MINUTES_AT_ONCE = 1500
# For how long after the begin of a minute it is asked each second for products that change in it.
ASK_FOR = timedelta(seconds=5)
# The products of one run: some ten seconds of work, so that the worker's other jobs get their turn.
MAX_CHANGED_AT_ONCE = 300
MAX_DECODED_AT_ONCE = 100
DECODING_SECONDS = 10.0


def update_search_index(now: datetime) -> str:
    """Bring this host's search index up to date."""
    update = update_index(now)
    values = {"count": update.count, "seconds": f"{update.oldest.total_seconds():.1f}"}
    if update.built_because:
        text = gettext("%(reason)s. Built a new index of %(count)s products")
        return text % (values | {"reason": update.built_because})
    text = ngettext(
        "%(count)s product indexed, %(seconds)s s after its change",
        "%(count)s products indexed, %(seconds)s s after the first change",
        update.count,
    )
    # What is indexed again after its write must have ended is no news.
    return text % values if update.oldest else ""


def update_lists(now: datetime) -> str:
    """Update cards, suggestions, related products and the front page after changes of products."""
    due = list_due_products(LISTS, now)
    if not due:
        return ""
    for _, product_id in due:
        with _guard_product(product_id):
            operations.refresh_cards(product_id)
    products = queries.get_products_at_quorum((product_id for _, product_id in due), _guard_product)
    for product in products.values():
        with _guard_product(product.product_id):
            operations.refresh_prefixes(product)
            operations.refresh_related(product)
    operations.refresh_featured(products.values())
    save_position(LISTS, due[-1][0].isoformat())
    return describe_count(
        ngettext(
            "Lists of %(count)s product updated", "Lists of %(count)s products updated", len(due)
        ),
        len(due),
    )


def list_due_products(job: str, now: datetime) -> list[tuple[datetime, UUID]]:
    """Return the next products that changed after the moment up to which a job is done, each with its time, earliest first.

    If there are none, store a later moment, so that the next run reads fewer changes. Raises CassandraUnavailable.
    """
    position = get_position(job)
    since = datetime.fromisoformat(position) if position else now - timedelta(hours=1)
    until = now - COMPLETE_AFTER
    changed = operations.list_changed_products(since, until)
    due = sorted((at, product_id) for product_id, at in changed.items() if since < at <= until)
    if not due and (not position or until - since > MINUTE):
        save_position(job, until.isoformat())
    return due[:MAX_AT_ONCE]


def _guard_product(product_id: UUID) -> AbstractContextManager[None]:
    return guard_row(
        f"lists of product {product_id}", partial(operations.retry_product, product_id)
    )


def follow_schedule(now: datetime) -> str:
    """Update the lists for products whose sale or price begins or ends by itself."""
    position = get_position(SCHEDULE)
    since = datetime.fromisoformat(position) if position else now - timedelta(days=1)
    minutes = minutes_between(since - LATE, now)[:MAX_MINUTES_AT_ONCE]
    due = operations.list_scheduled_products(minutes, MAX_AT_ONCE)[:MAX_AT_ONCE]
    # The index need not wait until the lists of all these products are written.
    for product_id in {product_id for _, product_id in due}:
        operations.record_product_change(product_id, now)
    for minute, product_id in due:
        postpone = partial(operations.postpone_schedule, minute, product_id)
        with guard_row(f"schedule of product {product_id}", postpone):
            operations.follow_schedule(minute, product_id)
    # If the run was full, more rows may be left. The next run no longer finds the finished rows.
    if len(due) < MAX_AT_ONCE and minutes[-1] != since:
        save_position(SCHEDULE, minutes[-1].isoformat())
    return describe_count(
        ngettext(
            "%(count)s scheduled product changed", "%(count)s scheduled products changed", len(due)
        ),
        len(due),
    )


def has_scheduled(now: datetime) -> bool:
    """Return whether a product changes in this minute, of which all rows are written before it begins, or moments later.

    The next scheduled run finds the others.
    """
    minute = floor_to_minute(now)
    return now - minute < ASK_FOR and bool(operations.list_scheduled_products([minute], 1))


def follow_categories(now: datetime) -> str:
    """Update the products of renamed, moved or reordered categories, some products in each run."""
    due = [
        node
        for node in queries.get_category_tree_at_quorum().nodes
        if node.changed_at and node.changed_at <= now - TREE_SETTLED
    ]
    if not due:
        return ""
    queries.clear_category_cache()
    for node in sorted(due, key=lambda each: each.changed_at or now):
        with guard_row(f"category {node.category_id}"):
            count = operations.follow_category(node, MAX_AT_ONCE)
            text = ngettext(
                "%(count)s product of %(name)s updated",
                "%(count)s products of %(name)s updated",
                count,
            )
            return text % {"count": count, "name": node.name}
    return ""


def go_on_with_bulk_changes(now: datetime) -> str:
    """Continue the bulk changes of products, oldest first."""
    count = bulk_changes.STORE.go_on(now, MAX_CHANGED_AT_ONCE, bulk_changes.run_change)
    return describe_count(
        ngettext("%(count)s product edited in bulk", "%(count)s products edited in bulk", count),
        count,
    )


def has_bulk_changes(now: datetime) -> bool:
    """Return whether a recent bulk change waits. The next scheduled run finds the undo of an older change."""
    return bool(bulk_changes.list_unfinished(list_recent_months(now)))


def decode_uploads(now: datetime) -> str:
    """Decode uploaded pictures for DECODING_SECONDS, oldest first. The last error is raised after the other uploads."""
    days = [now.date() - timedelta(days=age) for age in range(UPLOAD_TTL // (24 * 3600), -1, -1)]
    due = queries.list_waiting_uploads(days, MAX_DECODED_AT_ONCE)[:MAX_DECODED_AT_ONCE]
    count, failure, until = 0, None, monotonic() + DECODING_SECONDS
    for row in due:
        try:
            count += operations.decode_upload(row.product_id, row.upload_id, now)
        except Exception as error:  # noqa: BLE001 -- each storage has its own; the last one is raised below
            log.warning("upload %s of %s: %s", row.upload_id, row.product_id, error)
            failure = error
        if monotonic() > until:
            break
    if failure:
        raise failure
    return describe_count(
        ngettext("%(count)s picture decoded", "%(count)s pictures decoded", count), count
    )


def has_uploads(now: datetime) -> bool:
    """Return whether an upload of today waits. The next scheduled run finds older ones."""
    return bool(queries.list_waiting_uploads([now.date()], 1))


def sweep_incoming(now: datetime) -> str:
    """Delete the raw files of uploads that were not decoded within a day."""
    count = operations.sweep_incoming(now)
    return describe_count(
        ngettext("%(count)s raw file deleted", "%(count)s raw files deleted", count), count
    )


def rebuild_suggestions(now: datetime) -> str:
    """Rebuild the suggestions of the search field."""
    return f"{operations.rebuild_prefixes(queries.iterate_products())} prefixes"


def rebuild_front_page(now: datetime) -> str:
    """Choose the cards of the front page from all products."""
    return f"{operations.rebuild_featured(queries.iterate_products())} cards"


def host_job_name(name: str) -> str:
    """Return the name of a job that runs on each host, because it writes files of the host."""
    directory = hashlib.blake2b(str(settings.SEARCH_INDEX_DIR).encode(), digest_size=4).hexdigest()
    return f"{name} of {socket.gethostname()} {directory}"


JOBS = [
    Job(
        host_job_name("search index"),
        timedelta(seconds=2),
        update_search_index,
        idle_every=timedelta(minutes=1),
        has_work=must_update_index,
        has_own_loop=True,
    ),
    Job(
        LISTS,
        timedelta(seconds=5),
        update_lists,
        normal_lag=COMPLETE_AFTER + MINUTE,
        idle_every=timedelta(seconds=30),
    ),
    Job(
        SCHEDULE,
        timedelta(seconds=1),
        follow_schedule,
        normal_lag=2 * MINUTE,
        idle_every=2 * MINUTE,
        has_work=has_scheduled,
        has_own_loop=True,
    ),
    Job(CATEGORIES, timedelta(seconds=5), follow_categories, idle_every=timedelta(minutes=1)),
    Job(
        "bulk changes",
        timedelta(seconds=10),
        go_on_with_bulk_changes,
        idle_every=timedelta(minutes=2),
        has_work=has_bulk_changes,
    ),
    Job(
        "uploads",
        timedelta(seconds=5),
        decode_uploads,
        idle_every=timedelta(minutes=2),
        has_work=has_uploads,
    ),
    Job("incoming files", timedelta(hours=1), sweep_incoming),
    Job("front page", timedelta(hours=1), rebuild_front_page),
    Job("suggestions", timedelta(days=1), rebuild_suggestions),
]
