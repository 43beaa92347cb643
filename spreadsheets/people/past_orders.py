"""Files of orders from a former shop: each is stored once, with its lines. No stock, payment or sale follows from it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.queries import email_key, find_user_by_email
from past_orders.entities import PastLine, PastOrder
from past_orders.operations import claim_past_orders, save_past_order
from past_orders.queries import get_past_order
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    lines_field,
    optional_email_field,
    read_forms,
)
from spreadsheets.typed_values import parse_amount, parse_moment, parse_whole_number

MAX_UNITS = 1_000_000
_NUMBER_TAKEN = _("Another order with this number is stored.")


class PastOrderForm(RowForm):
    """A line of a file of past orders: an item, and in the first line the order, too."""

    examples = {
        "number": "1001",
        "placed_at": "2024-11-30 18:20",
        "email": "ada@example.com",
        "name": "Ada Lovelace",
        "status": _("Delivered"),
        "total": "25.00",
        "item": _("Breakfast mug, olive"),
        "sku": "MUG-OLIVE",
        "units": "2",
        "price": "12.50",
    }
    number = CellField(
        str.upper,
        most=60,
        required=True,
        label=_("order number"),
        help_text=_(
            "On every line of the order. Values of the whole order are needed in its first line only."
        ),
    )
    placed_at = CellField(parse_moment, help_text=_("When the order was placed."))
    email = optional_email_field()
    name = line_field(_("The customer’s name."))
    address = lines_field(_("With line breaks, or separated by commas."), 500)
    status = line_field(_("In the former shop’s words."), 60)
    total = CellField(parse_amount, help_text=_("What the customer paid, with tax."))
    item = line_field(_("The item’s name, with its options."), 200)
    sku = line_field("", 64)
    units = CellField(lambda text: parse_whole_number(text, MAX_UNITS), empty=1)
    price = CellField(parse_amount, help_text=_("Of one unit, with tax."))

    def clean(self) -> dict[str, Any]:
        """Return the values. A price without an item is an error."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("price") is not None and not (cleaned.get("item") or cleaned.get("sku")):
            self.add_error("item", gettext("Enter the item’s name or SKU."))
        return cleaned


def _make_order(values: Sequence[Values]) -> PastOrder:
    first = values[0]
    copied = ("number", "placed_at", "name", "address", "status", "total")
    return PastOrder(
        **{name: first[name] for name in copied},
        email=email_key(first["email"]),
        lines=tuple(
            PastLine(each["item"] or each["sku"], each["sku"], each["units"], each["price"])
            for each in values
            if each["item"] or each["sku"]
        ),
    )


def decide_past_order(row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a row does. Raises CassandraUnavailable."""
    missing = [
        Fault(row.line, name, gettext("An order’s first line needs this."))
        for name in ("placed_at", "email", "total")
        if values[0][name] in (None, "")
    ]
    if missing:
        return missing
    stored = get_past_order(values[0]["number"])
    if stored is None:
        return "new", values[0]["name"]
    if stored != _make_order(values):
        return [Fault(row.line, "number", str(_NUMBER_TAKEN))]
    return "unchanged", stored.name


def apply_past_order(_task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Store a past order, once. Raises CellRefused, CassandraUnavailable."""
    order = _make_order(read_forms(row, PastOrderForm))
    if not save_past_order(order):
        return "refused", str(_NUMBER_TAKEN)
    member = find_user_by_email(order.email)
    if member and member.verified_at:
        claim_past_orders(member.user_id, order.email)
    return "done", ""
