"""The pages of stock: the rows of a warehouse, the page of a variant, and the transfers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.queries import get_users
from adminpanel.parameters import parse_id
from adminpanel.stock.booking import StockForm
from adminpanel.stock.forms import StockSelection
from cassandra_db import PendingResult, Row, run_side_by_side
from catalogue.entities import Product, Variant
from catalogue.queries import (
    get_products,
    leave_out,
    prefetch_product_at_quorum,
    prefetch_variant_by_sku,
    product_from_rows,
)
from inventory import queries
from inventory.entities import (
    ALL,
    BACKORDER_WAREHOUSE,
    LOW,
    OUT,
    ListedItem,
    StockNumbers,
    find_stock_lists,
)
from inventory.queries import prefetch_stock_numbers, stock_numbers_from_row
from inventory.warehouses import find_warehouse_name, list_stock_locations, list_warehouses

# The numbers of units that are on their way, keyed by variant id and destination warehouse.
Incoming = Mapping[tuple[UUID, str], int]
# The submitted forms, keyed by variant id and warehouse.
SubmittedForms = Mapping[tuple[UUID, str], StockForm]
StockKey = tuple[Product, Variant, str]


@dataclass(frozen=True)
class StockLine:
    """A variant's stock in one warehouse."""

    product: Product
    variant: Variant
    warehouse_id: str
    numbers: StockNumbers
    threshold: int | None
    incoming: int
    form: StockForm
    place: str = ""

    @property
    def warehouse(self) -> str:
        return find_warehouse_name(self.warehouse_id)

    @property
    def lists(self) -> frozenset[str]:
        if self.threshold is None:
            return frozenset([ALL])  # the warehouse never had this variant
        is_sold = self.variant.sold and self.product.status == "active"
        return find_stock_lists(self.numbers.available, self.threshold or 0, is_sold=is_sold)

    @property
    def is_low(self) -> bool:
        return LOW in self.lists

    @property
    def is_out(self) -> bool:
        return OUT in self.lists

    @property
    def row_id(self) -> str:
        return f"stock-{self.variant.variant_id}-{self.warehouse_id}"


def count_incoming(rows: Sequence[Row]) -> Incoming:
    """Return the units in transit, keyed by variant and destination, from the rows of open transfers."""
    incoming: dict[tuple[UUID, str], int] = {}
    for row in rows:
        key = (row.variant_id, row.destination)
        incoming[key] = incoming.get(key, 0) + row.units
    return incoming


def get_stock_lines(
    keys: Sequence[StockKey], submitted: SubmittedForms, transfers: PendingResult | None = None
) -> list[StockLine]:
    """Return variants' stock in warehouses, including the units in transit by `transfers`. Raises CassandraUnavailable.

    `submitted` are the submitted forms, keyed by (variant id, warehouse).
    """
    reading = [prefetch_stock_numbers(variant.variant_id, each) for _product, variant, each in keys]
    incoming = count_incoming(transfers.rows()) if transfers else {}
    return [
        _make_line(key, pending.one(), incoming, submitted)
        for key, pending in zip(keys, reading, strict=True)
    ]


def _make_line(
    key: StockKey, row: Row | None, incoming: Incoming, submitted: SubmittedForms
) -> StockLine:
    product, variant, warehouse_id = key
    form = submitted.get((variant.variant_id, warehouse_id))
    numbers = stock_numbers_from_row(row)
    return StockLine(
        product,
        variant,
        warehouse_id,
        numbers,
        row.threshold if row else None,
        incoming.get((variant.variant_id, warehouse_id), 0),
        form or StockForm(variant.variant_id, warehouse_id, numbers),
        (row.place or "") if row else "",
    )


def get_stock_page(selection: StockSelection) -> tuple[list[StockLine], str]:
    """Return a page of a warehouse's stock, and the next page's token or "". Raises InvalidPageToken, CassandraUnavailable.

    A whole SKU is found even if the warehouse never had it. Variants whose numbers no longer fit the list are left out.
    """
    listed = queries.prefetch_listed_items(
        selection.warehouse, selection.show, selection.q, selection.after
    )
    transfers = queries.prefetch_open_transfers()
    is_first_of_all = selection.show == ALL and selection.q and not selection.after
    typed = prefetch_variant_by_sku(selection.q) if is_first_of_all else None
    items, following = listed.collect()
    row = typed.one() if typed else None
    if row and all(each.variant_id != row.variant_id for each in items):
        items = [
            ListedItem(selection.warehouse, selection.q, row.product_id, row.variant_id),
            *items,
        ]
    lines = read_listed(items, count_incoming(transfers.rows()))
    return [each for each in lines if selection.show in each.lists], following


def read_listed(items: Sequence[ListedItem], incoming: Incoming) -> list[StockLine]:
    """Return the variants in a stock list, with their products and numbers of units. Raises CassandraUnavailable."""
    reading = [(each, prefetch_stock_numbers(each.variant_id, each.warehouse_id)) for each in items]
    products = get_products((each.product_id for each in items), leave_out)
    lines = []
    for each, pending in reading:
        product = products.get(each.product_id)
        variant = product.get_variant(each.variant_id) if product else None
        if product and variant:
            key = (product, variant, each.warehouse_id)
            lines.append(_make_line(key, pending.one(), incoming, {}))
    return lines


HISTORY_LABELS = {
    "received": gettext_lazy("Received"),
    "adjusted": gettext_lazy("Counted"),
    "transferred": gettext_lazy("Transfer"),
    "returned": gettext_lazy("Returned by a customer"),
}


@dataclass(frozen=True)
class StockHistoryLine:
    """An entry of a variant's stock history, in words."""

    row: Row
    who: str

    @property
    def what(self) -> str:
        if self.row.warehouse_id == BACKORDER_WAREHOUSE:
            return _("Backorder limit")
        return str(HISTORY_LABELS[self.row.kind])

    @property
    def where(self) -> str:
        is_ahead = self.row.warehouse_id == BACKORDER_WAREHOUSE
        return "" if is_ahead else find_warehouse_name(self.row.warehouse_id)

    @property
    def units(self) -> str:
        return f"{self.row.units:+,d}"


@dataclass(frozen=True)
class StockTransferLine:
    """An open transfer between warehouses, in words. `transfer` is its stored row."""

    transfer: Row
    product: Product
    variant: Variant
    who: str

    @property
    def source(self) -> str:
        return find_warehouse_name(self.transfer.source)

    @property
    def destination(self) -> str:
        return find_warehouse_name(self.transfer.destination)


@dataclass(frozen=True)
class StockItemPage:
    """The contents of the page of a variant's stock."""

    product: Product
    variant: Variant
    lines: tuple[StockLine, ...]
    ahead: StockNumbers
    transfers: tuple[StockTransferLine, ...]
    history: tuple[StockHistoryLine, ...]
    next: str


def get_stock_item_page(product_id: UUID, variant_id: UUID, after: str) -> StockItemPage | None:
    """Return a variant's stock page, or None if there is no such variant. Raises InvalidPageToken, CassandraUnavailable."""
    reading = prefetch_product_at_quorum(product_id)
    opened = queries.prefetch_open_transfers()
    numbers = {each: prefetch_stock_numbers(variant_id, each) for each in list_stock_locations()}
    rows, following = queries.list_stock_history(variant_id, after)
    product = product_from_rows(reading.rows())
    variant = product.get_variant(variant_id) if product else None
    if product is None or variant is None:
        return None
    open_rows = opened.rows()
    incoming = count_incoming(open_rows)
    lines = [
        _make_line((product, variant, each), numbers[each].one(), incoming, {})
        for each in list_warehouses()
    ]
    transfers = sorted(
        (row for row in open_rows if row.variant_id == variant_id), key=lambda row: row.started_at
    )
    names = _find_names([row.actor for row in (*rows, *transfers)])
    return StockItemPage(
        product,
        variant,
        tuple(lines),
        stock_numbers_from_row(numbers[BACKORDER_WAREHOUSE].one()),
        tuple(
            StockTransferLine(row, product, variant, names.get(row.actor or "", ""))
            for row in transfers
        ),
        tuple(StockHistoryLine(row, names.get(row.actor or "", "")) for row in rows),
        following,
    )


# The page lists at most this many open transfers.
TRANSFERS_SHOWN = 50


def list_transfer_lines() -> tuple[list[StockTransferLine], int]:
    """Return the open transfers, the oldest first, and the number of transfers. Raises CassandraUnavailable."""
    rows = sorted(queries.prefetch_open_transfers().rows(), key=lambda row: row.started_at)
    listed = rows[:TRANSFERS_SHOWN]
    products, names = run_side_by_side(
        partial(get_products, [row.product_id for row in listed]),
        partial(_find_names, [row.actor for row in listed]),
    )
    lines = []
    for row in listed:
        product = products.get(row.product_id)
        variant = product.get_variant(row.variant_id) if product else None
        if product and variant:
            who = names.get(row.actor or "", "")
            lines.append(StockTransferLine(row, product, variant, who))
    return lines, len(rows)


def _find_names(actors: Sequence[str | None]) -> dict[str, str]:
    """Return names, keyed by the actors in the ledger. An actor that is no user id is already a name."""
    ids, names = {}, {}
    for actor in set(filter(None, actors)):
        if user_id := parse_id(actor):
            ids[actor] = user_id
        else:
            names[actor] = actor
    people = get_users(ids.values())
    return names | {
        actor: str(people[user_id]) if user_id in people else _("Deleted account")
        for actor, user_id in ids.items()
    }
