"""The order board: its columns with their counts, and a page of the orders in one column."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.access import has_permission
from accounts.models import User
from adminpanel.orders.selection import OrderFilterForm, list_filter_fields
from cassandra_db import current_time, page_key, page_token
from cassandra_db.session import keyspace_name
from conversations.queries import find_label, labels_from_rows, prefetch_labels
from conversations.rules import SHOP_MAILBOX
from conversations.states import WAITING_FOR_US
from jobs.progress import list_progress
from jobs.registry import list_jobs
from mail.queries import count_failed_mails
from orders import board_queries
from orders.board import OrderFilter
from orders.lifecycle import states
from orders.lifecycle.entities import BoardOrder, CappedCount
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from payments.gateways import METHODS
from pricing.delivery import list_all_methods
from web.types import StrOrPromise

T = TypeVar("T")
PAGE_LENGTH = 25
# Columns that orders never leave list their newest orders first. The counts are cached for a minute.
GROWING = frozenset(states.BOARD_COLUMNS) - frozenset(states.OPEN_BOARD_COLUMNS)
GROWING_SECONDS = 60.0
TROUBLE_SECONDS = 15.0
# To fill a page, a filter reads at most this many orders. The next page continues after the last order read.
MAX_LOOKED_AT = 2_000
# The board sorts at most this many of a column's oldest orders by their promised day.
MAX_SORTED = 500

NEWEST, OLDEST, PROMISED = "newest", "oldest", "promised"
SORT_LABELS = {
    OLDEST: gettext_lazy("Oldest first"),
    NEWEST: gettext_lazy("Newest first"),
    PROMISED: gettext_lazy("Late first"),
}
# The details of an order that staff can choose, and the default choice.
CHOICES: dict[str, StrOrPromise] = {
    "placed": gettext_lazy("Placed"),
    "customer": gettext_lazy("Customer"),
    "email": gettext_lazy("Email"),
    "country": gettext_lazy("Country"),
    "items": gettext_lazy("Items"),
    "skus": gettext_lazy("SKUs"),
    "tags": gettext_lazy("Tags"),
    "delivery": gettext_lazy("Delivery"),
    "promised": gettext_lazy("Promised until"),
    "paid_by": gettext_lazy("Paid by"),
    "total": gettext_lazy("Total"),
    "status": gettext_lazy("Status"),
}
USUAL_CHOICE = ("placed", "customer", "items", "tags", "total", "status")
NUMERIC = frozenset(("items", "total"))


@dataclass(frozen=True)
class BoardTab:
    """A tab of the board: it opens one of the board's columns."""

    column: str
    label: str
    count: CappedCount | None
    is_current: bool
    url: str


@dataclass(frozen=True)
class BoardRow:
    """A row of the board's list: an order, and whether it is late."""

    order: BoardOrder
    is_late: bool

    @property
    def payment_label(self) -> str:
        return staff_label("payment", self.order.payment)

    @property
    def payment_tone(self) -> str:
        return ORDER_LABELS["payment"][self.order.payment].tone

    @property
    def fulfilment_label(self) -> str:
        return staff_label("status", self.order.fulfilment, is_pickup=self.order.is_pickup)

    @property
    def delivery(self) -> str:
        """The present name of the order's delivery method, or the method's code if the method no longer exists."""
        code = self.order.delivery_method
        return list_all_methods().get(code, code)

    @property
    def paid_by(self) -> str:
        found = METHODS.get(self.order.payment_method)
        return str(found.name) if found else ""


@dataclass(frozen=True)
class BoardView:
    """A user's view of the board: the filter, the sort order, the shown details (`columns`), and the page token (`after`).

    `fields` are the filter and the sort order as they are written in the address.
    """

    chosen: OrderFilter
    sort: str
    after: str = ""
    columns: tuple[str, ...] = USUAL_CHOICE
    fields: tuple[tuple[str, str], ...] = ()
    is_refused: bool = False  # a filter is invalid: nothing is listed

    def url(self, **changes: str) -> str:
        """Return the board's address with some of its fields changed. A change to "" removes its field from the address."""
        fields = {"column": self.chosen.status, **dict(self.fields), **changes}
        sent = urlencode({name: value for name, value in fields.items() if value})
        return f"{reverse('adminpanel:board')}?{sent}"


@dataclass(frozen=True)
class Wait:
    """A kind of work that waits for the staff: its name, its amount, and the address of the page for this work."""

    label: StrOrPromise
    count: str
    url: str
    tone: str = "warn"


@dataclass(frozen=True)
class Board:
    """The board with one open column. `next` is the next page's token.

    `looked_at` is the number of orders read, if a filter has read its limit of orders without filling the page; else 0.
    """

    view: BoardView
    tabs: tuple[BoardTab, ...]
    rows: tuple[BoardRow, ...]
    next: str
    now: datetime
    looked_at: int = 0
    waits: tuple[Wait, ...] = ()

    @property
    def column(self) -> str:
        return self.view.chosen.status

    @property
    def label(self) -> str:
        return _(states.BOARD_COLUMNS[self.column])

    @property
    def sort_label(self) -> str:
        return str(SORT_LABELS[self.view.sort])

    @property
    def is_filtered(self) -> bool:
        return not self.view.chosen.is_empty

    @property
    def shown(self) -> list[tuple[str, StrOrPromise, bool]]:
        """The details that the user chose to see of each order: name, heading, whether it is a number."""
        return [(name, CHOICES[name], name in NUMERIC) for name in self.view.columns]

    @property
    def selection(self) -> tuple[tuple[str, str], ...]:
        """The filter as hidden fields, for a form that acts on all orders that the filter finds."""
        return (("column", self.column), *(each for each in self.view.fields if each[0] != "sort"))

    @property
    def first_url(self) -> str:
        return self.view.url()

    @property
    def next_url(self) -> str:
        return self.view.url(after=self.next)

    @property
    def own_url(self) -> str:
        return self.view.url(after=self.view.after)

    @property
    def all_url(self) -> str:
        return f"{reverse('adminpanel:board')}?column={self.column}"

    @property
    def fingerprint(self) -> str:
        """A hash of everything that the board shows. An open page sends it, and learns whether it is current."""
        parts = [
            *(f"{tally.column}={tally.count}" for tally in self.tabs),
            *(f"{row.order.order_id}:{row.order.version}:{row.is_late}" for row in self.rows),
            ",".join(self.view.columns),
            *(f"{wait.label}={wait.count}" for wait in self.waits),
            self.next and "more",
            self.now.strftime("%H:%M"),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def parse_view(form: OrderFilterForm, data: QueryDict, columns: tuple[str, ...]) -> BoardView:
    """Return the view that an address describes. If its filter is invalid, the view keeps it, and lists no orders."""
    chosen = form.build_filter()
    usual = NEWEST if chosen.status in GROWING else OLDEST
    sort = data.get("sort", "")
    sort = sort if sort in SORT_LABELS else usual
    fields = [each for each in list_filter_fields(data) if each[0] != "column"]
    if sort != usual:
        fields.append(("sort", sort))
    after = data.get("after", "")[:500]
    return BoardView(chosen, sort, after, columns, tuple(fields), form.is_refused)


def parse_choice(text: str) -> tuple[str, ...]:
    """Return the order details named in a text ("placed,total"), sorted as on the board; for "", the usual details."""
    names = text.split(",")
    return tuple(name for name in CHOICES if name in names) or USUAL_CHOICE


def get_board(view: BoardView, user: User, now: datetime) -> Board:
    """Return the board for a view, and the work that waits for this user. Raises InvalidPageToken, CassandraUnavailable."""
    read = _list_promised if view.sort == PROMISED else _list_by_time
    orders, following, looked_at = ([], "", 0) if view.is_refused else read(view)
    counts = {**_growing_counts.get(), **board_queries.count_board_orders()}
    tabs = tuple(
        BoardTab(
            key,
            _(label),
            counts.get(key),
            key == view.chosen.status,
            BoardView(OrderFilter(key), "", fields=view.fields).url(sort=""),
        )
        for key, label in states.BOARD_COLUMNS.items()
    )
    rows = tuple(BoardRow(order, is_late(order, now)) for order in orders)
    waits = _list_waits(counts, user, now)
    return Board(view, tabs, rows, following, now, looked_at, tuple(waits))


def _list_by_time(view: BoardView) -> tuple[list[BoardOrder], str, int]:
    """Return a page of orders that match the filter, the next page's token, and Board.looked_at."""
    chosen, after, looked_at = view.chosen, view.after, 0
    found: list[BoardOrder] = []
    most = PAGE_LENGTH
    while True:
        read, after = board_queries.list_board_orders(
            chosen.status, after, most, newest_first=view.sort == NEWEST, has_day=chosen.has_day
        )
        looked_at += len(read)
        fitting = [order for order in read if chosen.matches(order)]
        room = PAGE_LENGTH - len(found)
        found += fitting[:room]
        if len(fitting) > room:
            # The next page begins after the last order of this one.
            return found, board_queries.board_token(found[-1], newest_first=view.sort == NEWEST), 0
        if not after or len(found) == PAGE_LENGTH:
            return found, after, 0
        if looked_at >= MAX_LOOKED_AT:
            return found, after, looked_at
        most = MAX_SORTED


def _list_promised(view: BoardView) -> tuple[list[BoardOrder], str, int]:
    """Return a page of the oldest matching orders, sorted by promised day, the next page's token, and Board.looked_at."""
    chosen, list_name = view.chosen, f"Q15:{view.chosen.status}:{PROMISED}"
    (start,) = page_key(view.after, list_name) if view.after else (0,)
    read, more = board_queries.list_board_orders(
        chosen.status, "", MAX_SORTED, newest_first=False, has_day=chosen.has_day
    )
    found = sorted(
        filter(chosen.matches, read),
        key=lambda order: (order.estimated_delivery or localdate(order.placed_at), order.placed_at),
    )
    following = start + PAGE_LENGTH
    token = page_token([following], list_name) if following < len(found) else ""
    return found[start:following], token, len(read) if more and not token else 0


class _Remembered(Generic[T]):
    """Keeps a computed value for some seconds, then computes it anew. Two threads may compute it at the same time."""

    def __init__(self, seconds: float, find_out: Callable[[], T]) -> None:
        self._seconds, self._find_out = seconds, find_out
        self._known: tuple[str, float, T] | None = None

    def get(self) -> T:
        if self._known:
            keyspace, found_at, found = self._known
            if keyspace == keyspace_name() and monotonic() - found_at < self._seconds:
                return found
        found = self._find_out()
        self._known = keyspace_name(), monotonic(), found
        return found


# The numbers of conversations that wait for us, of mails that failed recently, and of jobs with problems.
_trouble = _Remembered(TROUBLE_SECONDS, lambda: _count_trouble(current_time()))
_growing_counts = _Remembered(
    GROWING_SECONDS, lambda: board_queries.count_board_orders(tuple(GROWING))
)


def _count_trouble(now: datetime) -> tuple[int, int, int]:
    labels = prefetch_labels(SHOP_MAILBOX)
    problems = sum(bool(each.problem) for each in list_progress(list_jobs(), now))
    failed = count_failed_mails(now)
    known = labels_from_rows(SHOP_MAILBOX, labels.rows())
    return find_label(SHOP_MAILBOX, known, f" {WAITING_FOR_US}").count, failed, problems


def is_late(order: BoardOrder, now: datetime) -> bool:
    """Return whether an order has waited too long to be packed, or has missed its promised delivery day."""
    if order.status == "to_pack" and now - order.placed_at > states.LATE_AFTER:
        return True
    promised = order.estimated_delivery
    is_open = order.fulfilment != "delivered" and order.status in states.OPEN_BOARD_COLUMNS
    return bool(promised and is_open and localdate(now) > promised)


def _list_waits(counts: Mapping[str, CappedCount], user: User, now: datetime) -> list[Wait]:
    """Return a user's waiting work, led by the order that waits longest to be packed. Raises CassandraUnavailable."""
    found = []
    for column, label, tone in (
        ("late", _("Late"), "bad"),
        ("payment_problem", _("Payment problems"), "bad"),
        ("returns_waiting", _("Returns to answer"), "warn"),
        ("on_hold", _("On hold"), "warn"),
    ):
        if (count := counts[column]).number:
            url = f"{reverse('adminpanel:board')}?column={column}"
            found.append(Wait(label, str(count), url, tone))
    oldest, _following = board_queries.list_board_orders("to_pack", "", 1)
    if oldest and (waited := now - oldest[0].placed_at) > timedelta(hours=1):
        url = reverse("adminpanel:order", args=(oldest[0].number,))
        found.insert(0, Wait(_("Oldest to pack"), _age(waited), url, "calm"))
    waiting, failed, problems = _trouble.get()
    for page, label, number, tone in (
        ("messages", _("Messages to answer"), waiting, "warn"),
        ("mails", _("Failed mails"), failed, "bad"),
        ("worker", _("Jobs behind"), problems, "bad"),
    ):
        if number and has_permission(user, f"adminpanel.{page}"):
            found.append(Wait(label, str(number), reverse(f"adminpanel:{page}"), tone))
    return found


def _age(waited: timedelta) -> str:
    hours = waited // timedelta(hours=1)
    if hours < 48:
        return _("%(count)s h") % {"count": hours}
    return _("%(count)s days") % {"count": hours // 24}


def list_choice(columns: Sequence[str]) -> list[tuple[str, Any, bool]]:
    """Return all order details that the board can show: each with its name, its heading, and whether it is shown."""
    return [(name, label, name in columns) for name, label in CHOICES.items()]
