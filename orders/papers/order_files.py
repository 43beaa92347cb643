"""The kinds of files of orders, papers for the warehouse and CSV tables, and the table of customers.

They contain addresses, so they are stored encrypted.

The worker writes lines of text for some orders at a time. A finished table consists of these lines; a paper is drawn from the
lines.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy
from moneyed import Money

from accounts.roles import MONEY_STAFF, ORDER_STAFF, is_allowed
from books.queries import iterate_invoiced_orders
from inventory.queries import get_places
from orders.board import OrderFilter, iterate_orders
from orders.lifecycle import parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.states import CLOSED, CONFIRMED
from orders.papers.customer_rows import (
    COLUMNS,
    find_customer_ids,
    list_customer_lines,
    read_customers,
)
from orders.queries import items_from_rows, order_from_rows, prefetch_items, prefetch_order
from web.types import StrOrPromise

# A paper is drawn in memory; this many orders take some megabytes and half a minute. Tables have no such bound.
MAX_PRINTED_ORDERS = 1000
_AT_ONCE = 25
_PIECE_LENGTH = 100_000
PDF, CSV, ZIP = "pdf", "csv", "zip"

Lines = Iterator[list[str]]
OrderItems = Iterable[tuple[Order, tuple[Item, ...]]]


def _read_orders(order_ids: Sequence[UUID]) -> OrderItems:
    reading = [(prefetch_order(each), prefetch_items(each)) for each in order_ids]
    for order_rows, item_rows in reading:
        if order := order_from_rows(order_rows.rows()):
            yield order, items_from_rows(order, item_rows.rows())


def _find_order_ids(texts: Mapping[str, str]) -> Iterator[UUID]:
    return (order.order_id for order in iterate_orders(OrderFilter.from_dict(texts)))


@dataclass(frozen=True)
class InvoicesOfMonth:
    """The orders that have their invoices in a month. `month` is its first day."""

    month: date

    def to_dict(self) -> dict[str, str]:
        """Return the month as text, for JSON."""
        return {"month": str(self.month)}


def _find_invoiced_ids(texts: Mapping[str, str]) -> Iterator[UUID]:
    if "month" in texts:
        return iterate_invoiced_orders(date.fromisoformat(texts["month"]))
    return _find_order_ids(texts)


@dataclass(frozen=True)
class OrderFile:
    """A kind of file of orders. `draw` makes a paper of all lines; without `draw`, the file is a table of them.

    `roles` may make and fetch it. `is_personal` says whether it contains names and addresses. `list_lines` gets what `read`
    returns for some ids; `find_ids` returns the ids that a filter finds, given as texts. A file of customers always
    asks for a code.
    """

    name: str
    label: StrOrPromise
    help: StrOrPromise
    format: str
    list_lines: Callable[[Any], Lines]
    head: list[str]
    draw: Callable[[Lines, datetime], bytes] | None = None
    orders_a_page: int = 0  # 0 if unknown
    roles: tuple[str, ...] = ORDER_STAFF
    is_personal: bool = True
    is_of_customers: bool = False
    read: Callable[[Sequence[UUID]], Iterable[Any]] = _read_orders
    find_ids: Callable[[Mapping[str, str]], Iterator[UUID]] = _find_order_ids

    def iterate_lines(self, ids: Sequence[UUID]) -> Lines:
        """Yield the file's lines for these orders or customers, without missing ones. Raises CassandraUnavailable."""
        for first in range(0, len(ids), _AT_ONCE):
            yield from self.list_lines(self.read(ids[first : first + _AT_ONCE]))


def _pick_lines(found: OrderItems) -> Lines:
    """Yield a line for the units to pack; an order without units to pack gets a line with only its number."""
    wanted = []
    for order, items in found:
        by_line = {each.line_number: each for each in items}
        to_pack = order.units_to_pack if order.state == CONFIRMED else {}
        picks = [
            (order, by_line[line], warehouse, units)
            for warehouse, lines in to_pack.items()
            for line, units in lines.items()
            if line in by_line
        ]
        if picks:
            wanted += picks
        else:
            yield [order.number, "", "", "", "", "0"]
    places = get_places(
        {(item.variant_id, warehouse) for _order, item, warehouse, _units in wanted}
    )
    for order, item, warehouse, units in wanted:
        place = places[item.variant_id, warehouse]
        yield [order.number, item.sku, item.label, warehouse, place, str(units)]


def _list_boxes(order: Order, items: Sequence[Item]) -> dict[str, dict[int, int]]:
    """Return the units, by warehouse and line, to pack or in packed parcels. If there are none, return the sent units."""
    if order.state not in (CONFIRMED, CLOSED):
        return {}
    waiting = [each for each in order.parcels() if each.state == parcels.PACKED]
    units: dict[str, dict[int, int]] = {}
    known = {each.line_number for each in items}

    def add(warehouse: str, lines: dict[int, int]) -> None:
        box = units.setdefault(warehouse, {})
        for line, count in lines.items():
            if line in known:
                box[line] = box.get(line, 0) + count

    if order.state == CONFIRMED:
        for warehouse, lines in order.units_to_pack.items():
            add(warehouse, lines)
    for parcel in waiting or ([] if units else [each for each in order.parcels() if each.is_sent]):
        add(parcel.warehouse, parcel.lines)
    return units


def _slip_lines(found: OrderItems) -> Lines:
    for order, items in found:
        for warehouse, units in _list_boxes(order, items).items():
            for item in items:
                if count := units.get(item.line_number):
                    yield [
                        order.number,
                        warehouse,
                        str(date_format(timezone.localtime(order.placed_at), "j F Y")),
                        order.method.label,
                        order.customer_notes,
                        _address(order),
                        item.sku,
                        item.label,
                        str(count),
                    ]


def _label_lines(found: OrderItems) -> Lines:
    for order, _items in found:
        if order.state in (CONFIRMED, CLOSED) and not order.is_erased:
            yield [order.number, order.method.label, _address(order)]


def _invoice_lines(found: OrderItems) -> Lines:
    """Yield each order's invoice: the file's name, and its content in Base64. An order without an invoice is left out."""
    from orders.papers.invoice import render_invoice

    for order, items in found:
        if order.has_invoice:
            pdf = render_invoice(order, order.current_lines(items) or items)
            yield [f"{order.number}.pdf", *_cut(b64encode(pdf).decode())]


def _cut(text: str) -> Iterator[str]:
    """Yield the pieces of a text that is longer than a cell may be."""
    for first in range(0, len(text), _PIECE_LENGTH):
        yield text[first : first + _PIECE_LENGTH]


def _everything_lines(found: OrderItems) -> Lines:
    """Yield the lines of all papers, each with its paper's name in front."""
    orders = list(found)
    for name, list_lines in _PAPERS.items():
        for line in list_lines(orders):
            yield [name, *line]


_PAPERS = {"picking": _pick_lines, "slips": _slip_lines, "labels": _label_lines}


def _address(order: Order) -> str:
    return "\n".join(order.delivery_address.lines)


# The drawing code with its typefaces takes long to load, so only these functions import it.
def _draw_picking_list(lines: Lines, now: datetime) -> bytes:
    from orders.papers.staff_papers import draw_picking_list, parse_pick_line

    return draw_picking_list(map(parse_pick_line, lines), now)


def _draw_packing_slips(lines: Lines, now: datetime) -> bytes:
    from orders.papers.staff_papers import draw_packing_slips, parse_slip_line

    return draw_packing_slips(map(parse_slip_line, lines), now)


def _draw_address_labels(lines: Lines, now: datetime) -> bytes:
    from orders.papers.staff_papers import LabelLine, draw_address_labels

    return draw_address_labels((LabelLine(*cells) for cells in lines), now)


def _draw_everything(lines: Lines, now: datetime) -> bytes:
    from orders.papers.staff_papers import (
        LabelLine,
        draw_everything,
        parse_pick_line,
        parse_slip_line,
    )

    found: dict[str, list[list[str]]] = {name: [] for name in _PAPERS}
    for name, *cells in lines:
        found[name].append(cells)
    return draw_everything(
        map(parse_pick_line, found["picking"]),
        map(parse_slip_line, found["slips"]),
        (LabelLine(*cells) for cells in found["labels"]),
        now,
    )


def _amount(money: Money) -> str:
    return f"{money.amount:.2f}"


def _list_units(order: Order, items: Sequence[Item]) -> str:
    return ", ".join(f"{each.quantity} × {each.sku}" for each in order.current_lines(items))


def _placed(order: Order) -> str:
    return order.placed_at.isoformat(timespec="seconds")


# The columns of each table, in this order. Sums have no currency, times are UTC.
_ORDER_COLUMNS: dict[str, Callable[[Order, Sequence[Item]], str]] = {
    "number": lambda order, items: order.number,
    "placed": lambda order, items: _placed(order),
    "status": lambda order, items: order.state,
    "payment": lambda order, items: order.payment,
    "payment_method": lambda order, items: order.payment_method,
    "fulfilment": lambda order, items: order.fulfilment,
    "currency": lambda order, items: order.total.currency.code,
    "subtotal": lambda order, items: _amount(order.subtotal),
    "delivery": lambda order, items: _amount(order.delivery),
    "discount": lambda order, items: _amount(order.discount),
    "tax": lambda order, items: _amount(order.tax),
    "total": lambda order, items: _amount(order.total),
    "paid": lambda order, items: _amount(order.captured),
    "refunded": lambda order, items: _amount(order.refunded),
    "items": _list_units,
    "country": lambda order, items: order.country,
    "email": lambda order, items: order.email,
    "name": lambda order, items: order.name,
    "delivery_method": lambda order, items: order.method.name,
    "delivery_address": lambda order, items: _address(order),
    "billing_address": lambda order, items: "\n".join(order.billing_address.lines),
    "voucher": lambda order, items: order.voucher,
    "account": lambda order, items: "yes" if order.user_id else "no",
}
# The columns for staff who pack and send orders. They contain no amounts of money.
_DELIVERY_COLUMNS: dict[str, Callable[[Order, Sequence[Item]], str]] = {
    "number": lambda order, items: order.number,
    "placed": lambda order, items: _placed(order),
    "status": lambda order, items: order.state,
    "fulfilment": lambda order, items: order.fulfilment,
    "items": _list_units,
    "country": lambda order, items: order.country,
    "name": lambda order, items: order.delivery_address.name,
    "delivery_method": lambda order, items: order.method.name,
    "delivery_address": lambda order, items: _address(order),
    "delivery_notes": lambda order, items: order.customer_notes,
}
# The columns of a table with a row for each present line of an order.
_ITEM_COLUMNS: dict[str, Callable[[Order, Item], str]] = {
    "number": lambda order, item: order.number,
    "placed": lambda order, item: _placed(order),
    "status": lambda order, item: order.state,
    "country": lambda order, item: order.country,
    "sku": lambda order, item: item.sku,
    "product": lambda order, item: item.name,
    "options": lambda order, item: item.options_label,
    "units": lambda order, item: str(item.quantity),
    "currency": lambda order, item: order.total.currency.code,
    "unit_price": lambda order, item: _amount(item.unit_price),
    "line_total": lambda order, item: _amount(item.line_total),
    "discount": lambda order, item: _amount(item.discount),
}


def _order_rows(found: OrderItems) -> Lines:
    for order, items in found:
        yield [value(order, items) for value in _ORDER_COLUMNS.values()]


def _delivery_rows(found: OrderItems) -> Lines:
    for order, items in found:
        yield [value(order, items) for value in _DELIVERY_COLUMNS.values()]


def _item_rows(found: OrderItems) -> Lines:
    for order, items in found:
        for item in order.current_lines(items):
            yield [value(order, item) for value in _ITEM_COLUMNS.values()]


ORDER_FILES = {
    each.name: each
    for each in (
        OrderFile(
            "everything",
            gettext_lazy("Everything"),
            gettext_lazy("Picking list, packing slips and address labels in one file."),
            PDF,
            _everything_lines,
            [],
            _draw_everything,
            orders_a_page=1,
        ),
        OrderFile(
            "picking",
            gettext_lazy("Picking list"),
            gettext_lazy("What is to be taken from which place, and for which orders."),
            PDF,
            _pick_lines,
            [],
            _draw_picking_list,
            is_personal=False,
        ),
        OrderFile(
            "slips",
            gettext_lazy("Packing slips"),
            gettext_lazy("A page for each parcel, without prices."),
            PDF,
            _slip_lines,
            [],
            _draw_packing_slips,
            orders_a_page=1,
        ),
        OrderFile(
            "labels",
            gettext_lazy("Address labels"),
            gettext_lazy("On sheets of eight, 105 by 74 mm."),
            PDF,
            _label_lines,
            [],
            _draw_address_labels,
            orders_a_page=8,
        ),
        OrderFile(
            "orders",
            gettext_lazy("Orders as CSV"),
            gettext_lazy("A line for each order, with its sums and addresses."),
            CSV,
            _order_rows,
            list(_ORDER_COLUMNS),
            roles=MONEY_STAFF,
        ),
        OrderFile(
            "deliveries",
            gettext_lazy("Deliveries as CSV"),
            gettext_lazy("A line for each order, with what goes where."),
            CSV,
            _delivery_rows,
            list(_DELIVERY_COLUMNS),
        ),
        OrderFile(
            "order-lines",
            gettext_lazy("Lines as CSV"),
            gettext_lazy("A line for each line of an order, with its SKU and price."),
            CSV,
            _item_rows,
            list(_ITEM_COLUMNS),
            is_personal=False,
        ),
        OrderFile(
            "invoices",
            gettext_lazy("Invoices as ZIP"),
            gettext_lazy("An invoice for each order, as PDF."),
            ZIP,
            _invoice_lines,
            [],
            roles=MONEY_STAFF,
            find_ids=_find_invoiced_ids,
        ),
        OrderFile(
            "customers",
            gettext_lazy("Customers as CSV"),
            gettext_lazy("A line for each customer, with their sums."),
            CSV,
            list_customer_lines,
            list(COLUMNS),
            roles=("support",),
            is_of_customers=True,
            read=read_customers,
            find_ids=find_customer_ids,
        ),
    )
}


def list_order_files(role: str) -> dict[str, OrderFile]:
    """Return the kinds of files that a role may make and fetch, keyed by the kind's name."""
    return {name: kind for name, kind in ORDER_FILES.items() if is_allowed(role, kind.roles)}
