"""The to-do list: what waits for a member of staff. Each number leads to the page that lists exactly these rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.board.pages import TO_PACK
from adminpanel.board.waits import Wait
from adminpanel.moderation.queue import list_queue
from adminpanel.stock.low_stock import LowStock
from cassandra_db import Row, current_time
from cassandra_db.process_copies import RecentValue
from catalogue.staff_search import count_products_without_alt
from conversations.queries import find_label, get_labels
from conversations.rules import SHOP_MAILBOX
from conversations.states import WAITING_FOR_US
from jobs.progress import list_progress
from jobs.registry import list_jobs
from mail.queries import FAILED_COUNTED_FOR, list_failed_mails, prefetch_failed_days
from orders.board_queries import prefetch_board_days, prefetch_oldest_order
from orders.lifecycle.entities import CappedCount
from web.types import StrOrPromise

# To count a queue takes a statement a job and more, so a process does it this seldom.
QUEUE_SECONDS = 15.0

T = TypeVar("T")


@dataclass(frozen=True)
class Queue:
    """Work of the whole shop that waits on a page of the staff. A process keeps its number for some seconds."""

    page: str
    label: StrOrPromise
    recent: RecentValue[CappedCount]
    query: str = ""
    tone: str = "warn"

    def list_waits(self, count: CappedCount) -> list[Wait]:
        """Return what waits, if anything."""
        url = reverse(f"adminpanel:{self.page}") + self.query
        return [Wait(self.label, str(count), url, self.tone)] if count.number else []


def _keep(compute: Callable[[], T]) -> RecentValue[T]:
    return RecentValue(compute, QUEUE_SECONDS)


@_keep
def _messages() -> CappedCount:
    labels = get_labels(SHOP_MAILBOX)
    return CappedCount(find_label(SHOP_MAILBOX, labels, f" {WAITING_FOR_US}").count)


@_keep
def _texts() -> CappedCount:
    texts, has_more = list_queue()
    return CappedCount(len(texts), has_more)


@_keep
def _failed_mails() -> CappedCount:
    mails, has_more = list_failed_mails(prefetch_failed_days(current_time(), FAILED_COUNTED_FOR))
    return CappedCount(len(mails), has_more)


@_keep
def _delayed_jobs() -> CappedCount:
    progress = list_progress(list_jobs(), current_time())
    return CappedCount(sum(bool(each.problem) for each in progress))


def _count_alt_texts() -> CappedCount:
    return CappedCount(count_products_without_alt())


@_keep
def oldest_order() -> Row | None:
    """Return the order that waits longest to be packed. Raises CassandraUnavailable."""
    reading = prefetch_oldest_order(TO_PACK, prefetch_board_days(TO_PACK))
    return reading.one() if reading else None


_RECENT_FAILURES = f"?days={FAILED_COUNTED_FOR}"
QUEUES = (
    Queue("messages", gettext_lazy("Messages to answer"), _messages),
    Queue("reviews", gettext_lazy("Reviews and questions"), _texts),
    Queue("mails", gettext_lazy("Failed emails"), _failed_mails, _RECENT_FAILURES, "bad"),
    Queue("worker", gettext_lazy("Delayed jobs"), _delayed_jobs, "?problems=on", "bad"),
    Queue(
        "products",
        gettext_lazy("Products with alt text to confirm"),
        RecentValue(_count_alt_texts, 0),  # by the index, without Cassandra
        "?no_alt=on",
        "calm",
    ),
)


def list_low_stock_waits(found: list[LowStock]) -> list[Wait]:
    """Return the low stock of each warehouse."""
    return [
        Wait(
            _("Low stock in %(warehouse)s") % {"warehouse": each.warehouse},
            str(CappedCount(each.count, each.has_more)),
            each.url,
        )
        for each in found
    ]
