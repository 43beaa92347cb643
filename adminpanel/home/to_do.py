"""The to-do list: what waits for a member of staff. Each number leads to the page that lists exactly these rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import has_permission
from accounts.models import User
from adminpanel.board.pages import TO_PACK
from adminpanel.board.waits import Wait, list_order_waits
from adminpanel.moderation.queue import list_queue
from adminpanel.stock.low_stock import low_stock
from cassandra_db import Row, current_time, run_side_by_side
from cassandra_db.process_copies import RecentValue
from catalogue.staff_search import count_products_without_alt
from conversations.queries import find_label, get_labels
from conversations.rules import SHOP_MAILBOX
from conversations.states import WAITING_FOR_US
from jobs.progress import list_progress
from jobs.registry import list_jobs
from mail.queries import FAILED_COUNTED_FOR, count_failed_mails
from orders.board_queries import BoardCounts, prefetch_board_days, prefetch_oldest_order
from orders.lifecycle.entities import CappedCount

# To count the queues takes a statement a job and more, so a process does it this seldom.
QUEUE_SECONDS = 15.0


@dataclass(frozen=True)
class Queues:
    """How much waits in the queues of the whole shop, and the order that waits longest to be packed."""

    messages: int
    texts: CappedCount
    failed_mails: int
    delayed_jobs: int
    oldest: Row | None


def _read_queues() -> Queues:
    now = current_time()
    labels, progress, failed, texts, oldest = run_side_by_side(
        partial(get_labels, SHOP_MAILBOX),
        partial(list_progress, list_jobs(), now),
        partial(count_failed_mails, now),
        list_queue,
        _find_oldest,
    )
    return Queues(
        find_label(SHOP_MAILBOX, labels, f" {WAITING_FOR_US}").count,
        CappedCount(len(texts[0]), texts[1]),
        failed,
        sum(bool(each.problem) for each in progress),
        oldest,
    )


def _find_oldest() -> Row | None:
    reading = prefetch_oldest_order(TO_PACK, prefetch_board_days(TO_PACK))
    return reading.one() if reading else None


queues = RecentValue(_read_queues, QUEUE_SECONDS)


def list_waits(user: User, counts: BoardCounts | None) -> list[Wait]:
    """Return what waits and may be opened by a user. `counts` are the board's, or None. Raises CassandraUnavailable."""
    return [*(list_order_waits(counts) if counts else ()), *_list_other_waits(user)]


def _list_other_waits(user: User) -> Iterator[Wait]:
    for page, query, label, tone, count in (
        ("messages", "", _("Messages to answer"), "warn", lambda: queues.get().messages),
        ("reviews", "", _("Reviews and questions"), "warn", lambda: queues.get().texts),
        (
            *("mails", f"?days={FAILED_COUNTED_FOR}", _("Failed emails"), "bad"),
            lambda: queues.get().failed_mails,
        ),
        ("worker", "?problems=on", _("Delayed jobs"), "bad", lambda: queues.get().delayed_jobs),
        (
            *("products", "?no_alt=on", _("Products with alt text to confirm"), "calm"),
            count_products_without_alt,
        ),
    ):
        if has_permission(user, f"adminpanel.{page}") and (number := str(count())) != "0":
            yield Wait(label, number, reverse(f"adminpanel:{page}") + query, tone)
    if has_permission(user, "adminpanel.stock"):
        for each in low_stock.get():
            label = _("Low stock in %(warehouse)s") % {"warehouse": each.warehouse}
            yield Wait(label, str(CappedCount(each.count, each.has_more)), each.url)
