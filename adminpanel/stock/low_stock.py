"""Low stock: numbers on Home, a notice above the products, and a daily mail to subscribers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import ngettext

from accounts.access import current_member, has_permission
from accounts.models import User
from accounts.queries import list_staff
from accounts.roles import STOCK_STAFF, is_allowed
from adminpanel.stock.pages import Incoming, StockLine, count_incoming, read_listed
from cassandra_db.process_copies import RecentValue
from inventory.entities import LOW, ListedItem
from inventory.queries import (
    MAX_LOW,
    collect_low_items,
    prefetch_low_items,
    prefetch_open_transfers,
)
from inventory.warehouses import find_warehouse_name
from mail.operations import queue_mail

# For each warehouse, the notice names at most this many SKUs, and counts at most this many.
_NAMED = 2
_COUNTED = 50
# To check fifty items takes a hundred statements, so a process does it this seldom.
_SECONDS = 30.0


@dataclass(frozen=True)
class LowStock:
    """A warehouse's low stock: the first `lines`, and their `count`. `has_more`: there are more lines than counted."""

    warehouse_id: str
    lines: tuple[StockLine, ...]
    count: int
    has_more: bool

    @property
    def warehouse(self) -> str:
        return find_warehouse_name(self.warehouse_id)

    @property
    def url(self) -> str:
        return _list_url(self.warehouse_id)


def list_low_stock(request: HttpRequest) -> list[LowStock]:
    """Return each warehouse's low stock, which may be half a minute old. Raises CassandraUnavailable.

    A part of a page gets none, nor does a role that may not see stock.
    """
    htmx = getattr(request, "htmx", None)
    is_whole = not htmx or htmx.history_restore_request
    is_for_them = has_permission(current_member(request), "adminpanel.stock")
    return low_stock.get() if is_whole and is_for_them else []


def _read_low_stock() -> list[LowStock]:
    """Return each warehouse's low stock, checked against the numbers of units. Raises CassandraUnavailable."""
    items = collect_low_items(prefetch_low_items(_COUNTED + 1))
    listed = Counter(each.warehouse_id for each in items)
    found: dict[str, list[StockLine]] = {}
    for line in _read_low(items, {}):
        found.setdefault(line.warehouse_id, []).append(line)
    return [
        LowStock(
            warehouse,
            tuple(lines[:_NAMED]),
            min(len(lines), _COUNTED),
            has_more=listed[warehouse] > _COUNTED,
        )
        for warehouse, lines in found.items()
    ]


low_stock = RecentValue(_read_low_stock, _SECONDS)


def queue_low_stock_mails(now: datetime) -> int:
    """Queue today's mail for each subscriber, and return their number. Raises CassandraUnavailable.

    Each subscriber gets one mail a day, however often the job calls this. After an error, the job calls it later.
    """
    readers = [each for each in list_staff() if _is_reader(each)]
    lines = _list_low_lines() if readers else []
    if not lines:
        return 0
    places = dict.fromkeys(each.warehouse_id for each in lines)
    context = {
        "lines": lines[:MAX_LOW],
        "count": len(lines),
        "headline": ngettext(
            "%(count)s SKU is low in stock", "%(count)s SKUs are low in stock", len(lines)
        )
        % {"count": len(lines)},
        "links": [
            (find_warehouse_name(each), f"{settings.PUBLIC_URL}{_list_url(each)}")
            for each in places
        ],
        "url": f"{settings.PUBLIC_URL}{reverse('adminpanel:stock')}?show={LOW}",
    }
    for reader in readers:
        event = f"low stock {localdate(now).isoformat()}"
        queue_mail(reader.pk, event, reader.email, "low_stock", context, now)
    return len(readers)


def _list_url(warehouse_id: str) -> str:
    return f"{reverse('adminpanel:stock')}?warehouse={warehouse_id}&show={LOW}"


def _is_reader(person: User) -> bool:
    is_here = person.is_active and not person.erasing_at
    return bool(person.low_stock_mail and is_here and is_allowed(person.role, STOCK_STAFF))


def _list_low_lines() -> list[StockLine]:
    transfers = prefetch_open_transfers()
    items = collect_low_items(prefetch_low_items(MAX_LOW))
    incoming = count_incoming(transfers.rows())
    return [
        line
        for start in range(0, len(items), _COUNTED)
        for line in _read_low(items[start : start + _COUNTED], incoming)
    ]


def _read_low(items: Sequence[ListedItem], incoming: Incoming) -> list[StockLine]:
    """Return the variants whose stock is really low, without repetitions. `items` may contain other or repeated variants."""
    low = {
        (line.warehouse_id, line.variant.variant_id): line
        for line in read_listed(items, incoming)
        if line.is_low
    }
    return list(low.values())
