"""Which orders a submit is about: those that are ticked, or all that the board's filter finds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from uuid import UUID

from django.http import QueryDict

from orders.board import OrderFilter, iterate_orders

MAX_SELECTED_ORDERS = 10_000
TICKED = "order"
_FILTER_FIELDS = ("status", "country", "payment", "first_day", "last_day")


def list_selected_orders(data: QueryDict, now: datetime) -> tuple[list[UUID], int]:
    """Return the ids of the selected orders, MAX_SELECTED_ORDERS at most, and how many there are in all. Raises CassandraUnavailable."""
    if not data.get("all"):
        ids = list(_ticked_ids(data))
        return ids[:MAX_SELECTED_ORDERS], len(ids)
    found = iterate_orders(parse_order_filter(data), now)
    ids = [row.order_id for row in islice(found, MAX_SELECTED_ORDERS)]
    return ids, len(ids) + sum(1 for _row in found)


def list_selection_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the fields that say which orders are selected, for hidden fields and addresses."""
    if data.get("all"):
        return [("all", "1"), *parse_order_filter(data).to_dict().items()]
    return [(TICKED, str(each)) for each in _ticked_ids(data)]


def parse_order_filter(data: QueryDict) -> OrderFilter:
    """Return the board's filter; what is not understood of it filters nothing."""
    sent = {name: data.get(name, "") for name in _FILTER_FIELDS}
    for name in ("first_day", "last_day"):
        try:
            OrderFilter.from_dict({name: sent[name]})
        except ValueError:
            sent[name] = ""
    return OrderFilter.from_dict(sent)


def _ticked_ids(data: QueryDict) -> Iterator[UUID]:
    for text in dict.fromkeys(data.getlist(TICKED)):
        try:
            yield UUID(text)
        except ValueError:
            continue
