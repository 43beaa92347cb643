"""The order board: its columns with their counts, and a page of the orders in one column."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.board.waits import Wait, board_url, list_oldest_wait, list_order_waits
from adminpanel.orders.selection import OrderFilterForm, list_filter_fields
from cassandra_db import PendingResult, page_key, page_token
from orders import board_queries, operations
from orders.board import OrderFilter
from orders.board_queries import BoardCounts
from orders.lifecycle import states
from orders.lifecycle.entities import BoardOrder, CappedCount
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from payments.gateways import METHODS
from pricing.delivery import list_all_methods
from web.types import StrOrPromise

PAGE_LENGTH = 25
# Columns that orders never leave list their newest orders first.
GROWING = frozenset(states.BOARD_COLUMNS) - frozenset(states.OPEN_BOARD_COLUMNS)
TO_PACK = "to_pack"
# To fill a page, a filter reads at most this many orders. The next page continues after the last order read.
MAX_LOOKED_AT = 2_000
# The board sorts at most this many of a column's oldest orders by their promised day.
MAX_SORTED = 500

NEWEST, OLDEST, PROMISED = "newest", "oldest", "promised"
SORT_LABELS = {
    OLDEST: gettext_lazy("Oldest first"),
    NEWEST: gettext_lazy("Newest first"),
    PROMISED: gettext_lazy("Late orders first"),
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
class Board:
    """The board with one open column. `next` is the next page's token.

    `looked_at` is the number of orders read, if a filter has read its limit of orders without filling the page; else 0.
    """

    view: BoardView
    tabs: tuple[BoardTab, ...]
    rows: tuple[BoardRow, ...]
    next: str
    fingerprint: str
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
    def total_label(self) -> str:
        """The number of listed orders, or "" if a filter makes it unknown."""
        tab = next(each for each in self.tabs if each.is_current)
        return "" if self.is_filtered else str(tab.count)

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
        return board_url(self.column)


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


class BoardReads:
    """The first reads of a board. A refresh starts only the one that says whether there is news."""

    def __init__(self, status: str, *, is_refresh: bool = False) -> None:
        self.counts = board_queries.prefetch_board_counts()
        self._days = {} if is_refresh else _prefetch_days({status, TO_PACK})

    def get_days(self, status: str) -> PendingResult:
        """Return the read of a column's days."""
        if status not in self._days:
            self._days |= _prefetch_days({status, TO_PACK})
        return self._days[status]


def _prefetch_days(columns: Iterable[str]) -> dict[str, PendingResult]:
    return {each: board_queries.prefetch_board_days(each) for each in columns}


def find_fingerprint(view: BoardView, counts: BoardCounts, now: datetime) -> str:
    """Return a hash of all that decides what a board shows. An open page sends it, and learns whether it is current."""
    parts = [
        view.url(after=view.after),
        ",".join(view.columns),
        *(f"{column}={counts.numbers[column]}:{at}" for column, at in counts.changed.items()),
        now.strftime("%H:%M"),  # it shows ages
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def get_board(
    view: BoardView, now: datetime, reads: BoardReads | None = None, seen: str = ""
) -> Board | None:
    """Return the board for a view, and the orders that need attention; None if its fingerprint is `seen`.

    Raises InvalidPageToken, CassandraUnavailable.
    """
    reads = reads or BoardReads(view.chosen.status)
    counts = operations.count_board_orders(reads.counts)
    fingerprint = find_fingerprint(view, counts, now)
    if fingerprint == seen:
        return None
    oldest = board_queries.prefetch_oldest_order(TO_PACK, reads.get_days(TO_PACK))
    read = _list_promised if view.sort == PROMISED else _list_by_time
    orders, following, looked_at = ([], "", 0) if view.is_refused else read(view, reads)
    tabs = tuple(
        BoardTab(
            key,
            _(label),
            counts.numbers[key],
            key == view.chosen.status,
            BoardView(OrderFilter(key), "", fields=view.fields).url(sort=""),
        )
        for key, label in states.BOARD_COLUMNS.items()
    )
    rows = tuple(BoardRow(order, is_late(order, now)) for order in orders)
    longest = list_oldest_wait(oldest.one() if oldest else None, now)
    waits = (*longest, *list_order_waits(counts))
    return Board(view, tabs, rows, following, fingerprint, looked_at, waits)


def _list_by_time(view: BoardView, reads: BoardReads) -> tuple[list[BoardOrder], str, int]:
    """Return a page of orders that match the filter, the next page's token, and Board.looked_at."""
    chosen, after, looked_at = view.chosen, view.after, 0
    found: list[BoardOrder] = []
    most = PAGE_LENGTH
    while True:
        read, after = board_queries.list_board_orders(
            chosen.status,
            after,
            most,
            newest_first=view.sort == NEWEST,
            has_day=chosen.has_day,
            reading=reads.get_days(chosen.status),
            is_short=chosen.is_empty,
        )
        if chosen.is_empty:
            return read, after, 0
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


def _list_promised(view: BoardView, reads: BoardReads) -> tuple[list[BoardOrder], str, int]:
    """Return a page of the oldest matching orders, sorted by promised day, the next page's token, and Board.looked_at."""
    chosen, list_name = view.chosen, f"Q15:{view.chosen.status}:{PROMISED}"
    (start,) = page_key(view.after, list_name) if view.after else (0,)
    read, more = board_queries.list_board_orders(
        chosen.status,
        "",
        MAX_SORTED,
        newest_first=False,
        has_day=chosen.has_day,
        reading=reads.get_days(chosen.status),
    )
    found = sorted(
        filter(chosen.matches, read),
        key=lambda order: (order.estimated_delivery or localdate(order.placed_at), order.placed_at),
    )
    following = start + PAGE_LENGTH
    token = page_token([following], list_name) if following < len(found) else ""
    return found[start:following], token, len(read) if more and not token else 0


def is_late(order: BoardOrder, now: datetime) -> bool:
    """Return whether an order has waited too long to be packed, or has missed its promised delivery day."""
    if order.status == "to_pack" and now - order.placed_at > states.LATE_AFTER:
        return True
    promised = order.estimated_delivery
    is_open = order.fulfilment != "delivered" and order.status in states.OPEN_BOARD_COLUMNS
    return bool(promised and is_open and localdate(now) > promised)


def list_choice(columns: Sequence[str]) -> list[tuple[str, Any, bool]]:
    """Return all order details that the board can show: each with its name, its heading, and whether it is shown."""
    return [(name, label, name in columns) for name, label in CHOICES.items()]
