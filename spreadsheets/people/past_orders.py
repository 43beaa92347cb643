"""Files of orders from a former shop: each is stored once, with its lines. No stock, payment or sale follows from it."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.queries import email_key, find_user_by_email
from cassandra_db import PendingResult
from past_orders.entities import PastLine, PastOrder, derive_order_id, past_order_from_row
from past_orders.operations import (
    claim_past_order,
    has_same_content,
    is_mailbox_full,
    save_past_order,
)
from past_orders.queries import get_past_order, prefetch_past_order
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    lines_field,
    optional_email_field,
    plan_forms,
    read_forms,
)
from spreadsheets.typed_values import parse_amount, parse_moment, parse_whole_number

MAX_UNITS = 1_000_000


class PastOrderForm(RowForm):
    """A line of a file of past orders: an item, and in the first line the order, too."""

    examples = {
        "number": "1001",
        "placed_at": "2024-11-30 18:20",
        "email": "ada@example.com",
        "name": "Ada Lovelace",
        "status": gettext_lazy("Delivered"),
        "total": "25.00",
        "item": gettext_lazy("Breakfast mug, olive"),
        "sku": "MUG-OLIVE",
        "units": "2",
        "price": "12.50",
    }
    shop = line_field(gettext_lazy("The former shop’s name, if there were several."))
    number = line_field(
        gettext_lazy(
            "The order’s number, on every line of the order. Values of the whole order are needed in its first line only."
        ),
        60,
        label=gettext_lazy("order number"),
        required=True,
    )
    placed_at = CellField(
        parse_moment, most=40, help_text=gettext_lazy("When the order was placed.")
    )
    email = optional_email_field()
    name = line_field(gettext_lazy("The customer’s name."))
    address = lines_field(gettext_lazy("With line breaks, or separated by commas."), 500)
    status = line_field(gettext_lazy("In the former shop’s words."), 60)
    total = CellField(
        parse_amount, most=20, help_text=gettext_lazy("What the customer paid, with tax.")
    )
    item = line_field(gettext_lazy("The item’s name, with its options."), 200)
    sku = line_field("", 64)
    units = CellField(lambda text: parse_whole_number(text, MAX_UNITS), empty=1, most=20)
    price = CellField(parse_amount, most=20, help_text=gettext_lazy("Of one unit, with tax."))


def past_order_key(cells: dict[str, str]) -> str:
    """Return the key by which neighbouring lines belong to one order."""
    number = cells["number"].strip()
    return number and f"{cells.get('shop', '').strip()} {number}".strip()


def _make_order(values: Sequence[Values]) -> PastOrder:
    first = values[0]
    lines = tuple(
        PastLine(each["item"] or each["sku"], each["sku"], each["units"], each["price"])
        for each in values
        if each["item"] or each["sku"]
    )
    copied = ("shop", "number", "placed_at", "name", "status", "total")
    return PastOrder(
        **{name: first[name] for name in copied},
        order_id=derive_order_id(first["shop"], first["number"]),
        email=email_key(first["email"]),
        address=first["address"].strip(),
        lines=lines,
    )


def plan_past_orders(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of past orders. Raises CassandraUnavailable."""

    def start(values: Sequence[Values]) -> PendingResult:
        return prefetch_past_order(derive_order_id(values[0]["shop"], values[0]["number"]))

    return plan_forms(rows, PastOrderForm, start, _decide)


def _decide(row: FileRow, values: Sequence[Values], found: PendingResult) -> Decision:
    missing = [
        Fault(row.line, name, _("An order’s first line needs this."))
        for name in ("placed_at", "email", "total")
        if values[0][name] in (None, "")
    ]
    if missing:
        return missing
    stored = past_order_from_row(found.one())
    if stored is None:
        return "new", values[0]["name"]
    if not has_same_content(stored, _make_order(values)):
        return [Fault(row.line, "number", _("Another order with this number is stored."))]
    return "unchanged", stored.name


def apply_past_order(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Store a past order, once. Return the result, and the reason for it.

    Raises CellRefused, and CassandraUnavailable; the caller then repeats the call.
    """
    order = _make_order(read_forms(row, PastOrderForm))
    if get_past_order(order.order_id) is None and is_mailbox_full(order.email):
        return "refused", _("This email address has too many past orders.")
    if not save_past_order(order):
        return "refused", _("Another order with this number is stored.")
    member = find_user_by_email(order.email)
    if member and member.verified_at:
        claim_past_order(order.order_id, member.user_id, order.email)
    return "done", ""
